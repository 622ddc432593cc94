"""The stored JSON object of a transaction is never an old one, whatever has changed the row and whoever did."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest
from hypothesis import Phase, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from replicas import PLACES, Stage, make_booking

import given_clusters
from kontor.domain.annotations import UNCHANGED, Annotation
from kontor.domain.parts import Part
from kontor.domain.searches import CustomerFilters, Window
from kontor.domain.transaction_edits import EditChange, Selection
from kontor.domain.transactions import Transaction
from kontor.services.transactions import PushedTransaction, Transactions
from kontor.storage import annotations, transactions
from kontor.storage.data_versions import lock_data
from kontor.storage.documents import STALE_ROWS, fill_documents, store_documents
from kontor.storage.json_rows import current_condition, fresh_expression
from kontor.wire.transactions import FIELDS
from many_examples import count_examples
from processes import beside
from stored_data import TODAY

LOOK = (
    f"select {current_condition(FIELDS).as_string()}, document, {fresh_expression(FIELDS).as_string()}, id"
    " from transactions where user_id = %s order by product_id, booked_on desc, ordinal desc"
)
# As the program wrote that did not know of documents.
FORMER_UPDATE = """
    update transactions set purpose = purpose || '!', changed_version = (
        select version + 1 from data_versions where user_id = %(user)s) where user_id = %(user)s
