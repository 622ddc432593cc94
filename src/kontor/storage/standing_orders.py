"""Standing orders of a customer's accounts."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from kontor.domain.payments import Order
from kontor.domain.schedules import Schedule
from kontor.domain.standing_orders import StandingOrder, StoredStandingOrder
from kontor.storage.database import Connection

COLUMNS = "id, product_id, details, schedule, bank_key, is_listed"


def _order(row: Sequence[Any]) -> StoredStandingOrder:
    order, schedule = msgspec.convert(row[2], Order), msgspec.convert(row[3], Schedule)
    return StoredStandingOrder(row[0], row[1], StandingOrder(order, schedule, row[4]), row[5])


async def list_orders(connection: Connection, user_id: UUID, product_id: UUID) -> list[StoredStandingOrder]:
    cursor = await connection.execute(
        f"select {COLUMNS} from standing_orders where user_id = %s and product_id = %s order by created_at, id",
        [user_id, product_id],
    )
    return [_order(row) for row in await cursor.fetchall()]


async def find_order(
    connection: Connection, user_id: UUID, product_id: UUID, order_id: UUID
) -> StoredStandingOrder | None:
    cursor = await connection.execute(
        f"select {COLUMNS} from standing_orders where user_id = %s and product_id = %s and id = %s",
        [user_id, product_id, order_id],
    )
    row = await cursor.fetchone()
    return None if row is None else _order(row)


async def insert_order(connection: Connection, user_id: UUID, order: StoredStandingOrder) -> None:
    """Nothing where it is stored already, or where its product was deleted meanwhile."""
    standing = order.standing
    await connection.execute(
        "insert into standing_orders (user_id, product_id, id, bank_key, details, schedule, is_listed)"
        " select user_id, id, %s, %s, %s, %s, %s from products where user_id = %s and id = %s on conflict do nothing",
        [
            order.id,
            standing.key,
            Jsonb(msgspec.to_builtins(standing.order)),
            Jsonb(msgspec.to_builtins(standing.schedule)),
            order.is_listed,
            user_id,
            order.product_id,
        ],
    )


async def update_order(connection: Connection, user_id: UUID, order: StoredStandingOrder) -> None:
    standing = order.standing
    await connection.execute(
        "update standing_orders set bank_key = %s, details = %s, schedule = %s, is_listed = %s, changed_at = now()"
        " where user_id = %s and id = %s",
        [
            standing.key,
            Jsonb(msgspec.to_builtins(standing.order)),
            Jsonb(msgspec.to_builtins(standing.schedule)),
            order.is_listed,
            user_id,
            order.id,
        ],
    )
