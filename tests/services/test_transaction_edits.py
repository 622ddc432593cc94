"""Edits of several transactions: what undoing restores, several at once, and that rows cost no statements."""

import asyncio
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import Phase, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from replicas import Stage, make_booking

from kontor.domain.annotations import UNCHANGED, Annotation
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.searches import CustomerFilters, Window
from kontor.domain.transaction_edits import MAX_ROWS, EditChange, Selection
from kontor.domain.transactions import Transaction
from kontor.services.analyses import read_own_accounts
from kontor.services.transactions import Correction
from kontor.storage import tag_views, transactions
from kontor.storage.transaction_edits import forget_old_rows
from kontor.wire.transactions import CUSTOMER_FIELDS, FIELDS
from many_examples import count_examples
from processes import beside
from stored_data import TODAY

CATEGORY = (("category", "category_confidence"),)
EVERYTHING = Selection(filters=CustomerFilters())
HOLIDAY = EditChange(annotation=Annotation(keywords=("Urlaub",)))


@pytest.fixture(scope="module")
def stage(settings):
    with beside(settings) as own:
        stage = Stage(own)
        yield stage
        stage.close()


def book(*numbers, is_reworded=False):
    return [make_booking(number, is_pending=False, is_reworded=is_reworded, channel="XS2A") for number in numbers]


def to_category(category):
    return EditChange(category, {"systemName": category})


@dataclass(frozen=True)
class Said:
    """What a row has: category and confidence, note, keywords."""

    category: tuple[Any, ...]
    note: str | None
    keywords: tuple[str, ...]

    def change(self, change: EditChange) -> "Said":
        said = self
        if change.category is not None:
            said = replace(said, category=(change.category, 1.0))
        if change.annotation.note is not UNCHANGED:
            said = replace(said, note=change.annotation.note)
        if change.annotation.keywords is not UNCHANGED:
            said = replace(said, keywords=change.annotation.keywords)
        return said


async def read_rows(user) -> dict[UUID, Said]:
    async with user.database.connect(user.user_id) as connection:
        rows, _ = await tag_views.list_tag_rows(
            connection, user.user_id, user.name("giro"), Window(limit=20_000), FIELDS, CATEGORY
        )
    found = {}
    for row in rows:
        shown = json.loads(row[0])
        found[row[1]] = Said(tuple(row[2:]), shown.get("notiz"), tuple(shown.get("schlagworte", ())))
    return found


# Undoing

changes = st.builds(
    lambda category, note, keywords: EditChange(
        category, None if category is None else {"systemName": category}, Annotation(note, keywords)
    ),
    st.sampled_from([None, "LIVING_GROCERIES", "HOUSING_RENT", "TRANSFER_OTHER"]),
    st.sampled_from([UNCHANGED, None, "Rückfrage", "bezahlt"]),
    st.sampled_from([UNCHANGED, (), ("Urlaub",), ("Urlaub", "Steuer")]),
).filter(lambda change: change.category is not None or not change.annotation.is_empty)
places = st.sets(st.integers(0, 3), min_size=1)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("edit"), places, changes),
        st.tuples(st.just("update"), places, changes),
        st.tuples(st.just("undo"), st.integers(0, 5), st.none()),
    ),
    min_size=2,
    max_size=7,
)


