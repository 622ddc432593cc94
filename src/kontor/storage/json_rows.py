"""Ready JSON from PostgreSQL: long lists are encoded where the rows are, without an object per row in between.

The caller (`wire`) says which key shows which column and how; this file knows only SQL. The object is stored beside the
row (`documents`, ADR 0058), and is read from there as long as it is the one that would be written now.
"""

import zlib
from functools import lru_cache

from psycopg import sql

from kontor.domain.json_fields import JsonField, Show

SHOWN = {
    Show.TEXT: "to_json({})::text",
    Show.NUMBER: "{}::text",
    Show.PLAIN: "'\"' || {} || '\"'",
    Show.TIMESTAMP: "'\"' || left(({} at time zone 'Europe/Berlin')::text, 19) || '\"'",  # to_char takes twice as long
    Show.TRUE_ONLY: "case when {} then 'true' end",
    Show.SORT_KEY: "'\"' || replace(booked_on::text, '-', '') || lpad({}::text, 12, '0') || '\"'",
    Show.OBJECTS: (
        "case when {} is not null then (select '[' || string_agg({}, ',' order by number) || ']'"
        " from jsonb_array_elements({}) with ordinality as entries (entry, number)) end"
    ),
}
IS_CURRENT = "coalesce(document_version = changed_version and document_format = {}, false)"


@lru_cache(maxsize=64)
def object_expression(fields: tuple[JsonField, ...]) -> sql.Composed:
    """An SQL expression that yields the JSON object of a row as text: the stored one, or else a new one."""
    stored, added = list_stored(fields), tuple(field for field in fields if not field.is_stored)
    document = sql.SQL("case when {} then document else {} end").format(
        current_condition(stored), fresh_expression(stored)
    )
    if not added:
        return document
    return sql.SQL("concat(left({}, -1), {}, '}}')").format(document, sql.SQL(", ").join(_write_pairs(added, ",")))


def list_stored(fields: tuple[JsonField, ...]) -> tuple[JsonField, ...]:
    return tuple(field for field in fields if field.is_stored)


@lru_cache(maxsize=16)
def find_format(stored: tuple[JsonField, ...]) -> int:
    """A number of how objects of these fields are written: objects that were written otherwise have another one."""
    return zlib.crc32(fresh_expression(stored).as_string().encode()) - 2**31


def current_condition(stored: tuple[JsonField, ...]) -> sql.Composed:
    """Is the stored object the one of the row as it is now? Whatever changes what is shown raises `changed_version`."""
    return sql.SQL(IS_CURRENT).format(sql.Literal(find_format(stored)))


@lru_cache(maxsize=16)
def fresh_expression(stored: tuple[JsonField, ...]) -> sql.Composed:
    """The object as it follows from the row. `concat` leaves out what is null."""
    return sql.SQL("concat({}, '}}')").format(sql.SQL(", ").join(_write_pairs(stored, "{")))


def _write_pairs(fields: tuple[JsonField, ...], opening: str) -> list[sql.Composable]:
    parts: list[sql.Composable] = []
    for number, field in enumerate(fields):
        column = sql.Identifier(field.column)
        places: tuple[sql.Composable, ...] = (column,)
        if field.show is Show.OBJECTS:
            places = (column, _entry_expression(field.entries), column)
        value = sql.SQL(SHOWN[field.show]).format(*places)
        start = sql.Literal((opening if number == 0 else ",") + f'"{field.key}":')
        if field.inside is not None:
            start = sql.Literal(f',"{field.key}":{{"{field.inside}":')
            value = sql.SQL("{} || '}}'").format(value)
        parts.append(sql.SQL("{} || {}").format(start, value))
    return parts


def _entry_expression(entries: tuple[tuple[str, str], ...]) -> sql.Composed:
    """The JSON object of an entry of an array. Keys that the entry does not have are left out."""
    parts = [
        sql.SQL("{} || (entry -> {})::text").format(
            sql.Literal(("{" if number == 0 else ",") + f'"{key}":'), sql.Literal(name)
        )
        for number, (key, name) in enumerate(entries)
    ]
    return sql.SQL("concat({}, '}}')").format(sql.SQL(", ").join(parts))
