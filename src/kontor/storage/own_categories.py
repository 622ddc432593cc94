"""Categories that users have made."""

from uuid import UUID

from kontor.domain.own_categories import OwnCategory
from kontor.storage.database import Connection
from kontor.storage.tags import ROW_COLUMNS, TAG_COLUMNS, TaggedRow, make_row

CATEGORY_COLUMNS = "system_id, system_name, display_name, basis, description"


async def list_categories(connection: Connection, user_id: UUID) -> list[OwnCategory]:
    cursor = await connection.execute(
        f"select {CATEGORY_COLUMNS} from own_categories where user_id = %s order by created_at, system_id", [user_id]
    )
    return [OwnCategory(*row) for row in await cursor.fetchall()]


async def insert_category(connection: Connection, user_id: UUID, category: OwnCategory) -> None:
    await connection.execute(
        f"insert into own_categories (user_id, {CATEGORY_COLUMNS}) values (%s, %s, %s, %s, %s, %s)",
        [
            user_id,
            category.system_id,
            category.system_name,
            category.name,
            category.basis,
            category.description,
        ],
    )


async def update_category(connection: Connection, user_id: UUID, category: OwnCategory) -> None:
    await connection.execute(
        "update own_categories set display_name = %s, basis = %s, description = %s"
        " where user_id = %s and system_id = %s",
        [category.name, category.basis, category.description, user_id, category.system_id],
    )


async def delete_category(connection: Connection, user_id: UUID, system_id: int) -> None:
    await connection.execute("delete from own_categories where user_id = %s and system_id = %s", [user_id, system_id])


async def list_tagged(connection: Connection, user_id: UUID, system_name: str) -> list[TaggedRow]:
    """Transactions that have this own category."""
    cursor = await connection.execute(
        f"select t.product_id, t.id, {ROW_COLUMNS}, {TAG_COLUMNS}"
        " from transaction_tags g join lateral (select * from transactions where user_id = %(user)s"
        " and product_id = g.product_id and id = g.transaction_id limit 1) t on true"
        " where g.user_id = %(user)s and g.own_category = %(name)s",
        {"user": user_id, "name": system_name},
    )
    return [make_row(row) for row in await cursor.fetchall()]