async def follow(user, taken):
    """Each step is done, and to a model of it: a mark per row tells who changed it last."""
    await user.refresh("giro", book(0, 1, 2, 3), is_file=False)
    model = await read_rows(user)
    ids = sorted(model, key=str)
    marks: dict[UUID, Any] = dict.fromkeys(ids)
    made: list[tuple[UUID, int, dict[UUID, tuple[Said, Any]]]] = []
    for number, (kind, where, change) in enumerate(taken, 1):
        if kind == "undo":
            if not made:
                continue
            edit_id, mark, before = made.pop(where % len(made))
            undoing = await user.edits.undo(user.principal, edit_id)
            restored = {key: kept for key, kept in before.items() if marks[key] == mark}
            for key, (said, former_mark) in restored.items():
                model[key], marks[key] = said, former_mark
            assert (undoing.restored, undoing.left) == (len(restored), len(before) - len(restored))
        else:
            chosen = [ids[place] for place in sorted(where)]
            if kind == "edit":
                edit = await user.edits.apply(user.principal, Selection(ids=tuple(chosen)), change)
                made.append((edit.id, number, {key: (model[key], marks[key]) for key in chosen}))
            for key in chosen:
                if kind == "update":
                    correction = None if change.category is None else Correction(change.category, change.tags)
                    await user.updates.update(
                        user.principal, "a", user.name("giro"), key, change.annotation, correction
                    )
                model[key], marks[key] = model[key].change(change), number
        assert await read_rows(user) == model


@examples(max_examples=count_examples(15), phases=[Phase.explicit, Phase.generate], deadline=None)
@given(taken=steps)
def test_undoing_restores_exactly_what_nobody_has_changed_since(stage, taken):
    stage.run(follow(stage.add_user(), taken))


def test_replicas_follow_edits_and_their_undoing(stage):
    async def check():
        user = stage.add_user()
        await user.refresh("giro", book(0, 1, 2), is_file=False)
        await user.refresh("savings", book(4), is_file=False)
        change = EditChange("HOUSING_RENT", {"systemName": "HOUSING_RENT"}, Annotation("Notiz", ("Urlaub",)))
        for number in range(4):
            await user.finish(number, 2)
        edit = await user.edits.apply(user.principal, EVERYTHING, change)
        for number in range(4):
            await user.finish(number, 2)
            await user.check(number)
        await user.edits.undo(user.principal, edit.id)
        for number in range(4):
            await user.finish(number, 2)
            await user.check(number)

    stage.run(check())


def test_undoing_after_a_refresh_restores_what_the_user_said_and_keeps_what_the_bank_said(stage):
    async def check():
        user = stage.add_user()
        await user.refresh("giro", book(0, 1), is_file=False)
        before = await read_rows(user)
        change = replace(to_category("HOUSING_RENT"), annotation=HOLIDAY.annotation)
        edit = await user.edits.apply(user.principal, EVERYTHING, change)
        await user.refresh("giro", book(0, 1, is_reworded=True), is_file=False)
        assert {said.category for said in (await read_rows(user)).values()} == {("HOUSING_RENT", 1.0)}
        undoing = await user.edits.undo(user.principal, edit.id)
        after = await read_rows(user)
        assert (undoing.restored, undoing.left) == (2, 0)
        assert {key: (said.category[0], said.keywords) for key, said in after.items()} == {
            key: (said.category[0], said.keywords) for key, said in before.items()
        }
        async with user.database.connect(user.user_id) as connection:
            stored = await transactions.load_transactions(connection, user.user_id, user.name("giro"), None)
        assert all("vielen Dank" in (row.transaction.purpose or "") for row in stored)

    stage.run(check())


def test_an_edit_of_deleted_transactions_restores_the_rest(stage):
    async def check():
        user = stage.add_user()
        await user.refresh("giro", book(0, 1), is_file=False)
        await user.refresh("twin", book(5), is_file=False)
        edit = await user.edits.apply(user.principal, EVERYTHING, HOLIDAY)
        await user.delete("b")
        undoing = await user.edits.undo(user.principal, edit.id)
        assert (edit.count, undoing.restored, undoing.left) == (3, 2, 1)

    stage.run(check())


def test_what_was_written_is_deleted_after_30_days_and_the_edit_stays_listed(stage):
    async def check():
        user = stage.add_user()
        await user.refresh("giro", book(0, 1), is_file=False)
        old = await user.edits.apply(user.principal, EVERYTHING, HOLIDAY)
        new = await user.edits.apply(user.principal, EVERYTHING, HOLIDAY)
        stage.owner.execute("update transaction_edits set made_at = now() - interval '30 days' where id = %s", [old.id])
        for expected in (True, False):
            async with user.database.transaction(user.user_id) as connection:
                assert await forget_old_rows(connection) is expected
        kept = stage.owner.execute(
            "select distinct edit_id from transaction_edit_rows where user_id = %s", [user.user_id]
        ).fetchall()
        assert kept == [(new.id,)]
        listed = await user.edits.list_edits(user.principal)
        assert [edit.id for edit in listed] == [new.id, old.id]
        assert [edit.annotation for edit in listed] == [HOLIDAY.annotation, Annotation()]

    stage.run(check())


