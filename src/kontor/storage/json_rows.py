"""Ready JSON from PostgreSQL: long lists are encoded where the rows are, without an object per row in between.

The caller (`wire`) says which key shows which column and how; this file knows only SQL.
"""

from functools import lru_cache

from psycopg import sql

from kontor.domain.json_fields import JsonField, Show

SHOWN = {
    Show.TEXT: "to_json({})::text",
    Show.NUMBER: "{}::text",
    Show.PLAIN: "'\"' || {} || '\"'",
    Show.TIMESTAMP: "'\"' || left(({} at time zone 'Europe/Berlin')::text, 19) || '\"'",  # to_char takes twice as long
    Show.TRUE_ONLY: "case when {} then 'true' end",
    Show.OBJECTS: (
        "case when {} is not null then (select '[' || string_agg({}, ',' order by number) || ']'"
        " from jsonb_array_elements({}) with ordinality as entries (entry, number)) end"
    ),
}


@lru_cache(maxsize=64)
def object_expression(fields: tuple[JsonField, ...]) -> sql.Composed:
    """An SQL expression that yields the JSON object of a row as text. `concat` leaves out what is null."""
    parts: list[sql.Composable] = []
    for number, field in enumerate(fields):
        column = sql.Identifier(field.column)
        places: tuple[sql.Composable, ...] = (column,)
        if field.show is Show.OBJECTS:
            places = (column, _entry_expression(field.entries), column)
        value = sql.SQL(SHOWN[field.show]).format(*places)
        start = sql.Literal(("{" if number == 0 else ",") + f'"{field.key}":')
        if field.inside is not None:
            start = sql.Literal(f',"{field.key}":{{"{field.inside}":')
            value = sql.SQL("{} || '}}'").format(value)
        parts.append(sql.SQL("{} || {}").format(start, value))
    return sql.SQL("concat({}, '}}')").format(sql.SQL(", ").join(parts))


def _entry_expression(entries: tuple[tuple[str, str], ...]) -> sql.Composed:
    """The JSON object of an entry of an array. Keys that the entry does not have are left out."""
    parts = [
        sql.SQL("{} || (entry -> {})::text").format(
            sql.Literal(("{" if number == 0 else ",") + f'"{key}":'), sql.Literal(name)
        )
        for number, (key, name) in enumerate(entries)
    ]
    return sql.SQL("concat({}, '}}')").format(sql.SQL(", ").join(parts))
