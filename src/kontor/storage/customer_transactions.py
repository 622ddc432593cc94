"""Transactions of all products of a user, in one order, narrowed and added up.

Each product is read in the order of its own index, and no further than the page needs. A transaction that repeats one
of another access is left out (ADR 0047).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from psycopg import sql

from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.domain.searches import CurrencySum, CustomerFilters, CustomerPosition
from kontor.domain.transaction_edits import SelectedRow
from kontor.storage.database import Connection, fetch_rows
from kontor.storage.json_rows import object_expression
from kontor.storage.repetitions import has_repeated
from kontor.storage.searches import AMOUNT_FROM, AMOUNT_TO, SINCE, UNTIL, WORDS, has_own, make_pattern

OF_PRODUCTS = "product_id = any({})"
INCOMING = "case when amount > 0 then true else false end"
OUTGOING = "case when amount < 0 then true else false end"
EXACTLY = "case when abs(amount) = {} then true else false end"
# A transaction that is split has the categories of its parts.
OF_CATEGORIES = (
    "case when case when parts is null then array[(select category from transaction_tags where user_id = $1"
    " and product_id = transactions.product_id and transaction_id = transactions.id)]"
    " else array(select part ->> 'category' from jsonb_array_elements(parts) part) end && {}::text[]"
    " then true else false end"
)
IN_CATEGORIES = (
    "case when parts is null then amount else (select sum((part ->> 'amount')::numeric)"
    " from jsonb_array_elements(parts) part where part ->> 'category' = any({}::text[])) end"
)
OF_OWN_CATEGORY = (
    "case when case when parts is null then array[(select own_category from transaction_tags where user_id = $1"
    " and product_id = transactions.product_id and transaction_id = transactions.id)]"
    " else array(select part ->> 'own_category' from jsonb_array_elements(parts) part) end && {}::text[]"
    " then true else false end"
)
IN_OWN_CATEGORY = (
    "case when parts is null then amount else (select sum((part ->> 'amount')::numeric)"
    " from jsonb_array_elements(parts) part where part ->> 'own_category' = any({}::text[])) end"
)
# What of a transaction counts that is found by its category.
COUNTED = {OF_CATEGORIES: IN_CATEGORIES, OF_OWN_CATEGORY: IN_OWN_CATEGORY}
COUNTS = (
    "not exists (select 1 from repeated_transactions where user_id = $1 and product_id = transactions.product_id"
    " and transaction_id = transactions.id and cardinality(flips) % 2 = 1)"
)
WITH_KEYWORD = (
    "case when exists (select 1 from unnest(keywords) keyword where lower(keyword) = lower({}::text))"
    " then true else false end"
)
# The day alone is for the index.
BEFORE = "booked_on <= {} and (booked_on, product_id, ordinal) < ({}, {}, {})"
AFTER = "booked_on >= {} and (booked_on, product_id, ordinal) > ({}, {}, {})"
PAGE = """
    select convert_to({shown}, 'UTF8'), page.id{asked}, page.product_id, page.booked_on, page.ordinal from (
        select placed.* from products p cross join lateral (
            select transactions.*, p.access_id from transactions
            where user_id = $1 and product_id = p.id{conditions} order by {inner_order} limit $2
        ) placed
        where p.user_id = $1 order by {placed_order} limit $2
    ) page{tags} order by {order}
"""
THEIR_TAGS = (
    " left join lateral (select {} from transaction_tags where user_id = $1 and product_id = page.product_id"
    " and transaction_id = page.id limit 1) g on true"
)
SUMS = """
    select currency, count(*), coalesce(sum(amount) filter (where amount > 0), 0),
        coalesce(sum(amount) filter (where amount < 0), 0), coalesce(sum(amount), 0)
    from (select currency, {counted} as amount from transactions where user_id = $1{conditions}) counted
    group by currency order by currency
