"""Deliveries: events of a webhook with their serials, and how the calls went. These rows decide; jobs point to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from kontor.domain.payments import PaymentKind
from kontor.domain.webhooks import Delivery, DeliveryFailure, DeliveryState, Event, EventType, NewTransactions
from kontor.storage.database import Connection

COLUMNS = (
    "d.webhook_id, d.serial, d.id, d.type, d.user_id, d.access_id, d.products, d.payment_id, d.payment_kind,"
    " d.created_at, d.state, d.attempts, d.attempted_at, d.next_attempt_at, d.status, d.failure, d.data_version"
)
LIFETIME_DAYS = 30


@dataclass(frozen=True, slots=True)
class OpenDelivery:
    """A delivery as a worker finds it: where it is to go, and for how long nobody may call."""

    delivery: Delivery
    tenant_id: UUID
    tenant_name: str
    url: str
    is_active: bool
    tries: int
    elapsed_seconds: float
    wait_seconds: float


def _delivery(row: Sequence[Any]) -> Delivery:
    webhook_id, serial, own_id, kind, user_id, access_id, products, payment_id, payment_kind = row[:9]
    event = Event(
        EventType(kind),
        user_id,
        access_id,
        tuple(
            NewTransactions(UUID(product["id"]), product["count"], product.get("changed", 0), product.get("removed", 0))
            for product in products
        ),
        payment_id,
        None if payment_kind is None else PaymentKind(payment_kind),
        row[16],
    )
    created_at, state, attempts, attempted_at, next_attempt_at, status, failure = row[9:16]
    return Delivery(
        webhook_id,
        serial,
        own_id,
        event,
        created_at,
        DeliveryState(state),
        attempts,
        attempted_at,
        next_attempt_at,
        status,
        None if failure is None else DeliveryFailure(failure),
    )


async def insert_delivery(connection: Connection, webhook_id: UUID, serial: int, own_id: UUID, event: Event) -> None:
    await connection.execute(
        "insert into webhook_deliveries (webhook_id, serial, id, type, user_id, access_id, products, payment_id,"
        " payment_kind, data_version) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            webhook_id,
            serial,
            own_id,
            str(event.type),
            event.user_id,
            event.access_id,
            Jsonb(
                [
                    {
                        "id": str(product.product_id),
                        "count": product.count,
                        "changed": product.changed,
                        "removed": product.removed,
                    }
                    for product in event.products
                ]
            ),
            event.payment_id,
            None if event.payment_kind is None else str(event.payment_kind),
            event.data_version,
        ],
    )


# For the administrator, who has found the webhook among those of the tenant


async def list_deliveries(
    connection: Connection, webhook_id: UUID, state: DeliveryState | None, before_serial: int | None, limit: int
) -> list[Delivery]:
    """Newest first."""
    cursor = await connection.execute(
        f"select {COLUMNS} from webhook_deliveries d where webhook_id = %(webhook)s"
        " and (%(state)s::text is null or state = %(state)s)"
        " and (%(before)s::bigint is null or serial < %(before)s) order by serial desc limit %(limit)s",
        {
            "webhook": webhook_id,
            "state": None if state is None else str(state),
            "before": before_serial,
            "limit": limit,
        },
    )
    return [_delivery(row) for row in await cursor.fetchall()]


async def list_events(connection: Connection, webhook_id: UUID, after_serial: int, limit: int) -> list[Delivery]:
    """Oldest first."""
    cursor = await connection.execute(
        f"select {COLUMNS} from webhook_deliveries d where webhook_id = %s and serial > %s order by serial limit %s",
        [webhook_id, after_serial, limit],
    )
    return [_delivery(row) for row in await cursor.fetchall()]


async def find_oldest_serial(connection: Connection, webhook_id: UUID) -> int | None:
    cursor = await connection.execute(
        "select serial from webhook_deliveries where webhook_id = %s order by serial limit 1", [webhook_id]
    )
    row = await cursor.fetchone()
    return None if row is None else int(row[0])


async def find_delivery(connection: Connection, webhook_id: UUID, serial: int) -> Delivery | None:
    cursor = await connection.execute(
        f"select {COLUMNS} from webhook_deliveries d where webhook_id = %s and serial = %s", [webhook_id, serial]
    )
    row = await cursor.fetchone()
    return None if row is None else _delivery(row)


async def reopen_delivery(connection: Connection, webhook_id: UUID, serial: int) -> None:
    """As if the event had just happened: due at once, with all its tries before it.

    How a call ends that is being made now is of no matter any more, least of all when it would be the last.
    """
    await connection.execute(
        "update webhook_deliveries set state = 'PENDING', tries = 0, begun_at = null, next_attempt_at = now(),"
        " finished_at = null, claim = null, claimed_until = null where webhook_id = %s and serial = %s",
        [webhook_id, serial],
    )


async def list_open(connection: Connection, webhook_id: UUID) -> list[UUID]:
    cursor = await connection.execute(
        "select id from webhook_deliveries where webhook_id = %s and state = 'PENDING'", [webhook_id]
    )
    return [row[0] for row in await cursor.fetchall()]


async def discard_open(connection: Connection, webhook_id: UUID, failure: DeliveryFailure) -> None:
    """What nobody is delivering at this moment."""
    await connection.execute(
        "update webhook_deliveries set state = 'DISCARDED', failure = %s, next_attempt_at = null, finished_at = now()"
        " where id in (select id from webhook_deliveries where webhook_id = %s and state = 'PENDING'"
        " and (claimed_until is null or claimed_until <= now()) order by webhook_id, serial for update)",
        [str(failure), webhook_id],
    )


# For workers


async def lock_delivery(connection: Connection, delivery_id: UUID) -> OpenDelivery | None:
    """One that is still to be delivered. By its own id alone: a job has no other."""
    cursor = await connection.execute(
        f"select {COLUMNS}, w.tenant_id, t.name, w.url, w.is_active, d.tries,"
        " coalesce(extract(epoch from now() - d.begun_at), 0)::float8,"
        " extract(epoch from greatest(d.next_attempt_at, d.claimed_until) - now())::float8"
        " from webhook_deliveries d join webhooks w on w.id = d.webhook_id join tenants t on t.id = w.tenant_id"
        " where d.id = %s and d.state = 'PENDING' for update of d",
        [delivery_id],
    )
    row = await cursor.fetchone()
    return None if row is None else OpenDelivery(_delivery(row), *row[17:])


async def count_claimed(connection: Connection, webhook_id: UUID) -> int:
    """How many calls of this webhook are being made."""
    cursor = await connection.execute(
        "select count(*) from webhook_deliveries where webhook_id = %s and claimed_until > now()", [webhook_id]
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def claim_delivery(connection: Connection, delivery_id: UUID, claim: UUID, seconds: float) -> None:
    """Ours for one call. The row is locked. Should we die, it is free again when the time is over."""
    await connection.execute(
        "update webhook_deliveries set claim = %s, claimed_until = now() + make_interval(secs => %s),"
        " attempts = attempts + 1, tries = tries + 1, attempted_at = now(), begun_at = coalesce(begun_at, now())"
        " where id = %s",
        [claim, seconds, delivery_id],
    )


async def note_delivered(connection: Connection, delivery_id: UUID, claim: UUID, status: int) -> bool:
    """False when it is no longer ours."""
    cursor = await connection.execute(
        "update webhook_deliveries set state = 'DELIVERED', status = %s, failure = null, next_attempt_at = null,"
        " claim = null, claimed_until = null, finished_at = now() where id = %s and claim = %s",
        [status, delivery_id, claim],
    )
    return cursor.rowcount == 1


async def note_failed(
    connection: Connection,
    delivery_id: UUID,
    claim: UUID,
    status: int | None,
    failure: DeliveryFailure,
    pause_seconds: float | None,
) -> bool:
    """With a pause it is tried again after it, else it is discarded. False when it is no longer ours."""
    cursor = await connection.execute(
        "update webhook_deliveries set status = %(status)s, failure = %(failure)s, claim = null, claimed_until = null,"
        " state = case when %(pause)s::float8 is null then 'DISCARDED' else 'PENDING' end,"
        " next_attempt_at = now() + make_interval(secs => %(pause)s::float8),"
        " finished_at = case when %(pause)s::float8 is null then now() end"
        " where id = %(id)s and claim = %(claim)s and state = 'PENDING'",
        {"status": status, "failure": str(failure), "pause": pause_seconds, "id": delivery_id, "claim": claim},
    )
    return cursor.rowcount == 1


async def discard_delivery(connection: Connection, delivery_id: UUID, failure: DeliveryFailure) -> None:
    """Without a call. The row is locked."""
    await connection.execute(
        "update webhook_deliveries set state = 'DISCARDED', failure = %s, next_attempt_at = null, claim = null,"
        " claimed_until = null, finished_at = now() where id = %s",
        [str(failure), delivery_id],
    )


async def list_stranded(connection: Connection, batch: int) -> list[UUID]:
    """Long due, and no job is left that points at them. Locks them."""
    cursor = await connection.execute(
        "select d.id from webhook_deliveries d where d.state = 'PENDING'"
        " and d.next_attempt_at < now() - interval '30 seconds'"
        " and (d.claimed_until is null or d.claimed_until < now())"
        " and not exists (select 1 from pgqueuer q where q.dedupe_key = 'deliver ' || d.id"
        " and q.status in ('queued', 'picked')) order by d.next_attempt_at limit %s for update of d skip locked",
        [batch],
    )
    return [row[0] for row in await cursor.fetchall()]


# Erasure and housekeeping


async def forget_user(connection: Connection, user_id: UUID) -> None:
    """Nothing of the user stays in events; their serials do. What was still to be told is discarded."""
    # While the user's row is locked nobody publishes a further event about it.
    await connection.execute("select 1 from users where id = %s for update", [user_id])
    await connection.execute(
        "update webhook_deliveries set user_id = null, access_id = null, products = '[]', payment_id = null,"
        " payment_kind = null, finished_at = coalesce(finished_at, now()), next_attempt_at = null,"
        " failure = case when state = 'PENDING' then 'ERASED' else failure end,"
        " state = case when state = 'PENDING' then 'DISCARDED' else state end where id in"
        " (select id from webhook_deliveries where user_id = %s order by webhook_id, serial for update)",
        [user_id],
    )


async def delete_old_deliveries(connection: Connection, batch: int) -> int:
    cursor = await connection.execute(
        "delete from webhook_deliveries where (webhook_id, serial) in (select webhook_id, serial"
        " from webhook_deliveries where created_at < now() - make_interval(days => %s) and state <> 'PENDING'"
        " order by created_at limit %s)",
        [LIFETIME_DAYS, batch],
    )
    return cursor.rowcount
