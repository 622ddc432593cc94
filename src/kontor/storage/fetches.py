"""Fetches: what was asked of a bank, and how it went. These rows decide; the queue only points at them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from kontor.storage import leases
from kontor.storage.database import Connection, fetch_row
from kontor.storage.leases import TAKE_WANTED, Lease

MAX_ATTEMPTS = 3


class FetchState(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    DONE = "DONE"
    FAILED = "FAILED"
    INTERRUPTED = "INTERRUPTED"
    SKIPPED = "SKIPPED"

    @property
    def is_open(self) -> bool:
        return self in (FetchState.QUEUED, FetchState.RUNNING)


@dataclass(frozen=True, slots=True)
class Fetch:
    """`slot_at`: the slot of background refresh that it is for, else somebody asked for it."""

    id: UUID
    user_id: UUID
    access_id: str
    state: FetchState
    is_attended: bool
    all_history: bool
    lease_key: bytes | None
    correlation_id: str
    resume_state: bytes | None = None
    slot_at: datetime | None = None


COLUMNS = "id, user_id, access_id, state, is_attended, all_history, lease_key, correlation_id, resume_state, slot_at"


# Of what a worker stored for another to go on with, only who is bound to the user may know.
TAKEN_COLUMNS = COLUMNS.replace("resume_state", "null::bytea as resume_state")

FIND = f"select {COLUMNS} from fetches where id = $1"


def _fetch(row: Sequence[Any]) -> Fetch:
    return Fetch(row[0], row[1], row[2], FetchState(row[3]), *row[4:10])


async def insert_fetch(connection: Connection, fetch: Fetch) -> bool:
    """False when the access has an open fetch already."""
    cursor = await connection.execute(
        f"insert into fetches ({COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) on conflict do nothing",
        [
            fetch.id,
            fetch.user_id,
            fetch.access_id,
            str(fetch.state),
            fetch.is_attended,
            fetch.all_history,
            fetch.lease_key,
            fetch.correlation_id,
            fetch.resume_state,
            fetch.slot_at,
        ],
    )
    return cursor.rowcount == 1


async def find_fetch(connection: Connection, fetch_id: UUID) -> Fetch | None:
    """By its own id alone, among those of the user that the connection is bound to."""
    row = await fetch_row(connection, FIND, [fetch_id])
    return None if row is None else _fetch(row)


# One statement for what every job begins with: a worker's work is mostly waiting for answers of the database.
# The lease is taken as in `leases.take_lease`.
TAKE = f"""
    with found as (select {TAKEN_COLUMNS} from all_fetches where id = $1),
    wanted as (select lease_key as key from found where state in ('QUEUED', 'RUNNING') and lease_key is not null),
    {TAKE_WANTED}
    select found.*, (select fence from taken) from found
"""


async def take_fetch(connection: Connection, fetch_id: UUID, holder: UUID) -> tuple[Fetch, Lease | None] | None:
    """Anybody's, without what it resumes; of one that is open with the lease of its credentials, if that is free.

    A worker has only the job's id, and takes the user from the row.
    """
    row = await fetch_row(connection, TAKE, [fetch_id, holder, leases.LEASE_SECONDS])
    if row is None:
        return None
    fetch = _fetch(row)
    return fetch, None if row[-1] is None or fetch.lease_key is None else Lease(fetch.lease_key, holder, row[-1])


async def find_states(connection: Connection, user_id: UUID, fetch_ids: list[UUID]) -> dict[UUID, tuple[str, str]]:
    """(state of the fetch, status of its access), for those who wait."""
    cursor = await connection.execute(
        "select f.id, f.state, a.status from fetches f"
        " join accesses a on a.user_id = f.user_id and a.id = f.access_id where f.user_id = %s and f.id = any(%s)",
        [user_id, fetch_ids],
    )
    return {row[0]: (row[1], row[2]) for row in await cursor.fetchall()}


async def list_open_fetches(connection: Connection, user_id: UUID, access_id: str) -> list[UUID]:
    cursor = await connection.execute(
        "select id from fetches where user_id = %s and access_id = %s and state in ('QUEUED', 'RUNNING')",
        [user_id, access_id],
    )
    return [row[0] for row in await cursor.fetchall()]


async def list_fetches(connection: Connection, user_id: UUID, access_id: str) -> list[UUID]:
    """All that are remembered, ended ones included."""
    cursor = await connection.execute(
        "select id from fetches where user_id = %s and access_id = %s", [user_id, access_id]
    )
    return [row[0] for row in await cursor.fetchall()]


async def list_blocked(connection: Connection, user_id: UUID, fetch_ids: list[UUID]) -> set[UUID]:
    """Those that wait because somebody else is using the same credentials."""
    cursor = await connection.execute(
        "select f.id from fetches f join credential_leases l on l.key = f.lease_key"
        " where f.user_id = %s and f.id = any(%s) and f.state = 'QUEUED' and l.until > now()",
        [user_id, fetch_ids],
    )
    return {row[0] for row in await cursor.fetchall()}


# A fetch starts only while its lease is ours, and with a whole one: a worker may have stood still since it took it.
HOLD = """
        update credential_leases set until = clock_timestamp() + make_interval(secs => $4)
        where key = $3 and fence = $1 returning 1"""
START = """
        update fetches set state = 'RUNNING', started_at = now(), attempts = attempts + 1, fence = $1
        where id = $2 and state = 'QUEUED' and exists (select 1 from held) returning id, user_id, access_id"""
START_FETCH = f"with held as ({HOLD}) {START}"
START_CALL = f"""
    with held as ({HOLD}), started as ({START})
    insert into unattended_calls (user_id, access_id, called_at, fetch_id)
    select user_id, access_id, $5, id from started returning 1