"""

SELECTED = "select product_id, id, amount, currency from transactions where user_id = $1"
NEWEST_FIRST = " order by booked_on desc, product_id desc, ordinal desc"
FIND = f"{SELECTED} and case when id in (select unnest($2::uuid[])) then true else false end{NEWEST_FIRST}"


def _list_conditions(filters: CustomerFilters, *, is_paired: bool) -> tuple[tuple[str, ...], list[Any]]:
    """Conditions with places for the values, and the values."""
    of_categories = OF_OWN_CATEGORY if has_own(filters.categories) else OF_CATEGORIES
    asked: list[tuple[str, Any]] = [
        (SINCE, filters.since),
        (UNTIL, filters.until),
        (OF_PRODUCTS, None if filters.product_ids is None else list(filters.product_ids)),
        (AMOUNT_FROM, filters.min_amount),
        (AMOUNT_TO, filters.max_amount),
        (EXACTLY, filters.amount),
        (WORDS, [make_pattern(word) for word in filters.words] or None),
        (of_categories, None if filters.categories is None else list(filters.categories)),
        (WITH_KEYWORD, filters.keyword),
    ]
    taken = [(condition, value) for condition, value in asked if value is not None]
    conditions = [condition for condition, _ in taken]
    if filters.is_incoming is not None:
        conditions.append(INCOMING if filters.is_incoming else OUTGOING)
    if is_paired:
        conditions.append(COUNTS)
    return tuple(conditions), [value for _, value in taken]


def _join(conditions: tuple[str, ...], first: int) -> sql.Composed:
    """`first` is the number of the first placeholder."""
    number, parts = first, []
    for condition in conditions:
        count = condition.count("{}")
        places = [sql.SQL(f"${place}") for place in range(number, number + count)]
        parts.append(sql.SQL(" and ") + sql.SQL(condition).format(*places))
        number += count
    return sql.Composed(parts)


def _order(alias: str, direction: str) -> sql.SQL:
    return sql.SQL(", ".join(f"{alias}.{name} {direction}" for name in ("booked_on", "product_id", "ordinal")))


@lru_cache(maxsize=256)
def _page_query(
    fields: tuple[JsonField, ...], columns: tuple[TagColumns, ...], conditions: tuple[str, ...], *, is_ascending: bool
) -> str:
    direction = "asc" if is_ascending else "desc"
    names = [name for pair in columns for name in pair]
    own = dict.fromkeys(names)  # each once: two views may show the same tag
    tags = sql.SQL(THEIR_TAGS).format(sql.SQL(", ").join(map(sql.Identifier, own)))
    return (
        sql.SQL(PAGE)
        .format(
            shown=object_expression(fields),
            asked=sql.Composed([sql.SQL(", ") + sql.Identifier("g", name) for name in names]),
            conditions=_join(conditions, 3),
            inner_order=sql.SQL(f"booked_on {direction}, ordinal {direction}"),
            placed_order=_order("placed", direction),
            order=_order("page", direction),
            tags=tags if names else sql.SQL(""),
        )
        .as_string()
    )


async def list_page(
    connection: Connection,
    user_id: UUID,
    filters: CustomerFilters,
    after: CustomerPosition | None,
    limit: int,
    fields: tuple[JsonField, ...],
    columns: tuple[TagColumns, ...],
) -> tuple[list[tuple[UUID, TagRow]], CustomerPosition | None]:
    """Rows behind a position with the ids of their products, and where the next page begins, if there is one."""
    is_paired = await has_repeated(connection, user_id)
    conditions, values = _list_conditions(filters, is_paired=is_paired)
    if after is not None:
        conditions = (AFTER if filters.is_ascending else BEFORE, *conditions)
        values = [after[0], *after, *values]
    query = _page_query(fields, columns, conditions, is_ascending=filters.is_ascending)
    # One more than asked for tells whether anything follows.
    rows = await fetch_rows(connection, query, [user_id, limit + 1, *values], binary=True)
    following = None
    if len(rows) > limit:
        rows.pop()
        following = (rows[-1][-2], rows[-1][-3], rows[-1][-1])
    return [(row[-3], row[:-3]) for row in rows], following


@lru_cache(maxsize=64)
def _sums_query(conditions: tuple[str, ...]) -> str:
    counted: sql.Composable = sql.SQL("amount")
    for place, condition in enumerate(conditions, 2):  # each condition before it has one value
        if condition in COUNTED:
            counted = sql.SQL(COUNTED[condition]).format(sql.SQL(f"${place}"))
    return sql.SQL(SUMS).format(counted=counted, conditions=_join(conditions, 2)).as_string()


async def add_up(connection: Connection, user_id: UUID, filters: CustomerFilters) -> list[CurrencySum]:
    conditions, values = _list_conditions(filters, is_paired=await has_repeated(connection, user_id))
    rows = await fetch_rows(connection, _sums_query(conditions), [user_id, *values])
    return [CurrencySum(*row) for row in rows]


@lru_cache(maxsize=64)
def _selection_query(conditions: tuple[str, ...]) -> str:
    parts = [sql.SQL(SELECTED), _join(conditions, 3), sql.SQL(NEWEST_FIRST), sql.SQL(" limit $2")]
    return sql.Composed(parts).as_string()


async def select_rows(connection: Connection, user_id: UUID, filters: CustomerFilters, limit: int) -> list[SelectedRow]:
    """What the list shows with these filters, the newest first, without pages."""
    conditions, values = _list_conditions(filters, is_paired=await has_repeated(connection, user_id))
    rows = await fetch_rows(connection, _selection_query(conditions), [user_id, limit, *values])
    return [SelectedRow(*row) for row in rows]


async def find_rows(connection: Connection, user_id: UUID, ids: Sequence[UUID]) -> list[SelectedRow]:
    """Those of these transactions that are the user's, the newest first."""
    rows = await fetch_rows(connection, FIND, [user_id, list(ids)])
    return [SelectedRow(*row) for row in rows]
