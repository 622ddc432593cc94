"""The schedule of background refresh, and the calls that were made without the customer.

`next_refresh_at` is set exactly for accesses that are refreshed in the background; workers look at those whose time has
come. All instants are the business clock's, given by the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg import errors

from kontor.domain.consents import RENEWAL_PERIOD
from kontor.domain.refreshes import BUDGET_PERIOD, CLOCK_SKEW, RefreshPause, SkipReason
from kontor.storage.database import Connection, fetch_row
from kontor.storage.lock_order import Lock, note_lock

IS_ACTIVE = "exists (select 1 from users u where u.id = a.user_id and u.is_active)"
IS_REFRESHED = (
    "(a.is_synced and a.credentials is not null and a.refresh_pause is null and a.operator_paused_at is null"
    f" and a.form_session_id is null and {IS_ACTIVE})"
)
# The same of `all_accesses`, where a worker looks for what is due.
IS_ANYBODYS_REFRESHED = (
    "(a.is_synced and a.has_credentials and a.refresh_pause is null and a.operator_paused_at is null"
    f" and a.form_session_id is null and {IS_ACTIVE})"
)
IS_OPEN = "f.state in ('QUEUED', 'RUNNING')"


class RowsLockedError(Exception):
    """Somebody else holds a row that is to be changed; the transaction is to be begun anew."""


@dataclass(frozen=True, slots=True)
class DueAccess:
    """An access whose time has come, with all that decides what happens to it."""

    user_id: UUID
    access_id: str
    provider_id: UUID
    lease_key: bytes | None
    scheduled_since: datetime | None
    is_refreshed: bool
    is_busy: bool
    last_slot: datetime | None
    calls: Sequence[datetime]


# Looking

# Two steps: what is read about a row after it is locked cannot be older than the lock.
LOCK_DUE = """
    select a.user_id, a.id from all_accesses a where a.next_refresh_at <= %(now)s
    order by a.next_refresh_at
    limit (select greatest(0, least(%(batch)s, %(most_queued)s - count(*))) from all_fetches f
           where f.state = 'QUEUED' and f.state in ('QUEUED', 'RUNNING'))
    for update of a skip locked
"""
READ_DUE = f"""
    select a.user_id, a.id, a.provider_id, a.lease_key, a.scheduled_since, {IS_ANYBODYS_REFRESHED},
        exists (select 1 from all_fetches f where f.user_id = a.user_id and f.access_id = a.id and {IS_OPEN}),
        (select f.slot_at from all_fetches f
            where f.user_id = a.user_id and f.access_id = a.id and f.slot_at <= %(now)s
            order by f.slot_at desc limit 1),
        array(select c.called_at from all_unattended_calls c
            where c.user_id = a.user_id and c.access_id = a.id and c.called_at > %(since)s and c.called_at <= %(until)s)
    from unnest(%(users)s::uuid[], %(accesses)s::text[]) with ordinality as due (user_id, id, place)
    join all_accesses a on a.user_id = due.user_id and a.id = due.id
    order by due.place
