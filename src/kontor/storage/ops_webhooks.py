"""What an operator sees of webhooks: all tenants', and how many notifications wait or were given up."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from kontor.domain.operator_views import DeliveryCounts
from kontor.domain.operators import RECENT
from kontor.domain.webhooks import EventType, Webhook
from kontor.storage import webhooks
from kontor.storage.database import Connection

COLUMNS = webhooks.COLUMNS


async def count_deliveries(connection: Connection, tenant_id: UUID | None) -> DeliveryCounts:
    cursor = await connection.execute(
        """
        select
            (select count(*) from webhook_deliveries d where d.state = 'PENDING' and (%(tenant)s::uuid is null
                or exists (select 1 from webhooks w where w.id = d.webhook_id and w.tenant_id = %(tenant)s))),
            (select count(*) from webhook_deliveries d where d.state = 'DISCARDED'
                and d.finished_at > now() - %(recent)s and (%(tenant)s::uuid is null
                or exists (select 1 from webhooks w where w.id = d.webhook_id and w.tenant_id = %(tenant)s)))
        """,
        {"tenant": tenant_id, "recent": RECENT},
        prepare=False,
    )
    row = await cursor.fetchone()
    assert row is not None
    return DeliveryCounts(row[0], row[1])


async def list_webhooks(
    connection: Connection, tenant_id: UUID | None, after: tuple[str, UUID], limit: int
) -> list[tuple[str, Webhook]]:
    """With the names of their tenants, in the order of these."""
    cursor = await connection.execute(
        f"select t.name, w.* from (select {COLUMNS} from webhooks) w join tenants t on t.id = w.tenant_id"
        " where (%(tenant)s::uuid is null or t.id = %(tenant)s) and (t.name, w.id) > (%(after)s, %(after_id)s)"
        " order by t.name, w.id limit %(limit)s",
        {"tenant": tenant_id, "after": after[0], "after_id": after[1], "limit": limit},
    )
    return [(row[0], Webhook(*_with_types(row[1:]))) for row in await cursor.fetchall()]


async def find_webhook(connection: Connection, tenant_id: UUID | None, webhook_id: UUID) -> Webhook | None:
    cursor = await connection.execute(
        f"select {COLUMNS} from webhooks where id = %(id)s and (%(tenant)s::uuid is null or tenant_id = %(tenant)s)",
        {"id": webhook_id, "tenant": tenant_id},
    )
    row = await cursor.fetchone()
    return None if row is None else Webhook(*_with_types(row))


def _with_types(row: Sequence[Any]) -> list[Any]:
    return [*row[:3], tuple(EventType(event) for event in row[3]), *row[4:]]