"""
FORMER_RAISE = "update data_versions set version = version + 1, followed_version = version + 1 where user_id = %(user)s"


@pytest.fixture(scope="module")
def stage(settings):
    with beside(settings) as own:
        stage = Stage(own)
        store_documents(FIELDS)
        yield stage
        stage.close()


class Clock:
    def today(self):
        return TODAY

    def now(self):
        return datetime(2026, 11, 15, 11, tzinfo=UTC)


def serve(user):
    return Transactions(user.database, Clock(), user.tagging)


def book(*numbers, **changes):
    changes = {"is_pending": False, "is_reworded": False, "channel": "XS2A"} | changes
    return [make_booking(number, **changes) for number in numbers]


def look(stage, user):
    """Of each row: is the stored object current, the stored object, and the one that follows from the row."""
    return stage.owner.execute(LOOK, [user.user_id]).fetchall()


async def check(stage, user):
    rows = look(stage, user)
    assert [stored for is_current, stored, *_ in rows if is_current] == [
        fresh for is_current, _, fresh, _ in rows if is_current
    ]
    pages = []
    async with user.database.connect(user.user_id) as connection:
        for key in PLACES:
            page, *_ = await transactions.list_json(
                connection, user.user_id, user.name(key), Window(limit=1000), FIELDS
            )
            pages += [page] * bool(page)
    found = {row[3]: row[2] for row in rows}
    assert sorted(b",".join(pages)) == sorted(",".join(found.values()).encode())
    return rows


# Every kind of write


async def push(user, number):
    pushed = [PushedTransaction(f"b{number}", book(number)[0])]
    await serve(user).push(user.principal, "a", user.name("giro"), pushed)


async def write_as_before(stage, user):
    with stage.owner.transaction():
        for statement in (FORMER_UPDATE, FORMER_RAISE):
            stage.owner.execute(statement, {"user": user.user_id})


async def insert_and_annotate(user):
    """In one transaction: both writes have the same version."""
    async with user.database.transaction(user.user_id) as connection:
        await transactions.insert_transactions(connection, user.user_id, user.name("giro"), book(9), TODAY)
        cursor = await connection.execute("select product_id, id from transactions where user_id = %s", [user.user_id])
        await annotations.annotate(connection, user.user_id, await cursor.fetchall(), Annotation("zugleich"))


async def edit(user, made, annotation):
    change = EditChange("HOUSING_RENT", {"systemName": "HOUSING_RENT"}, annotation)
    made.append((await user.edits.apply(user.principal, Selection(filters=CustomerFilters()), change)).id)


async def undo(user, made):
    if made:
        await user.edits.undo(user.principal, made.pop())


async def fill(stage, user):
    """As a reader does who meets many that are not stored."""
    await fill_documents(user.database, user.user_id, user.name("giro"), FIELDS)
    known = await list_ids(user)
    assert all(is_current for is_current, _, _, key in look(stage, user) if key in known)


async def list_ids(user):
    async with user.database.connect(user.user_id) as connection:
        known = await transactions.load_transactions(connection, user.user_id, user.name("giro"), None)
    return {row.id for row in known}


WRITES = {
    "refresh": lambda s, u, m: u.refresh("giro", book(0, 1, 2, 3), is_file=False),
    "fewer": lambda s, u, m: u.refresh("giro", book(0, 3), is_file=False),
    "reworded": lambda s, u, m: u.refresh("giro", book(0, 1, is_reworded=True), is_file=False),
    "pending": lambda s, u, m: u.refresh("giro", book(2, 4, is_pending=True), is_file=False),
    "other account": lambda s, u, m: u.refresh("twin", book(0, 5), is_file=False),
    "file": lambda s, u, m: u.refresh("giro", book(1, 6, channel="MT940"), is_file=True),
    "push": lambda s, u, m: push(u, 7),
    "note": lambda s, u, m: u.annotate(1, Annotation(note='"Frage"\n')),
    "no note": lambda s, u, m: u.annotate(1, Annotation(note=None)),
    "keywords": lambda s, u, m: u.annotate(0, Annotation(keywords=("Urlaub", "Ä"))),
    "split": lambda s, u, m: u.split(0, 3),
    "not split": lambda s, u, m: u.split(0, None),
    "category": lambda s, u, m: u.correct(0, "HOUSING_RENT", changes_existing=True),
    "edit": lambda s, u, m: edit(u, m, Annotation("alle", ("Steuer",))),
    "edit of tags": lambda s, u, m: edit(u, m, Annotation(UNCHANGED, UNCHANGED)),
    "undo": lambda s, u, m: undo(u, m),
    "at once": lambda s, u, m: insert_and_annotate(u),
    "former program": lambda s, u, m: write_as_before(s, u),
    "fill": lambda s, u, m: fill(s, u),
    "deleted": lambda s, u, m: u.delete("b"),
}  # fmt: skip


async def follow(stage, user, names):
    made: list = []
    await user.refresh("giro", book(0, 1, 2), is_file=False)
    assert all(row[0] for row in await check(stage, user)), "new rows bring their objects with them"
    for name in names:
        await WRITES[name](stage, user, made)
        await check(stage, user)


@examples(max_examples=count_examples(12), phases=[Phase.explicit, Phase.generate], deadline=None)
@given(names=st.lists(st.sampled_from(sorted(WRITES)), min_size=3, max_size=8))
def test_stored_objects_equal_fresh_ones_after_any_writes(stage, names):
    stage.run(follow(stage, stage.add_user(), names))


@pytest.mark.parametrize("name", sorted(WRITES))
def test_stored_objects_equal_fresh_ones_after(stage, name):
    """Filled before and after, so that there is always something that could be old."""
    stage.run(follow(stage, stage.add_user(), ["refresh", "edit", "fill", name, "fill", name]))


# What the program writes is what PostgreSQL writes

texts = st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
times = st.integers(-2_208_900_000, 7_258_000_000).map(lambda second: datetime.fromtimestamp(second, UTC))
bookings = st.builds(
    Transaction,
    amount=st.decimals("-99999999999.99", "99999999999.99", places=2) | st.integers(-5, 5).map(Decimal),
    currency=st.sampled_from(["EUR", "CHF"]),
    booked_at=times,
    value_at=st.none() | times,
    purpose=texts, booking_text=texts, gv_code=texts, prima_nota=texts, counterparty_name=texts,
    counterparty_iban=texts, counterparty_bic=texts, is_pending=st.booleans(),
)  # fmt: skip


@examples(max_examples=count_examples(25), phases=[Phase.explicit, Phase.generate], deadline=None)
@given(rows=st.lists(st.tuples(bookings, st.none() | st.text('aé"\\ \n', min_size=1, max_size=5)), min_size=1))
def test_objects_of_new_rows_are_literally_those_of_the_database(stage, rows):
    async def store(user):
        await user.refresh("giro", [], is_file=False)
        async with user.database.transaction(user.user_id) as connection:
            await transactions.insert_transactions(
                connection, user.user_id, user.name("giro"), [row for row, _ in rows], TODAY,
                [f"{batch}{uuid4()}" if batch else None for _, batch in rows],
            )  # fmt: skip

    user = stage.add_user()
    stage.run(store(user))
    stage.run(check(stage, user))


def test_objects_of_a_usual_time_are_stored_with_the_row(stage):
    async def store(user):
        times = (datetime(2026, 3, 29, 0, 59, tzinfo=UTC), datetime(2026, 3, 29, 1, tzinfo=UTC))
        rows = [Transaction(Decimal("-0.10") * number, "EUR", at) for number, at in enumerate(times, 1)]
        await user.refresh("giro", rows, is_file=False)
        return await check(stage, user)

    rows = stage.run(store(stage.add_user()))
    assert [row[0] for row in rows] == [True, True]
    assert ['"buchungsdatum":"2026-03-29 03:00:00"' in row[1] for row in rows] == [True, False]


# Rows without an object


def forget(stage, user, values="document = null, document_version = null"):
    stage.owner.execute(f"update transactions set {values} where user_id = %s", [user.user_id])


async def list_all(user):
    fields = {"fields": FIELDS}
    page, _ = await serve(user).list_page(user.principal, user.name("giro"), Window(limit=1000), **fields)
    return page


async def store_many(user, count):
    rows = [
        Transaction(Decimal(f"-{number}.00"), "EUR", datetime(2026, 11, 2, tzinfo=UTC))
        for number in range(1, count + 1)
    ]
    await user.refresh("giro", rows, is_file=False)


@pytest.mark.parametrize(("count", "is_filled"), [(STALE_ROWS, True), (STALE_ROWS - 1, False)])
def test_a_reader_stores_objects_of_rows_of_a_former_program_where_they_are_many(stage, count, is_filled):
    user = stage.add_user()
    stage.run(store_many(user, count))
    before = stage.run(list_all(user))
    forget(stage, user)
    assert stage.run(list_all(user)) == before
    assert {row[0] for row in look(stage, user)} == {is_filled}
    assert stage.run(list_all(user)) == before


def test_objects_of_another_format_are_not_shown(stage):
    user = stage.add_user()
    stage.run(store_many(user, 3))
    before = stage.run(list_all(user))
    forget(stage, user, "document = '{}', document_format = 1")
    assert stage.run(list_all(user)) == before


def test_a_reader_does_not_wait_for_whoever_changes_the_rows(stage):
    async def read(user):
        async with user.database.transaction(user.user_id) as connection:
            await lock_data(connection, user.user_id)
            return await list_all(user)

    user = stage.add_user()
    stage.run(store_many(user, STALE_ROWS))
    forget(stage, user)
    assert stage.run(read(user)).count(b'"id"') == STALE_ROWS
    assert {row[0] for row in look(stage, user)} == {False}


def test_a_reader_is_answered_where_nothing_can_be_written(stage):
    given_clusters.skip_where_given("its tables take no triggers")
    user = stage.add_user()
    stage.run(store_many(user, STALE_ROWS))
    forget(stage, user)
    stage.owner.execute(
        "create function refuse() returns trigger language plpgsql as"
        " $$ begin raise exception 'no space left on device' using errcode = 'disk_full'; end $$"
    )
    stage.owner.execute("create trigger full_disk before update on transactions execute function refuse()")
    try:
        assert stage.run(list_all(user)).count(b'"id"') == STALE_ROWS
    finally:
        stage.owner.execute("drop trigger full_disk on transactions")
        stage.owner.execute("drop function refuse")


def test_parts_are_shown_as_they_were_written(stage):
    """Stored by a reader, from what the database keeps as binary JSON."""

    async def split(user):
        await store_many(user, STALE_ROWS)
        parts = [Part(Decimal("-0.50"), "HOUSING_OTHER", {"systemName": "HOUSING_OTHER"}, "Hälfte")] * 2
        rows = [(user.name("giro"), key) for key in await list_ids(user)]
        async with user.database.transaction(user.user_id) as connection:
            await annotations.annotate(connection, user.user_id, rows, Annotation(parts=parts))
        return await list_all(user), await list_all(user)

    user = stage.add_user()
    first, second = stage.run(split(user))
    assert first == second
    assert second.count(b'{"betrag":-0.50,"tags":{"systemName": "HOUSING_OTHER"},"notiz":"H\xc3\xa4lfte"}') == 40
    assert all(row[0] for row in look(stage, user))