def test_of_edits_that_cannot_be_undone_the_last_50_are_kept(stage):
    async def check():
        user = stage.add_user()
        await user.refresh("giro", book(0), is_file=False)
        made = [(await user.edits.apply(user.principal, EVERYTHING, HOLIDAY)).id for _ in range(52)]
        assert len(await user.edits.list_edits(user.principal)) == 50
        stage.owner.execute(
            "update transaction_edits set made_at = %s where user_id = %s",
            [datetime.now(UTC) - timedelta(days=31), user.user_id],
        )
        made.append((await user.edits.apply(user.principal, EVERYTHING, HOLIDAY)).id)
        rows = stage.owner.execute("select id from transaction_edits where user_id = %s", [user.user_id]).fetchall()
        assert {key for (key,) in rows} == set(made[-50:])

    stage.run(check())


# Several at once


def test_two_edits_at_once_are_done_one_after_the_other_and_undone_in_turn(stage):
    async def check():
        user = stage.add_user()
        await user.refresh("giro", book(0, 1, 2, 3), is_file=False)
        before = await read_rows(user)
        changes = [
            replace(to_category(category), annotation=Annotation(note, (note,)))
            for category, note in (("HOUSING_RENT", "eins"), ("LIVING_GROCERIES", "zwei"))
        ]
        made = await asyncio.gather(*(user.edits.apply(user.principal, EVERYTHING, change) for change in changes))
        after = set((await read_rows(user)).values())
        assert len(after) == 1, "all rows have the values of one of the two"
        first, second = sorted(made, key=lambda edit: edit.version)
        assert after.pop().note == second.annotation.note
        undoing = await user.edits.undo(user.principal, second.id)
        assert undoing.restored == 4
        assert {said.note for said in (await read_rows(user)).values()} == {first.annotation.note}
        assert (await user.edits.undo(user.principal, first.id)).restored == 4
        assert await read_rows(user) == before

    stage.run(check())


def test_an_edit_and_a_refresh_at_once_lose_nothing_of_either(stage):
    async def check():
        for _ in range(4):
            user = stage.add_user()
            await user.refresh("giro", book(0, 1, 2), is_file=False)
            change = replace(to_category("HOUSING_RENT"), annotation=HOLIDAY.annotation)
            known = tuple(await read_rows(user))
            await asyncio.gather(
                user.edits.apply(user.principal, Selection(ids=known), change),
                user.refresh("giro", book(0, 1, 2, 7, is_reworded=True), is_file=False),
            )
            rows = await read_rows(user)
            assert len(rows) == 4
            assert {(rows[key].category, rows[key].keywords) for key in known} == {(("HOUSING_RENT", 1.0), ("Urlaub",))}
            async with user.database.connect(user.user_id) as connection:
                stored = await transactions.load_transactions(connection, user.user_id, user.name("giro"), None)
            assert all("vielen Dank" in (row.transaction.purpose or "") for row in stored)

    stage.run(check())


