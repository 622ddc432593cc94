"""Transactions with their tags: the JSON object of each row as PostgreSQL writes it, and its tags beside it."""

from functools import lru_cache
from itertools import repeat
from uuid import UUID

from psycopg import sql

from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.domain.searches import Window
from kontor.storage.database import Connection, fetch_row
from kontor.storage.transactions import page_object, page_query, page_values


@lru_cache(maxsize=64)
def _view_query(
    fields: tuple[JsonField, ...],
    columns: tuple[TagColumns, ...],
    *,
    has_times: bool,
    has_cursor: bool,
    has_ids: bool = True,
) -> str:
    """All rows as one: a thousand take twice as long to read. No object contains the end of a line."""
    names = [*(["id"] if has_ids else []), *(name for pair in columns for name in pair)]
    read = [sql.SQL("array_agg({})").format(sql.Identifier(name)) for name in names]
    return (
        sql.SQL(
            "select convert_to(string_agg(object, e'\\n'), 'UTF8'), count(*) - count(document), {} from ("
            " select {} as object, page.id, page.document, g.* from ({}) page"
            " left join lateral (select * from transaction_tags where user_id = $1 and product_id = $2"
            " and transaction_id = page.id limit 1) g on true"
            " order by page.booked_on desc, page.ordinal desc) shown"
        )
        .format(
            sql.SQL(", ").join(read),
            page_object(fields),
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
    *,
    has_ids: bool = True,
) -> tuple[list[TagRow], int]:
    """The rows of a page, and how many of their objects are not stored. Ids are None where they are not needed."""
    has_times, has_cursor, values = page_values(user_id, product_id, window)
    query = _view_query(fields, columns, has_times=has_times, has_cursor=has_cursor, has_ids=has_ids)
    row = await fetch_row(connection, query, values, binary=True)
    assert row is not None
    if row[0] is None:
        return [], 0
    objects, stale, *read = row
    ids = () if has_ids else (repeat(None),)
    return list(zip(objects.split(b"\n"), *ids, *read, strict=False)), stale
