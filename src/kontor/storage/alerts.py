"""Alerts of users: one per cause, and at most one open one of a kind and object (ADR 0064)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kontor.domain.alerts import (
    KEPT_DAYS,
    MAX_OPEN,
    Alert,
    AlertFacts,
    AlertKind,
    AlertObject,
    AlertStatus,
    Cause,
    ObjectKind,
)
from kontor.storage.database import Connection
from kontor.storage.push_messages import insert_messages
from kontor.storage.user_binding import bind_transaction

CAUSE_COLUMNS = "kind, object_kind, object_id, access_id, cause, amount, currency, name, day, amount_before"
# One whose cause is gone is done, whatever the user has set.
STATUS = "case when ended_at is null then status else 'DONE' end"
# Older ones are gone for everybody, although some rows are still there.
IS_SHOWN = "created_at > now() - make_interval(days => %(days)s)"
# An event has no cause that could be gone.
IS_OLD = "(ended_at is not null or kind = 'PARTS_REMOVED') and created_at < now() - make_interval(days => %(days)s)"


@dataclass(frozen=True, slots=True)
class KnownAlert:
    """A row, also one that is no longer shown."""

    id: UUID
    cause: Cause
    is_ended: bool
    is_open: bool


async def list_alerts(
    connection: Connection, user_id: UUID, status: AlertStatus | None = None, limit: int | None = None
) -> list[Alert]:
    """The newest first."""
    cursor = await connection.execute(
        f"select id, {STATUS}, created_at, {CAUSE_COLUMNS} from alerts where user_id = %(user)s and {IS_SHOWN}"
        f" and (%(status)s::text is null or {STATUS} = %(status)s) order by created_at desc, id limit %(limit)s",
        {"user": user_id, "days": KEPT_DAYS, "status": status, "limit": limit},
    )
    return [Alert(row[0], _make_cause(row[3:]), AlertStatus(row[1]), row[2]) for row in await cursor.fetchall()]


async def find_alert(connection: Connection, user_id: UUID, alert_id: UUID) -> Alert | None:
    """In a transaction it is locked."""
    cursor = await connection.execute(
        f"select id, {STATUS}, created_at, {CAUSE_COLUMNS} from alerts"
        f" where user_id = %(user)s and id = %(id)s and {IS_SHOWN} for update",
        {"user": user_id, "id": alert_id, "days": KEPT_DAYS},
    )
    row = await cursor.fetchone()
    return None if row is None else Alert(row[0], _make_cause(row[3:]), AlertStatus(row[1]), row[2])


async def set_status(connection: Connection, user_id: UUID, alert_id: UUID, status: AlertStatus) -> None:
    await connection.execute(
        "update alerts set status = %s where user_id = %s and id = %s", [status, user_id, alert_id]
    )


async def list_known(connection: Connection, user_id: UUID) -> list[KnownAlert]:
    cursor = await connection.execute(
        f"select id, ended_at is not null, ended_at is null and status <> 'DONE' and {IS_SHOWN}, {CAUSE_COLUMNS}"
        " from alerts where user_id = %(user)s",
        {"user": user_id, "days": KEPT_DAYS},
    )
    return [KnownAlert(row[0], _make_cause(row[3:]), row[1], row[2]) for row in await cursor.fetchall()]


async def insert_alert(connection: Connection, user_id: UUID, alert_id: UUID, cause: Cause) -> None:
    """The caller has locked the user's data. No other one of this kind and object is open, and none has this cause."""
    await connection.execute(
        f"insert into alerts (user_id, id, {CAUSE_COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            user_id,
            alert_id,
            cause.kind,
            cause.object.kind,
            cause.object.id,
            cause.object.access_id,
            cause.key,
            cause.amount,
            cause.currency,
            cause.facts.name,
            cause.facts.day,
            cause.facts.amount_before,
        ],
    )


async def renew_alert(connection: Connection, user_id: UUID, alert_id: UUID, cause: Cause) -> None:
    """Its cause holds, perhaps again, with other amounts or names."""
    await connection.execute(
        "update alerts set ended_at = null, access_id = %s, amount = %s, currency = %s, name = %s, day = %s,"
        " amount_before = %s where user_id = %s and id = %s",
        [
            cause.object.access_id,
            cause.amount,
            cause.currency,
            cause.facts.name,
            cause.facts.day,
            cause.facts.amount_before,
            user_id,
            alert_id,
        ],
    )


