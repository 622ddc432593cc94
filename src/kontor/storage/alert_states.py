"""When the alerts of a user are looked for: after a fetch, once a day, and when the user asks (ADR 0064)."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock

CLAIM = """
    update all_alert_states set due_at = %(until)s where user_id in (select user_id from all_alert_states
        where due_at <= %(now)s order by due_at limit 1 for update skip locked)
    returning user_id
"""


@dataclass(frozen=True, slots=True)
class AlertState:
    """What the last look has seen; None before the first one, and where something else has changed since."""

    due_at: datetime
    data_version: int | None
    checked_on: date | None


async def find_state(connection: Connection, user_id: UUID) -> AlertState | None:
    cursor = await connection.execute(
        "select due_at, data_version, checked_on from alert_states where user_id = %s", [user_id]
    )
    row = await cursor.fetchone()
    return None if row is None else AlertState(*row)


async def add_state(connection: Connection, user_id: UUID, now: datetime) -> None:
    """From now on background work looks for alerts of this user."""
    await connection.execute(
        "insert into alert_states (user_id, due_at) values (%s, %s) on conflict do nothing", [user_id, now]
    )


async def lock_due(connection: Connection, user_id: UUID) -> datetime | None:
    """Whoever compares alerts with their causes does so alone. None when the user is gone."""
    note_lock(Lock.ALERT_STATE, user_id)
    cursor = await connection.execute("select due_at from alert_states where user_id = %s for update", [user_id])
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def mark_due(connection: Connection, user_id: UUID, now: datetime) -> None:
    """Something has changed. Nothing for a user who has never asked for alerts."""
    note_lock(Lock.ALERT_STATE, user_id)
    await connection.execute(
        "update alert_states set due_at = %s, data_version = null where user_id = %s", [now, user_id]
    )


async def claim_due(connection: Connection, now: datetime, lease: timedelta) -> UUID | None:
    """A user whose alerts are to be looked for now. Another worker looks after the lease, unless it is finished."""
    cursor = await connection.execute(CLAIM, {"now": now, "until": now + lease})
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def finish_check(connection: Connection, user_id: UUID, state: AlertState) -> None:
    """The caller holds the lock of `lock_due`."""
    await connection.execute(
        "update alert_states set due_at = %s, data_version = %s, checked_on = %s where user_id = %s",
        [state.due_at, state.data_version, state.checked_on, user_id],
    )
