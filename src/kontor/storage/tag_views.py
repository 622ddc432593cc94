"""Transactions with their tags: the JSON object of each row as PostgreSQL writes it, and its tags beside it."""

from functools import lru_cache
from uuid import UUID

from psycopg import sql

from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.domain.searches import Window
from kontor.storage.database import Connection, fetch_rows
from kontor.storage.transactions import page_object, page_query, page_values


@lru_cache(maxsize=64)
def _view_query(
    fields: tuple[JsonField, ...], columns: tuple[TagColumns, ...], *, has_times: bool, has_cursor: bool
) -> str:
    asked = [sql.Identifier("g", name) for pair in columns for name in pair]
    return (
        sql.SQL(
            "select convert_to({}, 'UTF8'), page.id, {}, page.document is null from ({}) page"
            " left join lateral (select * from transaction_tags where user_id = $1 and product_id = $2"
            " and transaction_id = page.id limit 1) g on true"
            " order by page.booked_on desc, page.ordinal desc"
        )
        .format(
            page_object(fields),
            sql.SQL(", ").join(asked),
            page_query(fields, has_times=has_times, has_cursor=has_cursor),
        )
        .as_string()
    )


async def list_tag_rows(
    connection: Connection,
    user_id: UUID,
    product_id: UUID,
    window: Window,
    fields: tuple[JsonField, ...],
    columns: tuple[TagColumns, ...],
) -> tuple[list[TagRow], int]:
    """The rows of a page, and how many of their objects are not stored."""
    has_times, has_cursor, values = page_values(user_id, product_id, window)
    query = _view_query(fields, columns, has_times=has_times, has_cursor=has_cursor)
    rows = await fetch_rows(connection, query, values, binary=True)
    return [row[:-1] for row in rows], sum(row[-1] for row in rows)
