"""The JSON object of each transaction, stored beside its row (ADR 0058).

New rows bring their object with them. Objects of rows that were changed since, or that another version of the program
has written, are not current: they are written by the query that shows them, and stored when a reader meets many.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec
import structlog
from psycopg import DatabaseError, sql

from kontor.domain.cleaning import clean_amount
from kontor.domain.clocks import BERLIN
from kontor.domain.json_fields import JsonField, Show
from kontor.storage.database import AVOID_NESTED_LOOPS, Database, execute_statement, fetch_row
from kontor.storage.json_rows import current_condition, find_format, fresh_expression, list_stored

log = structlog.get_logger(__name__)

# A reader that meets so many objects which are not current stores them, at most as many as one page has.
STALE_ROWS, FILLED_ROWS = 20, 5000
# In these years Python and PostgreSQL agree about the time in Berlin, whatever time zone data they have.
FIRST_YEAR, LAST_YEAR = 1980, 2037
# Writers of a user's rows hold this one. Nobody waits for it here: whoever has it is changing the rows just now.
LOCK = "select 1 from data_versions where user_id = $1 for update skip locked"
# The subquery makes the object: Citus refuses stable functions of columns in an update's own `set`.
FILL = """
    update transactions t
    set document = fresh.document, document_version = fresh.changed_version, document_format = {format}
    from (
        select user_id, id, changed_version, {document} as document from transactions
        where user_id = $1 and product_id = $2 and not {is_current} limit $3
    ) fresh
    where t.user_id = $1 and t.product_id = $2 and fresh.user_id = t.user_id and fresh.id = t.id
"""


class _Chosen:
    writer: "DocumentWriter | None" = None


def store_documents(fields: tuple[JsonField, ...]) -> None:
    """New rows are stored with an object of these fields from now on: the program says so when it starts."""
    _Chosen.writer = DocumentWriter(list_stored(fields))


def find_writer() -> "DocumentWriter | None":
    return _Chosen.writer


class DocumentWriter:
    """Writes the objects of new rows, literally as PostgreSQL would."""

    def __init__(self, fields: tuple[JsonField, ...]) -> None:
        self.format = find_format(fields)
        self._fields = fields
        self._columns: tuple[str, ...] = ()
        self._places: list[tuple[str, int, Callable[[Any], object] | None, str | None]] = []

    def arrange(self, columns: tuple[str, ...]) -> None:
        """Rows have these columns; all others are null as long as the row is new."""
        if columns != self._columns:
            self._columns = columns
            self._places = [
                (field.key, columns.index(field.column), _WRITTEN[field.show], field.inside)
                for field in self._fields
                if field.column in columns
            ]
            self._day = columns.index("booked_on")

    def write(self, row: Sequence[Any]) -> dict[str, object] | None:
        """None for what PostgreSQL might write otherwise."""
        shown: dict[str, object] = {}
        for key, place, convert, inside in self._places:
            value = row[place]
            if value is None:
                continue
            if convert is not None:
                value = convert((row[self._day], value)) if convert is _write_sort_key else convert(value)
                if value is None:
                    return None
                if value is False:
                    continue
            shown[key] = value if inside is None else {inside: value}
        return shown


def _write_number(amount: Decimal) -> msgspec.Raw | None:
    text = str(amount)
    if text[-3:-2] != ".":  # not in cents, as what is stored is
        if clean_amount(amount) != amount:
            return None
        text = f"{amount:.2f}"
    return None if text == "-0.00" else msgspec.Raw(text.encode())


@lru_cache(maxsize=4096)
def _write_timestamp(at: datetime) -> str | None:
    return at.astimezone(BERLIN).isoformat(" ", "seconds")[:19] if FIRST_YEAR <= at.year <= LAST_YEAR else None


def _write_sort_key(place: tuple[Any, int]) -> str:
    day, ordinal = place
    return f"{day.isoformat().replace('-', '')}{ordinal:012}"


_WRITTEN: dict[Show, Callable[[Any], object] | None] = {
    Show.TEXT: None,
    Show.PLAIN: None,
    Show.OBJECTS: None,
    Show.NUMBER: _write_number,
    Show.TIMESTAMP: _write_timestamp,
    Show.TRUE_ONLY: bool,
    Show.SORT_KEY: _write_sort_key,
}


@lru_cache(maxsize=4)
def _fill_query(fields: tuple[JsonField, ...]) -> str:
    stored = list_stored(fields)
    return (
        sql.SQL(FILL)
        .format(
            format=sql.Literal(find_format(stored)),
            document=fresh_expression(stored),
            is_current=current_condition(stored),
        )
        .as_string()
    )


async def fill_documents(database: Database, user_id: UUID, product_id: UUID, fields: tuple[JsonField, ...]) -> None:
    """Store objects that are not current; what is shown stays the same.

    It is done for a reader, who is answered also where nothing can be written.
    """
    try:
        async with database.transaction(user_id) as connection:
            if await fetch_row(connection, LOCK, [user_id]) is not None:
                await connection.execute(AVOID_NESTED_LOOPS)
                await execute_statement(connection, _fill_query(fields), [user_id, product_id, FILLED_ROWS])
    except DatabaseError as error:
        log.warning("documents.not-stored", error=type(error).__name__)
