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
}


@lru_cache(maxsize=64)
def object_expression(fields: tuple[JsonField, ...]) -> sql.Composed:
    """An SQL expression that yields the JSON object of a row as text. `concat` leaves out what is null."""
    parts: list[sql.Composable] = []
    for number, field in enumerate(fields):
        value = sql.SQL(SHOWN[field.show]).format(sql.Identifier(field.column))
        start = sql.Literal(("{" if number == 0 else ",") + f'"{field.key}":')
        if field.inside is not None:
            start = sql.Literal(f',"{field.key}":{{"{field.inside}":')
            value = sql.SQL("{} || '}}'").format(value)
        parts.append(sql.SQL("{} || {}").format(start, value))
    return sql.SQL("concat({}, '}}')").format(sql.SQL(", ").join(parts))