"""


async def start_fetch(connection: Connection, fetch_id: UUID, lease: Lease) -> bool:
    """Take a fetch that waits. False when somebody else took or ended it, or has the lease."""
    values = [lease.fence, fetch_id, lease.key, leases.LEASE_SECONDS]
    return await fetch_row(connection, START_FETCH, values) is not None


async def start_call(connection: Connection, fetch_id: UUID, lease: Lease, now: datetime) -> bool:
    """As `start_fetch`, for a call without the customer: it is written down with the same statement."""
    values = [lease.fence, fetch_id, lease.key, leases.LEASE_SECONDS, now]
    return await fetch_row(connection, START_CALL, values) is not None


IS_OURS = """
    select 1 from fetches f join users u on u.id = f.user_id
    where f.id = $1 and f.state = 'RUNNING' and f.fence = $2 and u.is_active
"""
LOCK_OURS = f"{IS_OURS} for update of f"
IS_WANTED = f"""
    {IS_OURS}
    and exists (select 1 from credential_leases l where l.key = $3 and l.fence = $2)
    and exists (select 1 from accesses a where a.user_id = f.user_id and a.id = f.access_id)
"""


async def is_running(connection: Connection, fetch_id: UUID, lease: Lease) -> bool:
    """Is it still ours, and its user active? Nobody can take it over or end it until the end of the transaction."""
    return await fetch_row(connection, LOCK_OURS, [fetch_id, lease.fence]) is not None


async def is_wanted(connection: Connection, fetch_id: UUID, lease: Lease) -> bool:
    """As things are now, could what the bank says be stored? Holds nothing."""
    return await fetch_row(connection, IS_WANTED, [fetch_id, lease.fence, lease.key]) is not None


async def skip_fetch(connection: Connection, fetch_id: UUID, reason: str) -> None:
    """One that waits is not carried out at all."""
    await connection.execute(
        "update fetches set state = 'SKIPPED', failure = %s, finished_at = now() where id = %s and state = 'QUEUED'",
        [reason, fetch_id],
    )


async def take_back(connection: Connection, fetch_id: UUID) -> None:
    """A slot's fetch that waits is forgotten: it will be scheduled anew, later within its window."""
    await connection.execute(
        "delete from fetches where id = %s and state = 'QUEUED' and slot_at is not null", [fetch_id]
    )


async def attend_fetch(connection: Connection, user_id: UUID, fetch_id: UUID) -> bool:
    """The user came while a slot's fetch was waiting: it becomes the user's. False when it is at work already."""
    cursor = await connection.execute(
        "update fetches set is_attended = true, all_history = true where user_id = %s and id = %s"
        " and state = 'QUEUED' and not is_attended",
        [user_id, fetch_id],
    )
    return cursor.rowcount == 1


async def finish_fetch(connection: Connection, fetch_id: UUID, state: FetchState, failure: str | None = None) -> None:
    await connection.execute(
        "update fetches set state = %s, failure = %s, finished_at = now() where id = %s and state = 'RUNNING'",
        [str(state), failure, fetch_id],
    )


FINISH_ANSWERED = """
    with outcome as (insert into provider_outcomes (provider_id, is_success, seconds) values ($2, true, $3)),
    lease as (delete from credential_leases where key = $4 and fence = $5),
    outage as (delete from provider_outages where provider_id = $2)
    update fetches set state = 'DONE', failure = null, finished_at = now() where id = $1 and state = 'RUNNING'
    returning 1
"""