def test_one_edit_is_undone_once_although_it_is_asked_for_twice_at_once(stage):
    async def check():
        user = stage.add_user()
        await user.refresh("giro", book(0, 1), is_file=False)
        edit = await user.edits.apply(user.principal, EVERYTHING, HOLIDAY)
        answers = await asyncio.gather(
            *(user.edits.undo(user.principal, edit.id) for _ in range(2)), return_exceptions=True
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["NotFoundError", "Undoing"]

    stage.run(check())


# Many rows


async def store_many(owner, user, count):
    at = datetime(2026, 10, 1, 11, tzinfo=UTC)
    rows = [
        Transaction(
            Decimal(-1 - number).scaleb(-2), "EUR", at, at, purpose=f"Einkauf {number}", counterparty_name="REWE"
        )
        for number in range(count)
    ]
    await user.refresh("giro", book(0), is_file=False)
    async with user.database.connect(user.user_id) as connection:
        own = await read_own_accounts(connection, user.user_id)
    prepared = await user.tagging.prepare(user.user_id, own, rows)  # not while the transaction waits
    async with user.database.transaction(user.user_id) as connection:
        await transactions.insert_transactions(connection, user.user_id, user.name("giro"), rows, TODAY)
    owner.execute("analyze transactions")  # plans of foreign keys were made when the table was nearly empty
    async with user.database.transaction(user.user_id) as connection:
        await user.tagging.retag_changed(connection, user.user_id, prepared)


async def count_statements(monkeypatch, work):
    count = 0
    execute = psycopg.AsyncCursor.execute

    async def counted(self, *arguments, **options):
        nonlocal count
        count += 1
        return await execute(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.AsyncCursor, "execute", counted)
        result = await work
    return count, result


def test_an_edit_and_its_undoing_take_as_many_statements_for_10000_rows_as_for_two(stage, monkeypatch):
    async def check():
        counts = []
        change = replace(to_category("HOUSING_RENT"), annotation=Annotation("Notiz", ("Urlaub",)))
        neighbour = stage.add_user()
        await store_many(stage.owner, neighbour, 500)
        await neighbour.edits.apply(neighbour.principal, EVERYTHING, change)
        stage.owner.execute("analyze")  # from now on statistics know users, but not those who follow
        for number in (MAX_ROWS - 1, 1):
            user = stage.add_user()
            await store_many(stage.owner, user, number)
            before = await read_rows(user)
            applied, edit = await count_statements(monkeypatch, user.edits.apply(user.principal, EVERYTHING, change))
            assert edit.count == number + 1
            assert {said.category[0] for said in (await read_rows(user)).values()} == {"HOUSING_RENT"}
            undone, undoing = await count_statements(monkeypatch, user.edits.undo(user.principal, edit.id))
            assert undoing.restored == number + 1
            assert await read_rows(user) == before
            counts.append((applied, undone))
        assert counts[0] == counts[1]

    stage.run(check())


def test_more_than_10000_rows_are_refused_and_none_is_changed(stage):
    async def check():
        user = stage.add_user()
        await store_many(stage.owner, user, MAX_ROWS)
        for work in (
            user.edits.apply(user.principal, EVERYTHING, HOLIDAY),
            user.edits.preview(user.principal, EVERYTHING, HOLIDAY, CUSTOMER_FIELDS),
        ):
            with pytest.raises(InvalidError, match="10000"):
                await work
        assert await user.edits.list_edits(user.principal) == []
        assert not [said for said in (await read_rows(user)).values() if said.keywords]

    stage.run(check())


def test_transactions_of_somebody_else_are_not_found_and_none_is_changed(stage):
    async def check():
        user, other = stage.add_user(), stage.add_user()
        for owner in (user, other):
            await owner.refresh("giro", book(0, 1), is_file=False)
        mixed = (*(await read_rows(user)), *(await read_rows(other)))
        before = await read_rows(user), await read_rows(other)
        for work in (
            user.edits.apply(user.principal, Selection(ids=mixed), HOLIDAY),
            user.edits.preview(user.principal, Selection(ids=mixed), HOLIDAY, CUSTOMER_FIELDS),
        ):
            with pytest.raises(NotFoundError):
                await work
        edit = await user.edits.apply(user.principal, EVERYTHING, HOLIDAY)
        for attempt in (other.edits.undo(other.principal, edit.id), other.edits.read_edit(other.principal, edit.id)):
            with pytest.raises(NotFoundError):
                await attempt
        assert await read_rows(other) == before[1]
        assert await other.edits.list_edits(other.principal) == []

    stage.run(check())