"""


async def list_due(connection: Connection, now: datetime, batch: int, most_queued: int) -> list[DueAccess]:
    """Lock and read what is due, the longest waiting first; others who look at the same time get other rows.

    Not more than keeps `most_queued` fetches waiting in the queue: what is late stays visible as due, and somebody
    who waits for a fetch does not stand behind thousands.
    """
    cursor = await connection.execute(LOCK_DUE, {"now": now, "batch": batch, "most_queued": most_queued})
    locked = await cursor.fetchall()
    if not locked:
        return []
    cursor = await connection.execute(
        READ_DUE,
        {
            "now": now,
            "since": now - BUDGET_PERIOD,
            "until": now + CLOCK_SKEW,
            "users": [row[0] for row in locked],
            "accesses": [row[1] for row in locked],
        },
    )
    return [DueAccess(*row) for row in await cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class SlotRow:
    """What is written down for a slot: its fetch, or why there is none."""

    user_id: UUID
    access_id: str
    slot_at: datetime
    lease_key: bytes | None = None
    skip: SkipReason | None = None


async def insert_slots(connection: Connection, rows: Sequence[SlotRow]) -> list[UUID]:
    """Returns the fetches that are to be carried out. A slot that has a row, and an access at work, get none."""
    if not rows:
        return []
    cursor = await connection.execute(
        """
        insert into all_fetches (id, user_id, access_id, slot_at, lease_key, state, failure, finished_at, is_attended,
            all_history, correlation_id)
        select n.id, n.user_id, n.access_id, n.slot_at, n.lease_key,
            case when n.skip is null then 'QUEUED' else 'SKIPPED' end, n.skip,
            case when n.skip is not null then now() end, false, false, n.correlation_id
        from unnest(%s::uuid[], %s::uuid[], %s::text[], %s::timestamptz[], %s::bytea[], %s::text[], %s::text[])
            as n (id, user_id, access_id, slot_at, lease_key, skip, correlation_id)
        on conflict do nothing returning id, state
        """,
        [
            [uuid4() for _ in rows],
            [row.user_id for row in rows],
            [row.access_id for row in rows],
            [row.slot_at for row in rows],
            [row.lease_key for row in rows],
            [None if row.skip is None else str(row.skip) for row in rows],
            [str(uuid4()) for _ in rows],
        ],
    )
    return [row[0] for row in await cursor.fetchall() if row[1] == "QUEUED"]


# Times


@dataclass(frozen=True, slots=True)
class NextRefresh:
    """`at` is None for an access that is not refreshed any more; `since` is set where refreshing begins anew."""

    user_id: UUID
    access_id: str
    at: datetime | None
    since: datetime | None = None


async def set_next_refreshes(connection: Connection, next_refreshes: Sequence[NextRefresh]) -> None:
    """The caller has locked the rows."""
    if next_refreshes:
        await connection.execute(
            """
            update all_accesses a set next_refresh_at = n.at, scheduled_since = coalesce(n.since, a.scheduled_since)
            from unnest(%s::uuid[], %s::text[], %s::timestamptz[], %s::timestamptz[]) as n (user_id, id, at, since)
            where a.user_id = n.user_id and a.id = n.id
            """,
            [
                [next_refresh.user_id for next_refresh in next_refreshes],
                [next_refresh.access_id for next_refresh in next_refreshes],
                [next_refresh.at for next_refresh in next_refreshes],
                [next_refresh.since for next_refresh in next_refreshes],
            ],
        )


RESCHEDULE = f"""
    update accesses a set next_refresh_at = case when {IS_REFRESHED} then %(next)s::timestamptz end,
        scheduled_since = case when {IS_REFRESHED} then %(now)s else a.scheduled_since end
    where a.user_id = %(user)s and a.id = %(access)s and {IS_REFRESHED} <> (a.next_refresh_at is not null)
"""


async def reschedule(connection: Connection, user_id: UUID, access_id: str, now: datetime, next_at: datetime) -> None:
    """Begin or end the refreshing of an access, where what is known of it has changed. Writes nothing else."""
    await connection.execute(RESCHEDULE, {"user": user_id, "access": access_id, "now": now, "next": next_at})


async def advance_refresh(connection: Connection, user_id: UUID, access_id: str, at: datetime) -> None:
    """Look at an access that is refreshed no later than at this time."""
    await connection.execute(
        "update accesses set next_refresh_at = least(next_refresh_at, %s)"
        " where user_id = %s and id = %s and next_refresh_at is not null",
        [at, user_id, access_id],
    )


async def postpone(connection: Connection, user_id: UUID, access_id: str, at: datetime) -> None:
    await connection.execute(
        "update accesses set next_refresh_at = %s where user_id = %s and id = %s and next_refresh_at is not null",
        [at, user_id, access_id],
    )


UNSCHEDULED = f"""
    select a.user_id, a.id from all_accesses a
    where a.next_refresh_at is null and a.refresh_pause is null and a.is_synced and a.has_credentials
        and a.operator_paused_at is null and a.form_session_id is null and {IS_ACTIVE}
        and (a.user_id = %(user)s or %(user)s::uuid is null)
    limit %(batch)s for update of a skip locked
