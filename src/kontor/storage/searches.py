"""Transactions of a product that fit what somebody looks for, in either order. The plain list has queries of its own.

No index is needed: the rows are read in their order and the reading stops when the page is full.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from psycopg import sql

from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.domain.own_categories import is_own_name
from kontor.domain.searches import Filters, Position, Window
from kontor.storage.database import Connection, fetch_rows
from kontor.storage.json_rows import object_expression

# Umlauts are found however they are spelled, on either side.
SPELLINGS = (("ae", "ä", "Ä"), ("oe", "ö", "Ö"), ("ue", "ü", "Ü"), ("ss", "ß", "ẞ"))
_UMLAUT = re.compile("|".join(spelling for spellings in SPELLINGS for spelling in spellings), re.IGNORECASE)
_PATTERNS = {spelling: f"(?:{'|'.join(spellings)})" for spellings in SPELLINGS for spelling in spellings}
# They stand within `case`: the planner then takes every second row to fit, reads in order, and looks up the ids of a
# category in a table made once. Left to its own guess (hardly any row) it reads and sorts everything.
WORDS = (
    "case when concat_ws(' ', counterparty_name, purpose, booking_text, counterparty_iban) ~* all({}::text[])"
    " then true else false end"
)
AMOUNT_FROM = "case when amount >= {} then true else false end"
AMOUNT_TO = "case when amount <= {} then true else false end"
SINCE = "coalesce(booked_at, value_at) >= {}"
UNTIL = "coalesce(booked_at, value_at) < {}"
# A transaction that is split has the categories of its parts.
OF_CATEGORIES = (
    "case when parts is not null then array(select part ->> 'category' from jsonb_array_elements(parts) part)"
    " && {}::text[] when id in (select transaction_id from transaction_tags where user_id = $1 and product_id = $2"
    " and category = any({})) then true else false end"
)
OF_OWN_CATEGORY = (
    "case when parts is not null then array(select part ->> 'own_category' from jsonb_array_elements(parts) part)"
    " && {}::text[] when id in (select transaction_id from transaction_tags where user_id = $1 and product_id = $2"
    " and own_category = any({})) then true else false end"
)
BEFORE = "(booked_on, ordinal) < ({}, {})"
AFTER = "(booked_on, ordinal) > ({}, {})"


def make_pattern(word: str) -> str:
    """A regular expression of PostgreSQL that finds the word as it stands."""
    pieces, end = [], 0
    for match in _UMLAUT.finditer(word):
        pieces += [re.escape(word[end : match.start()]), _PATTERNS.get(match[0]) or _PATTERNS[match[0].lower()]]
        end = match.end()
    return "".join([*pieces, re.escape(word[end:])])


def has_own(categories: Sequence[str] | None) -> bool:
    return categories is not None and any(map(is_own_name, categories))


def _list_conditions(window: Window, filters: Filters) -> tuple[tuple[str, ...], list[Any]]:
    of_categories = OF_OWN_CATEGORY if has_own(filters.categories) else OF_CATEGORIES
    asked: list[tuple[str, tuple[Any, ...] | None]] = [
        (SINCE, None if window.since is None else (window.since,)),
        (UNTIL, None if window.until is None else (window.until,)),
        (AFTER if filters.is_ascending else BEFORE, window.cursor),
        (of_categories, None if filters.categories is None else (list(filters.categories),) * 2),
        (AMOUNT_FROM, None if filters.min_amount is None else (filters.min_amount,)),
        (AMOUNT_TO, None if filters.max_amount is None else (filters.max_amount,)),
        (WORDS, ([make_pattern(word) for word in filters.words],) if filters.words else None),
    ]
    taken = [(condition, values) for condition, values in asked if values is not None]
    return tuple(condition for condition, _ in taken), [value for _, values in taken for value in values]


@lru_cache(maxsize=256)
def _search_query(
    fields: tuple[JsonField, ...], columns: tuple[TagColumns, ...], conditions: tuple[str, ...], *, is_ascending: bool
) -> str:
    """Placeholders: user, product, limit; then those of the conditions, in their order."""
    number, parts = 4, []
    for condition in conditions:
        count = condition.count("{}")
        places = [sql.SQL(f"${place}") for place in range(number, number + count)]
        parts.append(sql.SQL(" and ") + sql.SQL(condition).format(*places))
        number += count
    order = sql.SQL("booked_on, ordinal" if is_ascending else "booked_on desc, ordinal desc")
    page = sql.SQL("select * from transactions where user_id = $1 and product_id = $2{} order by {} limit $3").format(
        sql.Composed(parts), order
    )
    asked = [sql.SQL(", ") + sql.Identifier("g", name) for pair in columns for name in pair]
    tags = sql.SQL(
        " left join lateral (select * from transaction_tags where user_id = $1 and product_id = $2"
        " and transaction_id = page.id limit 1) g on true"
    )
    return (
        sql.SQL("select convert_to({}, 'UTF8'), page.id{}, page.booked_on, page.ordinal from ({}) page{} order by {}")
        .format(object_expression(fields), sql.Composed(asked), page, tags if columns else sql.SQL(""), order)
        .as_string()
    )


async def search_rows(
    connection: Connection,
    user_id: UUID,
    product_id: UUID,
    window: Window,
    filters: Filters,
    fields: tuple[JsonField, ...],
    columns: tuple[TagColumns, ...],
) -> tuple[list[TagRow], Position | None]:
    """The rows of a page (JSON object, id, tag columns), and where the next page begins, if there is one."""
    assert window.limit is not None
    conditions, values = _list_conditions(window, filters)
    query = _search_query(fields, columns, conditions, is_ascending=filters.is_ascending)
    # One more than asked for tells whether anything follows.
    rows = await fetch_rows(connection, query, [user_id, product_id, window.limit + 1, *values], binary=True)
    following = None
    if len(rows) > window.limit:
        rows.pop()
        following = (rows[-1][-2], rows[-1][-1])
    return [row[:-2] for row in rows], following