async def finish_answered(
    connection: Connection, fetch_id: UUID, lease: Lease, provider_id: UUID, seconds: float
) -> None:
    """All is fetched: so the provider is up, and with the commit the credentials are free for others.

    Late in a transaction, since many fetches share the provider's row.
    """
    await fetch_row(connection, FINISH_ANSWERED, [fetch_id, provider_id, seconds, lease.key, lease.fence])


@dataclass(frozen=True, slots=True)
class Abandoned:
    """A fetch without a worker. `is_called`: it was at work, so that the bank may have been called.

    `is_repeated`: the refresh of the slot before was interrupted as well.
    """

    id: UUID
    user_id: UUID
    access_id: str
    attempts: int
    is_called: bool
    is_for_slot: bool
    is_repeated: bool


async def list_abandoned(connection: Connection) -> list[Abandoned]:
    """Fetches whose worker is gone (no lease), or whose job got lost. Locks them.

    A job that failed is kept by the queue, but never run again.
    """
    cursor = await connection.execute(
        """
        select f.id, f.user_id, f.access_id, f.attempts, f.state = 'RUNNING',
            f.slot_at is not null and not f.is_attended,
            coalesce((select before.state = 'INTERRUPTED' from all_fetches before
                where (before.user_id, before.access_id) = (f.user_id, f.access_id) and before.slot_at < f.slot_at
                order by before.slot_at desc limit 1), false)
        from all_fetches f
        where (f.state = 'RUNNING' and not exists (
                select 1 from credential_leases l where l.key = f.lease_key and l.fence = f.fence and l.until > now()))
           or (f.state = 'QUEUED' and f.requested_at < now() - interval '30 seconds' and not exists (
                select 1 from pgqueuer q
                where q.dedupe_key = 'fetch ' || f.id and q.status in ('queued', 'picked')))
        order by f.requested_at for update of f skip locked limit 100
        """
    )
    return [Abandoned(*row) for row in await cursor.fetchall()]


async def put_back(connection: Connection, fetch_ids: Sequence[UUID]) -> None:
    await connection.execute(
        "update all_fetches set state = 'QUEUED', fence = null where id = any(%s)", [list(fetch_ids)]
    )


async def hand_back(connection: Connection, user_id: UUID, fetch_id: UUID, resume_state: bytes) -> None:
    """Its worker stops in the middle of a dialogue, which goes on from this state."""
    await connection.execute(
        "update fetches set state = 'QUEUED', fence = null, resume_state = %s"
        " where user_id = %s and id = %s and state = 'RUNNING'",
        [resume_state, user_id, fetch_id],
    )


async def interrupt_fetches(connection: Connection, fetch_ids: Sequence[UUID]) -> None:
    await connection.execute(
        "update all_fetches set state = 'INTERRUPTED', finished_at = now() where id = any(%s)", [list(fetch_ids)]
    )


async def interrupt_open(connection: Connection, user_id: UUID, access_id: str) -> None:
    """A fetch that began before the user authenticated is overtaken by the one that begins now."""
    await connection.execute(
        "update fetches set state = 'INTERRUPTED', finished_at = now() where user_id = %s and access_id = %s"
        " and state in ('QUEUED', 'RUNNING')",
        [user_id, access_id],
    )


async def delete_old_fetches(connection: Connection, batch: int) -> int:
    cursor = await connection.execute(
        "delete from all_fetches where id in"
        " (select id from all_fetches where finished_at < now() - interval '30 days' limit %s)",
        [batch],
    )
    return cursor.rowcount


# Statistics of providers


async def record_outcome(
    connection: Connection, provider_id: UUID, *, is_success: bool, is_refused: bool, seconds: float
) -> None:
    """`is_refused`: the bank answered, and refused the login."""
    await connection.execute(
        "insert into provider_outcomes (provider_id, is_success, is_refused, seconds) values (%s, %s, %s, %s)",
        [provider_id, is_success, is_refused, seconds],
    )


async def list_statistics(
    connection: Connection, provider_ids: Sequence[UUID] | None = None
) -> dict[UUID, tuple[int, int, float | None, datetime | None]]:
    """By provider, of the last seven days: (fetches, successes, mean seconds of successes, last success)."""
    cursor = await connection.execute(
        "select provider_id, count(*), count(*) filter (where is_success), avg(seconds) filter (where is_success),"
        " max(at) filter (where is_success) from provider_outcomes"
        " where (%(ids)s::uuid[] is null or provider_id = any(%(ids)s)) and at > now() - interval '7 days'"
        " group by provider_id",
        {"ids": None if provider_ids is None else list(provider_ids)},
    )
    return {row[0]: (row[1], row[2], row[3], row[4]) for row in await cursor.fetchall()}


async def delete_old_outcomes(connection: Connection) -> int:
    cursor = await connection.execute("delete from provider_outcomes where at < now() - interval '30 days'")
    return cursor.rowcount