"""


async def list_unscheduled(connection: Connection, batch: int, user_id: UUID | None = None) -> list[tuple[UUID, str]]:
    """Accesses, of everybody or of one user, that should be refreshed and have no time yet. Locks them."""
    cursor = await connection.execute(UNSCHEDULED, {"batch": batch, "user": user_id}, prepare=False)
    return [(row[0], row[1]) for row in await cursor.fetchall()]


FORGET_FAR = """
    update all_accesses a set next_refresh_at = null from (
        select user_id, id from all_accesses where next_refresh_at > %s limit %s for update skip locked) far
    where a.user_id = far.user_id and a.id = far.id
"""


async def clear_far_refreshes(connection: Connection, after: datetime, batch: int) -> int:
    """Nobody looks later than at the next slot, unless the clock was set back: those are scheduled anew."""
    cursor = await connection.execute(FORGET_FAR, [after, batch])
    return cursor.rowcount


async def stop_user(connection: Connection, user_id: UUID) -> None:
    """A deactivated user. Rows that somebody else holds now are left: whoever looks at them next sees it."""
    await connection.execute(
        """
        update accesses a set next_refresh_at = null from (
            select id from accesses where user_id = %(user)s and next_refresh_at is not null
            order by id for update skip locked) own
        where a.user_id = %(user)s and a.id = own.id
        """,
        {"user": user_id},
    )


# Pauses


async def pause(connection: Connection, user_id: UUID, access_id: str, reason: RefreshPause) -> None:
    await connection.execute(
        "update accesses set refresh_pause = %s, next_refresh_at = null where user_id = %s and id = %s"
        " and (refresh_pause is distinct from %s or next_refresh_at is not null)",
        [str(reason), user_id, access_id, str(reason)],
    )


EQUAL = """
    lease_key = %(lease)s and (credentials_digest = (
            select own.credentials_digest from all_accesses own where own.user_id = %(user)s and own.id = %(access)s)
        or (user_id = %(user)s and id = %(access)s))
"""
LOCK_EQUAL = f"select 1 from all_accesses where {EQUAL} for no key update nowait"
PAUSE_EQUAL = f"""
    update all_accesses set refresh_pause = 'CREDENTIALS', next_refresh_at = null where {EQUAL}
        and (refresh_pause is distinct from 'CREDENTIALS' or next_refresh_at is not null)
"""


async def pause_equal_credentials(connection: Connection, lease_key: bytes, user_id: UUID, access_id: str) -> None:
    """This access and every other with the very same credentials, whoever's: three wrong PINs would lock them.

    Not those with the same login and another PIN: whoever knows a login could stop them for others.

    Raises RowsLockedError when somebody else holds one of them: waiting for it with another one locked could last for
    ever.
    """
    refused = {"lease": lease_key, "user": user_id, "access": access_id}
    try:
        await connection.execute(LOCK_EQUAL, refused)
    except errors.LockNotAvailable:
        raise RowsLockedError from None
    await connection.execute(PAUSE_EQUAL, refused)


async def resume(
    connection: Connection, user_id: UUID, access_id: str, reasons: Sequence[RefreshPause] = tuple(RefreshPause)
) -> bool:
    """The reason for a pause is gone; `reschedule` then finds the next time. False when there was no such pause."""
    cursor = await connection.execute(
        "update accesses set refresh_pause = null where user_id = %s and id = %s and refresh_pause = any(%s)",
        [user_id, access_id, [str(reason) for reason in reasons]],
    )
    return cursor.rowcount == 1


async def resume_equal_credentials(connection: Connection, user_id: UUID, access_id: str) -> None:
    """These credentials have worked: accesses that have the very same ones need not wait any longer.

    What somebody else holds now stays paused; the next success frees it.
    """
    await connection.execute(
        """
        update all_accesses a set refresh_pause = null from (
            select o.user_id, o.id from all_accesses own join all_accesses o on o.lease_key = own.lease_key
            where own.user_id = %s and own.id = %s and o.credentials_digest = own.credentials_digest
                and o.refresh_pause = 'CREDENTIALS'
            for update of o skip locked) same
        where a.user_id = same.user_id and a.id = same.id
        """,
        [user_id, access_id],
    )


# Calls


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What decides, directly before a bank is called, whether it is."""

    provider_id: UUID
    consent_until: date | None
    is_refreshed: bool
    is_callable: bool
    calls: Sequence[datetime]  # that count for the budget
    has_outage: bool  # its provider failed lately
    pause: RefreshPause | None


