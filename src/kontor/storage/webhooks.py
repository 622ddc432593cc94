"""Webhooks of a tenant. Every query of an administrator names the tenant."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from kontor.domain.webhooks import EventType, Webhook
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock

COLUMNS = (
    "id, tenant_id, url, events, description, is_active, is_gone, last_serial, secrets is not null as has_secret,"
    " created_at"
)


def _webhook(row: Sequence[Any]) -> Webhook:
    own_id, tenant_id, url, events, *others = row
    return Webhook(own_id, tenant_id, url, tuple(EventType(event) for event in events), *others)


async def lock_tenant(connection: Connection, tenant_id: UUID) -> int:
    """How many webhooks the tenant has; nobody adds one until the end of the transaction."""
    await connection.execute("select 1 from tenants where id = %s for no key update", [tenant_id])
    cursor = await connection.execute("select count(*) from webhooks where tenant_id = %s", [tenant_id])
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def insert_webhook(connection: Connection, webhook: Webhook, wrapping_key_id: UUID, secrets: bytes) -> None:
    await connection.execute(
        "insert into webhooks (id, tenant_id, url, events, description, is_active, wrapping_key_id, secrets,"
        " created_at) values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            webhook.id,
            webhook.tenant_id,
            webhook.url,
            [str(event) for event in webhook.events],
            webhook.description,
            webhook.is_active,
            wrapping_key_id,
            secrets,
            webhook.created_at,
        ],
    )


async def list_webhooks(connection: Connection, tenant_id: UUID) -> list[Webhook]:
    cursor = await connection.execute(
        f"select {COLUMNS} from webhooks where tenant_id = %s order by created_at, id", [tenant_id]
    )
    return [_webhook(row) for row in await cursor.fetchall()]


async def find_webhook(connection: Connection, tenant_id: UUID, webhook_id: UUID) -> Webhook | None:
    cursor = await connection.execute(
        f"select {COLUMNS} from webhooks where tenant_id = %s and id = %s", [tenant_id, webhook_id]
    )
    row = await cursor.fetchone()
    return None if row is None else _webhook(row)


async def lock_webhook(connection: Connection, tenant_id: UUID, webhook_id: UUID) -> Webhook | None:
    """As `find_webhook`; no event is published to it until the end of the transaction."""
    note_lock(Lock.WEBHOOK, webhook_id)
    cursor = await connection.execute(
        f"select {COLUMNS} from webhooks where tenant_id = %s and id = %s for update", [tenant_id, webhook_id]
    )
    row = await cursor.fetchone()
    return None if row is None else _webhook(row)


async def update_webhook(connection: Connection, webhook: Webhook) -> None:
    await connection.execute(
        "update webhooks set url = %s, events = %s, description = %s, is_active = %s, is_gone = %s"
        " where tenant_id = %s and id = %s",
        [
            webhook.url,
            [str(event) for event in webhook.events],
            webhook.description,
            webhook.is_active,
            webhook.is_gone,
            webhook.tenant_id,
            webhook.id,
        ],
    )


async def delete_webhook(connection: Connection, tenant_id: UUID, webhook_id: UUID) -> None:
    """Its deliveries go with it; the jobs of open ones must have been removed before."""
    await connection.execute("delete from webhooks where tenant_id = %s and id = %s", [tenant_id, webhook_id])


# Secrets


async def find_secrets(connection: Connection, webhook_id: UUID) -> tuple[UUID, bytes, bool] | None:
    """(wrapping key, sealed secrets, does the previous one still sign), of a webhook that was found before."""
    cursor = await connection.execute(
        "select wrapping_key_id, secrets, coalesce(previous_until > now(), false) from webhooks"
        " where id = %s and secrets is not null",
        [webhook_id],
    )
    row = await cursor.fetchone()
    return None if row is None else (row[0], row[1], row[2])


async def replace_secrets(
    connection: Connection, webhook_id: UUID, wrapping_key_id: UUID, secrets: bytes, previous_seconds: float | None
) -> None:
    """`previous_seconds` is how long the one before still signs."""
    await connection.execute(
        "update webhooks set wrapping_key_id = %s, secrets = %s,"
        " previous_until = now() + make_interval(secs => %s::float8) where id = %s",
        [wrapping_key_id, secrets, previous_seconds, webhook_id],
    )


# Publishing


async def lock_subscribed_webhooks(
    connection: Connection, user_ids: list[UUID], types: list[str]
) -> list[tuple[UUID, UUID, tuple[str, ...], int]]:
    """Active webhooks that want any of the types, for users of their tenant: (webhook, user, types, last serial).

    Locked in the order of their ids: nobody else counts on until the end of the transaction, and nobody waits for who
    waits for him.
    """
    note_lock(Lock.WEBHOOK)
    cursor = await connection.execute(
        "select w.id, u.id, w.events, w.last_serial from webhooks w join users u on u.tenant_id = w.tenant_id"
        " where u.id = any(%s) and w.is_active and w.events && %s order by w.id, u.id for update of w",
        [user_ids, types],
    )
    return [(row[0], row[1], tuple(row[2]), row[3]) for row in await cursor.fetchall()]


async def set_last_serial(connection: Connection, webhook_id: UUID, serial: int) -> None:
    await connection.execute("update webhooks set last_serial = %s where id = %s", [serial, webhook_id])


# Delivering


async def lock_called(connection: Connection, webhook_id: UUID) -> Webhook | None:
    """A webhook that a worker has called, as it is now."""
    note_lock(Lock.WEBHOOK, webhook_id)
    cursor = await connection.execute(f"select {COLUMNS} from webhooks where id = %s for update", [webhook_id])
    row = await cursor.fetchone()
    return None if row is None else _webhook(row)


async def note_gone(connection: Connection, webhook_id: UUID) -> None:
    """The receiver wants no more. The row is locked."""
    await connection.execute("update webhooks set is_active = false, is_gone = true where id = %s", [webhook_id])
