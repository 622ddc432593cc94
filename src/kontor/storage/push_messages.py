"""Alerts that are still to be sent to browsers: one row per alert and browser, gone when it is sent or given up."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from kontor.domain.alerts import AlertKind
from kontor.storage.database import Connection

INSERT = """
    insert into push_messages (user_id, id, subscription_id, alert_id, kind)
    select s.user_id, gen_random_uuid(), s.id, a.id, %(kind)s
    from push_subscriptions s cross join unnest(%(alerts)s::uuid[]) as a (id)
    where s.user_id = %(user)s and (s.kinds is null or %(kind)s = any(s.kinds))
"""
CLAIM = """
    update all_push_messages set due_at = now() + make_interval(secs => %(seconds)s), attempts = attempts + 1,
        begun_at = coalesce(begun_at, now())
    where (user_id, id) in (select user_id, id from all_push_messages where due_at <= now() order by due_at, id
        limit %(limit)s for update skip locked)
    returning user_id, id, attempts, extract(epoch from now() - begun_at)::float8
"""


@dataclass(frozen=True, slots=True)
class ClaimedMessage:
    """Ours for one call."""

    user_id: UUID
    id: UUID
    attempts: int
    elapsed_seconds: float


@dataclass(frozen=True, slots=True)
class PushMessage:
    subscription_id: UUID
    alert_id: UUID
    kind: AlertKind


async def insert_messages(connection: Connection, user_id: UUID, kind: AlertKind, alert_ids: Sequence[UUID]) -> None:
    """In the transaction that makes the alerts, for each browser that is told of this kind."""
    if alert_ids:
        await connection.execute(INSERT, {"user": user_id, "kind": str(kind), "alerts": list(alert_ids)})


async def claim_messages(connection: Connection, limit: int, seconds: float) -> list[ClaimedMessage]:
    """Those that are due. Another worker takes them when the time is over, unless they are finished."""
    cursor = await connection.execute(CLAIM, {"limit": limit, "seconds": seconds})
    return [ClaimedMessage(*row) for row in await cursor.fetchall()]


async def find_message(connection: Connection, user_id: UUID, own_id: UUID) -> PushMessage | None:
    cursor = await connection.execute(
        "select subscription_id, alert_id, kind from push_messages where user_id = %s and id = %s", [user_id, own_id]
    )
    row = await cursor.fetchone()
    return None if row is None else PushMessage(row[0], row[1], AlertKind(row[2]))


async def delete_message(connection: Connection, user_id: UUID, own_id: UUID) -> None:
    await connection.execute("delete from push_messages where user_id = %s and id = %s", [user_id, own_id])


async def postpone_message(connection: Connection, user_id: UUID, own_id: UUID, seconds: float) -> None:
    await connection.execute(
        "update push_messages set due_at = now() + make_interval(secs => %s) where user_id = %s and id = %s",
        [seconds, user_id, own_id],
    )