LOCK_FOR_CALL = "select 1 from accesses where user_id = $1 and id = $2 for update"
READ_FOR_CALL = f"""
    select a.provider_id, a.consent_until, {IS_REFRESHED}, a.credentials is not null and {IS_ACTIVE},
        array(select c.called_at from unattended_calls c
            where c.user_id = a.user_id and c.access_id = a.id and c.called_at > $3 and c.called_at <= $4),
        exists (select 1 from provider_outages o where o.provider_id = a.provider_id), a.refresh_pause
    from accesses a where a.user_id = $1 and a.id = $2
"""


async def lock_for_call(connection: Connection, user_id: UUID, access_id: str) -> bool:
    """Locks the access, so that nobody else counts its calls meanwhile. False when it is gone."""
    note_lock(Lock.ACCESS, user_id, access_id)
    return await fetch_row(connection, LOCK_FOR_CALL, [user_id, access_id]) is not None


async def read_call_facts(connection: Connection, user_id: UUID, access_id: str, now: datetime) -> CallFacts:
    """The access is locked, and `now` is later than that: no call that counts is missing."""
    row: Any = await fetch_row(connection, READ_FOR_CALL, [user_id, access_id, now - BUDGET_PERIOD, now + CLOCK_SKEW])
    pause = None if row[-1] is None else RefreshPause(row[-1])
    return CallFacts(*[*row[:-1], pause])


async def list_calls(connection: Connection, user_id: UUID, access_id: str, now: datetime) -> list[datetime]:
    """Those that count for the budget."""
    cursor = await connection.execute(
        "select called_at from unattended_calls where user_id = %s and access_id = %s"
        " and called_at > %s and called_at <= %s",
        [user_id, access_id, now - BUDGET_PERIOD, now + CLOCK_SKEW],
    )
    return [row[0] for row in await cursor.fetchall()]


async def record_call(
    connection: Connection, user_id: UUID, access_id: str, called_at: datetime, payment_id: UUID
) -> None:
    """A call that looks up a payment, whose id is stored as `fetch_id`. Those of fetches are recorded as they start."""
    await connection.execute(
        "insert into unattended_calls (user_id, access_id, called_at, fetch_id) values (%s, %s, %s, %s)"
        " on conflict do nothing",
        [user_id, access_id, called_at, payment_id],
    )


async def delete_old_calls(connection: Connection, before: datetime, batch: int) -> int:
    cursor = await connection.execute(
        "delete from all_unattended_calls where place = any(array("
        "select place from all_unattended_calls where called_at < %s limit %s))",
        [before, batch],
    )
    return cursor.rowcount


# Consents


@dataclass(frozen=True, slots=True)
class EndingConsent:
    user_id: UUID
    access_id: str
    consent_until: date


CLAIM_ENDING = f"""
    update all_accesses a set consent_warned_for = a.consent_until from (
        select a.user_id, a.id from all_accesses a
        where a.consent_until is not null and a.consent_warned_for is distinct from a.consent_until
            and a.consent_until >= %s and a.consent_until <= %s and a.is_synced
            and a.form_session_id is null and {IS_ACTIVE}
        order by a.consent_until limit %s for update of a skip locked) ending
    where a.user_id = ending.user_id and a.id = ending.id
    returning a.user_id, a.id, a.consent_until
"""


async def claim_ending_consents(connection: Connection, today: date, batch: int) -> list[EndingConsent]:
    """Consents that end soon and whose tenants were not told yet; from now on they count as told."""
    cursor = await connection.execute(CLAIM_ENDING, [today, today + RENEWAL_PERIOD, batch])
    return [EndingConsent(*row) for row in await cursor.fetchall()]
