"""Transactions lock in the declared order, and what PostgreSQL rolls back for a conflict is tried again."""

import asyncio
from uuid import uuid4

import pytest
from psycopg.errors import DeadlockDetected, SerializationFailure

from kontor.storage import retries
from kontor.storage.database import Database
from kontor.storage.lock_order import Lock, LockOrderError, begin_locks, note_lock
from kontor.storage.retries import ATTEMPTS, retry_conflicts

USER = uuid4()


@pytest.fixture
async def database(settings):
    database = Database(settings.database_url, 4, "test locks")
    await database.open()
    try:
        yield database
    finally:
        await database.close()


def test_a_lock_after_a_later_one_is_refused():
    with begin_locks():
        note_lock(Lock.DATA_VERSION, USER)
        with pytest.raises(LockOrderError, match=r"ACCESS .* after DATA_VERSION"):
            note_lock(Lock.ACCESS, USER, "a")


def test_rows_of_one_kind_are_locked_in_the_order_of_their_keys():
    with begin_locks():
        note_lock(Lock.ACCESS, USER, "b")
        with pytest.raises(LockOrderError):
            note_lock(Lock.ACCESS, USER, "a")


def test_what_is_held_already_can_be_locked_again_at_any_time():
    with begin_locks():
        note_lock(Lock.ACCESS, USER, "a")
        note_lock(Lock.AUDIT_HEAD, USER)
        note_lock(Lock.ACCESS, USER, "a")


def test_every_transaction_begins_without_locks():
    with begin_locks():
        note_lock(Lock.AUDIT_HEAD, USER)
    with begin_locks():
        note_lock(Lock.FORM_SESSION, USER)


async def test_two_transactions_that_deadlock_both_end_well(database, owner):
    """PostgreSQL ends one of them with 40P01; nobody who called sees that."""
    owner.execute("create table deadlocking (id int primary key, count int not null default 0)")
    owner.execute("insert into deadlocking values (1), (2)")
    owner.execute("grant select, update on deadlocking to public")
    both = asyncio.Barrier(2)
    attempts = []

    @retry_conflicts
    async def count(first, second):
        attempts.append(first)
        async with database.transaction() as connection:
            await connection.execute("update deadlocking set count = count + 1 where id = %s", [first])
            if len(attempts) <= 2:
                await both.wait()
            await connection.execute("update deadlocking set count = count + 1 where id = %s", [second])

    try:
        await asyncio.gather(count(1, 2), count(2, 1))
        assert len(attempts) == 3, "one of the two was rolled back once"
        assert owner.execute("select array_agg(count) from deadlocking").fetchone() == ([2, 2],)
    finally:
        owner.execute("drop table deadlocking")


@pytest.mark.parametrize("conflict", [DeadlockDetected, SerializationFailure])
async def test_conflicts_are_retried_with_a_bound(conflict, monkeypatch):
    monkeypatch.setattr(retries, "PAUSE_SECONDS", 0)
    attempts = []

    @retry_conflicts
    async def fail():
        attempts.append(1)
        raise conflict

    with pytest.raises(conflict):
        await fail()
    assert len(attempts) == ATTEMPTS


async def test_other_errors_are_not_retried():
    attempts = []

    @retry_conflicts
    async def fail():
        attempts.append(1)
        raise ValueError

    with pytest.raises(ValueError):
        await fail()
    assert len(attempts) == 1