async def end_alerts(connection: Connection, user_id: UUID, ids: Sequence[UUID]) -> None:
    """Their causes are gone."""
    await connection.execute(
        "update alerts set ended_at = now() where user_id = %s and id = any(%s)", [user_id, list(ids)]
    )


# Parts that a refresh has removed


async def note_parts_removed(connection: Connection, user_id: UUID, product_id: UUID, ids: Sequence[UUID]) -> None:
    """The bank has changed the amount of these transactions. The caller has locked the user's data."""
    objects = [f"{product_id}/{transaction_id}" for transaction_id in ids]
    await connection.execute(
        "update alerts set ended_at = now() where user_id = %s and kind = 'PARTS_REMOVED' and ended_at is null"
        " and object_id = any(%s)",
        [user_id, objects],
    )
    cursor = await connection.execute(
        "select count(*) from alerts where user_id = %(user)s and kind = 'PARTS_REMOVED' and ended_at is null"
        f" and status <> 'DONE' and {IS_SHOWN}",
        {"user": user_id, "days": KEPT_DAYS},
    )
    row = await cursor.fetchone()
    assert row is not None
    cursor = await connection.execute(
        f"insert into alerts (user_id, id, {CAUSE_COLUMNS})"
        " select t.user_id, gen_random_uuid(), 'PARTS_REMOVED', 'TRANSACTION', t.product_id || '/' || t.id,"
        " p.access_id, gen_random_uuid(), t.amount, t.currency, t.counterparty_name, t.booked_on, null"
        " from transactions t join products p on p.user_id = t.user_id and p.id = t.product_id"
        " where t.user_id = %s and t.product_id = %s and t.id = any(%s) returning id",
        [user_id, product_id, list(ids)[: MAX_OPEN - row[0]]],
    )
    made = [row[0] for row in await cursor.fetchall()]
    await insert_messages(connection, user_id, AlertKind.PARTS_REMOVED, made)


async def end_parts_removed(connection: Connection, user_id: UUID) -> None:
    """The user has split the transaction again, or it is gone."""
    await connection.execute(
        "update alerts set ended_at = now() where user_id = %(user)s and kind = 'PARTS_REMOVED' and ended_at is null"
        " and not exists (select 1 from transactions t where t.user_id = %(user)s and t.parts is null"
        " and t.product_id = split_part(alerts.object_id, '/', 1)::uuid"
        " and t.id = split_part(alerts.object_id, '/', 2)::uuid)",
        {"user": user_id},
    )


# What is gone


async def delete_of_access(connection: Connection, user_id: UUID, access_id: str) -> None:
    await connection.execute("delete from alerts where user_id = %s and access_id = %s", [user_id, access_id])


async def delete_old_alerts(connection: Connection) -> bool:
    """Of one user, those whose cause is gone. False when nobody has old ones."""
    cursor = await connection.execute(
        "select user_id from all_old_alerts(now() - make_interval(days => %s))", [KEPT_DAYS]
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    await bind_transaction(connection, row[0])
    await connection.execute(
        f"delete from alerts where user_id = %(user)s and {IS_OLD}", {"user": row[0], "days": KEPT_DAYS}
    )
    return True


# What alerts are about


async def find_products(
    connection: Connection, user_id: UUID, product_ids: Sequence[UUID], ids: Sequence[str]
) -> dict[str, UUID]:
    """The products of transactions."""
    cursor = await connection.execute(
        "select id::text, product_id from transactions"
        " where user_id = %s and product_id = any(%s) and id = any(%s::uuid[])",
        [user_id, list(product_ids), list(ids)],
    )
    return dict(await cursor.fetchall())


def _make_cause(row: Sequence[Any]) -> Cause:
    kind, object_kind, object_id, access_id, key, amount, currency, *facts = row
    place = AlertObject(ObjectKind(object_kind), object_id, access_id)
    return Cause(AlertKind(kind), place, key, amount, currency, AlertFacts(*facts))
