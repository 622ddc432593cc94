"""Which changes a reader is told: what counts as one, what is kept of the past, and what earlier programs leave."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import psycopg
import pytest
from replicas import ReplicatedUser, add_user, make_booking

from kontor.domain.errors import ConflictError
from kontor.services.analyses.repetitions import find_repeated_rows
from kontor.services.compute import Compute
from kontor.storage import products, repetitions
from kontor.storage.database import Database
from kontor.storage.removals import forget_old_removals

EVERYTHING, TAGGED, GIRO, TAGGED_GIRO = range(4)


@pytest.fixture
def owner(own):
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection


@pytest.fixture
async def user(own, owner):
    database = Database(own.database_url, 4, "test changes")
    await database.open()
    yield ReplicatedUser(database, add_user(owner), Compute())
    await database.close()


def book(*numbers, is_pending=False, is_reworded=False, channel="XS2A"):
    return [make_booking(number, is_pending=is_pending, is_reworded=is_reworded, channel=channel) for number in numbers]


async def follow(user, number=EVERYTHING):
    """One reading: how many are new, changed and removed."""
    reader = user.readers[number]
    delta = await user.deltas.read(user.principal, reader.cursor, 1000, reader.view)
    reader.cursor = delta.cursor
    return len(delta.new), len(delta.changed), len(delta.removed)


async def test_a_pending_booking_that_is_booked_is_a_change_of_the_same_id(user):
    await user.refresh("giro", book(1, is_pending=True), is_file=False)
    reader = user.readers[GIRO]
    before = await user.deltas.read(user.principal, None, 10, reader.view)
    await user.refresh("giro", book(1), is_file=False)
    after = await user.deltas.read(user.principal, before.cursor, 10, reader.view)
    assert [row[1] for _, row in after.changed] == [row[1] for _, row in before.new]
    assert (after.new, after.removed) == ([], [])


async def test_a_pending_booking_that_came_to_nothing_is_removed(user):
    await user.refresh("giro", book(1, is_pending=True) + book(2), is_file=False)
    await follow(user)
    await user.refresh("giro", book(2), is_file=False)
    assert await follow(user) == (0, 0, 1)


async def test_what_is_not_shown_is_no_change(user):
    await user.refresh("giro", book(1), is_file=False)
    await follow(user, GIRO)
    (row,) = book(1)
    await user.refresh("giro", [replace(row, ultimate_counterparty="Somebody", bank_id="77")], is_file=False)
    assert await follow(user, GIRO) == (0, 0, 0)
    await user.refresh("giro", book(1, is_reworded=True), is_file=False)
    assert await follow(user, GIRO) == (0, 1, 0)


async def test_a_refresh_that_brings_nothing_new_tells_nothing(user):
    for number in (EVERYTHING, TAGGED, GIRO, TAGGED_GIRO):
        await user.refresh("giro", book(1, 2), is_file=False)
        await follow(user, number)
        await user.refresh("giro", book(1, 2), is_file=False)
        assert await follow(user, number) == (0, 0, 0)


async def test_a_row_added_and_removed_between_two_reads_is_not_reported(user):
    await user.refresh("giro", book(1), is_file=False)
    await follow(user)
    await user.refresh("giro", book(1) + book(2, is_pending=True), is_file=False)
    await user.refresh("giro", book(1), is_file=False)
    assert await follow(user) == (0, 0, 0)


async def test_a_row_that_is_new_and_changed_is_told_once_as_new(user):
    await user.refresh("giro", book(1), is_file=False)
    await follow(user)
    await user.refresh("giro", book(1) + book(2, is_pending=True), is_file=False)
    await user.refresh("giro", book(1, 2), is_file=False)
    assert await follow(user) == (1, 0, 0)


async def test_a_correction_is_a_change_with_tags_alone_and_its_repetition_is_none(user):
    await user.refresh("giro", book(1), is_file=False)
    await follow(user)
    await follow(user, TAGGED)
    await user.correct(0, "HOUSING_RENT", changes_existing=False)
    assert (await follow(user), await follow(user, TAGGED)) == ((0, 0, 0), (0, 1, 0))
    await user.correct(0, "HOUSING_RENT", changes_existing=False)
    assert await follow(user, TAGGED) == (0, 0, 0)


async def test_retagging_is_a_change_only_where_the_tag_is_another(user, owner):
    await user.refresh("giro", book(1, 2, 3), is_file=False)
    await follow(user)
    await follow(user, TAGGED)
    query = (
        "update transaction_tags set tagger_version = 'former', category = case when transaction_id = (select id from"
        " transactions where user_id = %(user)s and amount = -11) then 'OTHER_SPENDING' else category end"
        " where user_id = %(user)s"
    )
    owner.execute(query, {"user": user.user_id})
    while await user.tagging.retag_step(user.user_id):
        pass
    assert (await follow(user), await follow(user, TAGGED)) == ((0, 0, 0), (0, 1, 0))


async def test_a_cursor_before_removals_that_are_no_longer_kept_is_refused(user, owner):
    await user.refresh("giro", book(1, 2, is_pending=True), is_file=False)
    await follow(user)
    old = user.readers[EVERYTHING].cursor
    await user.refresh("giro", book(1, is_pending=True), is_file=False)
    await follow(user)
    age(owner, 89)
    assert not await forget(user)
    assert (await user.deltas.read(user.principal, old, 10, user.readers[EVERYTHING].view)).removed
    age(owner, 91)
    while await forget(user):  # of one user after the other
        pass
    assert owner.execute("select count(*) from removed_transactions").fetchone() == (0,)
    with pytest.raises(ConflictError, match="start again without since"):
        await user.deltas.read(user.principal, old, 10, user.readers[EVERYTHING].view)
    assert await follow(user) == (0, 0, 0)


def age(owner, days):
    owner.execute("update removed_transactions set removed_at = now() - make_interval(days => %s)", [days])


async def forget(user):
    async with user.database.transaction() as connection:
        return await forget_old_removals(connection)


async def test_what_a_program_of_the_version_before_changes_voids_cursors(user, owner):
    """It raises the version as it did, and knows nothing of what came since."""
    await user.refresh("giro", book(1), is_file=False)
    await follow(user)
    owner.execute("update transactions set purpose = purpose || ' vielen Dank' where user_id = %s", [user.user_id])
    owner.execute("update data_versions set version = version + 1 where user_id = %s", [user.user_id])
    for _ in range(2):
        with pytest.raises(ConflictError):
            await follow(user)
        await user.refresh("savings", book(2), is_file=False)  # this program raises the version, too
    user.readers[EVERYTHING].cursor = None
    assert await follow(user) == (2, 0, 0)
    await user.refresh("giro", book(1, 3), is_file=False)
    assert await follow(user) == (1, 1, 0)


async def test_rows_that_were_stored_before_there_were_versions_are_new_at_first_and_followed_then(user, owner):
    await user.refresh("giro", book(1, 2), is_file=False)
    owner.execute("update transactions set created_version = 0, changed_version = 0")
    owner.execute("update transaction_tags set category_version = 0")
    owner.execute("update data_versions set followed_version = 0")
    assert (await follow(user), await follow(user, TAGGED_GIRO)) == ((2, 0, 0), (2, 0, 0))
    await user.refresh("giro", book(1, 2, is_reworded=True), is_file=False)
    assert (await follow(user), await follow(user, TAGGED_GIRO)) == ((0, 2, 0), (0, 2, 0))


async def test_of_two_accesses_to_one_account_the_freshest_counts(user):
    await user.refresh("giro", book(1, 2), is_file=False)
    assert await follow(user) == (2, 0, 0)
    await user.refresh("twin", book(2, 3), is_file=False)  # booking 2 is told by both
    assert await follow(user) == (2, 0, 1)
    await user.refresh("giro", book(1, 2), is_file=False)
    assert await follow(user) == (1, 0, 1)
    assert await follow(user, GIRO) == (2, 0, 0)
    await user.delete("a")
    assert await follow(user) == (1, 0, 2)


async def test_flips_beyond_the_limit_are_forgotten_and_void_cursors_before(user, owner, monkeypatch):
    monkeypatch.setattr(repetitions, "MAX_FLIPS", 4)
    await user.refresh("giro", book(1), is_file=False)
    cursors = []
    for _ in range(4):
        for key in ("twin", "giro"):
            await user.refresh(key, book(1), is_file=False)
            await follow(user)
            cursors.append(user.readers[EVERYTHING].cursor)
    most = owner.execute("select max(cardinality(flips)) from repeated_transactions").fetchone()
    assert most == (4,)
    assert await follow(user) == (0, 0, 0)
    view = user.readers[EVERYTHING].view
    with pytest.raises(ConflictError):
        await user.deltas.read(user.principal, cursors[0], 10, view)
    delta = await user.deltas.read(user.principal, cursors[-2], 10, view)
    assert (len(delta.new), len(delta.removed)) == (1, 1)


async def test_pairs_are_found_once_for_each_version(user, monkeypatch):
    await user.refresh("giro", book(1), is_file=False)
    await user.refresh("twin", book(1), is_file=False)
    await follow(user)

    async def refuse(*_, **__):
        raise AssertionError("paired again")

    monkeypatch.setattr(repetitions, "toggle_visibility", refuse)
    assert await follow(user) == (0, 0, 0)


async def test_what_is_rolled_back_is_told_to_nobody(user):
    await user.refresh("giro", book(1), is_file=False)
    await follow(user)
    with suppress(ZeroDivisionError):
        async with user.database.transaction(user.user_id) as connection:
            await user.merge(connection, "giro", book(1, 2), is_file=False)
            raise ZeroDivisionError
    assert await follow(user) == (0, 0, 0)
    await user.refresh("giro", book(1, 2), is_file=False)
    assert await follow(user) == (1, 0, 0)


async def test_products_that_are_no_longer_selected_take_their_rows_along(user):
    await user.refresh("giro", book(1, 2), is_file=False)
    await user.refresh("savings", book(3), is_file=False)
    await follow(user)
    async with user.database.transaction(user.user_id) as connection:
        await products.delete_other_products(connection, user.user_id, "a", [user.name("savings")])
    assert await follow(user) == (0, 0, 2)


async def test_changes_since_a_version_are_found_by_the_index(user, owner):
    rows = [replace(book(1)[0], amount=Decimal(number), purpose=f"R {number}") for number in range(1, 3000)]
    await user.refresh("giro", rows, is_file=False)
    await follow(user)
    owner.execute("analyze transactions")
    plan = owner.execute(
        "explain select * from transactions where user_id = %s and changed_version >= 100", [user.user_id]
    ).fetchall()
    assert "transactions_by_version" in str(plan)


# Pairing


class WatchedCompute(Compute):
    """Calls `during` before the first task of pairing is done."""

    def __init__(self, during):
        super().__init__()
        self.during, self.count = during, 0

    async def run(self, function, *arguments, **options):
        if function is find_repeated_rows:
            self.count += 1
            if self.count == 1:
                await self.during()
        return await super().run(function, *arguments, **options)


async def test_the_data_can_be_changed_while_bookings_are_paired_and_is_paired_as_it_is(own, owner):
    """No transaction is open while a compute process is waited for: the database would end it after a minute."""
    database = Database(own.database_url, 4, "test pairing")
    await database.open()
    principal = add_user(owner)

    async def change():
        rows = owner.execute(
            "select count(*) from pg_stat_activity where application_name = 'test pairing' and state like 'idle in%'"
        ).fetchone()
        assert rows == (0,)
        await asyncio.wait_for(user.refresh("twin", book(1, 2, 3, channel="FINTS"), is_file=False), 60)

    compute = WatchedCompute(change)
    user = ReplicatedUser(database, principal, compute)
    await user.refresh("giro", book(1, 2, 3), is_file=False)
    await user.refresh("twin", book(1, 2, channel="FINTS"), is_file=False)
    assert await follow(user) == (3, 0, 0)
    assert compute.count == 2, "what was found in the data before is not stored"
    assert await follow(user) == (0, 0, 0)
    await database.close()
