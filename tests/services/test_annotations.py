"""What users write beside transactions stays, whatever a bank sends; and a change is told once."""

import json
from dataclasses import replace
from decimal import Decimal

import psycopg
import pytest
from replicas import ReplicatedUser, add_user, make_booking

from kontor.domain.annotations import Annotation
from kontor.domain.errors import InvalidError
from kontor.domain.parts import Part
from kontor.domain.searches import Window
from kontor.services.compute import Compute
from kontor.services.transactions import Correction
from kontor.storage import tag_views, transactions
from kontor.storage.database import Database
from kontor.wire.transactions import FIELDS
from stored_data import TODAY

GIRO = 2
HALVES = Annotation(
    parts=(
        Part(Decimal("-5.55"), "LIVING_GROCERIES", {"systemName": "LIVING_GROCERIES"}, "Brot"),
        Part(Decimal("-5.45"), "HOUSING_OTHER", {"systemName": "HOUSING_OTHER"}),
    )
)
TRIP = Annotation("Reise nach Rom", ("Urlaub", "Steuer"))


@pytest.fixture
def owner(own):
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection


@pytest.fixture
async def user(own, owner):
    database = Database(own.database_url, 4, "test annotations")
    await database.open()
    yield ReplicatedUser(database, add_user(owner), Compute())
    await database.close()


def book(*numbers, is_pending=False, is_reworded=False):
    return [make_booking(number, is_pending=is_pending, is_reworded=is_reworded, channel="XS2A") for number in numbers]


def correct_to(category, **options):
    return Correction(category, {"systemName": category}, **options)


async def list_rows(user):
    category = (("category", "category_confidence"),)
    async with user.database.connect(user.user_id) as connection:
        rows, _ = await tag_views.list_tag_rows(
            connection, user.user_id, user.name("giro"), Window(limit=100), FIELDS, category
        )
    return [json.loads(row[0]) | {"category": row[2]} for row in rows]


async def read_changes(user, since):
    return await user.deltas.read(user.principal, since, 100, user.readers[GIRO].view)


async def test_note_and_keywords_survive_booking_rewording_and_another_fetch(user):
    await user.refresh("giro", book(1, is_pending=True), is_file=False)
    await user.annotate(0, TRIP)
    [before] = await list_rows(user)
    for fetched in (book(1), book(1, is_reworded=True), book(1, is_reworded=True), book(1, 2)):
        await user.refresh("giro", fetched, is_file=False)
    after = next(row for row in await list_rows(user) if row["id"] == before["id"])
    assert "vorgemerkt" in before
    assert "vorgemerkt" not in after
    assert (after["notiz"], after["schlagworte"]) == ("Reise nach Rom", ["Urlaub", "Steuer"])


async def test_setting_a_note_is_a_change_and_setting_the_same_again_is_none(user):
    await user.refresh("giro", book(1, 2), is_file=False)
    cursor = (await read_changes(user, None)).cursor
    await user.annotate(0, TRIP)
    told = await read_changes(user, cursor)
    assert [json.loads(row[0])["notiz"] for _, row in told.changed] == ["Reise nach Rom"]
    await user.annotate(0, TRIP)
    again = await read_changes(user, told.cursor)
    assert (again.new, again.changed, again.removed) == ([], [], [])
    await user.annotate(0, Annotation(None, ()))
    [(_, row)] = (await read_changes(user, again.cursor)).changed
    assert not {"notiz", "schlagworte"} & set(json.loads(row[0]))


async def test_a_refused_category_leaves_the_note_unwritten_and_an_accepted_one_takes_it_along(user):
    await user.refresh("giro", book(1), is_file=False)
    with pytest.raises(InvalidError):
        await user.annotate(0, TRIP, correct_to("INCOME_SALARY"))
    [row] = await list_rows(user)
    assert "notiz" not in row
    await user.annotate(0, TRIP, correct_to("HOUSING_RENT"))
    [row] = await list_rows(user)
    assert (row["notiz"], row["category"]) == ("Reise nach Rom", "HOUSING_RENT")


async def test_a_note_is_for_one_transaction_although_its_category_is_for_all_of_the_counterparty(user):
    await user.refresh("giro", book(0, 3, 6), is_file=False)
    await user.annotate(0, TRIP, correct_to("HOUSING_RENT", changes_existing=True))
    rows = await list_rows(user)
    assert [row["category"] for row in rows] == ["HOUSING_RENT"] * 3
    assert sum("notiz" in row for row in rows) == 1


async def change_row(user, **facts):
    """As a merge does that has found the booking again."""
    async with user.database.transaction(user.user_id) as connection:
        [stored] = await transactions.load_transactions(connection, user.user_id, user.name("giro"), None)
        changed = replace(stored, transaction=replace(stored.transaction, **facts))
        await transactions.update_transactions(connection, user.user_id, user.name("giro"), [changed], TODAY)


async def test_parts_survive_other_words_and_go_with_another_amount(user):
    await user.refresh("giro", book(1), is_file=False)
    await user.annotate(0, TRIP)
    await user.annotate(0, HALVES)
    await change_row(user, purpose="andere Worte", is_pending=True)
    [row] = await list_rows(user)
    assert [(part["betrag"], part.get("notiz")) for part in row["teile"]] == [(-5.55, "Brot"), (-5.45, None)]
    cursor = (await read_changes(user, None)).cursor
    await change_row(user, amount=Decimal("-11.01"))
    [row] = await list_rows(user)
    assert "teile" not in row
    assert (row["betrag"], row["notiz"]) == (-11.01, "Reise nach Rom")
    [(_, told)] = (await read_changes(user, cursor)).changed
    assert "teile" not in json.loads(told[0])


async def test_splitting_is_a_change_and_splitting_the_same_way_again_is_none(user):
    await user.refresh("giro", book(1), is_file=False)
    cursor = (await read_changes(user, None)).cursor
    await user.annotate(0, HALVES)
    told = await read_changes(user, cursor)
    assert len(told.changed) == 1
    await user.annotate(0, HALVES)
    assert (await read_changes(user, told.cursor)).changed == []
