"""Transactions with their tags as rows, for files that others calculate with. Pages of a product, oldest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from kontor.domain.exports import ExportRow
from kontor.domain.searches import Position
from kontor.storage.database import Connection, fetch_row, fetch_rows

COLUMNS = (
    "t.product_id, t.id, t.booked_on, t.ordinal, (t.value_at at time zone 'Europe/Berlin')::date, t.amount, t.currency,"
    " t.counterparty_name, t.counterparty_iban, t.purpose, t.booking_text, t.is_pending, g.category,"
    " g.category_confidence, g.source, g.partner, g.insurance_type, g.freelancer_category, t.note, t.keywords,"
    " array(select (part ->> 'amount')::numeric from jsonb_array_elements(t.parts) part),"
    " array(select part ->> 'category' from jsonb_array_elements(t.parts) part)"
)
TABLES = (
    "transactions t left join lateral (select * from transaction_tags where user_id = $1"
    " and product_id = t.product_id and transaction_id = t.id limit 1) g on true"
)
# The IBAN of the other account, as IBANs are compared.
OTHER_IBAN = "upper(replace(coalesce(t.counterparty_iban, ''), ' ', ''))"
LIST_ROWS = (
    f"select {COLUMNS} from {TABLES} where t.user_id = $1 and t.product_id = $2"
    " and (t.booked_on, t.ordinal) > ($3, $4) and t.booked_on <= $5"
    f" and not {OTHER_IBAN} = any($6::text[]) order by t.booked_on, t.ordinal limit $7"
)
LIST_TRANSFERS = (
    f"select {COLUMNS} from {TABLES} where t.user_id = $1 and t.booked_on between $2 and $3 and not t.is_pending"
    f" and ((t.product_id = $4 and {OTHER_IBAN} = $7) or (t.product_id = $5 and {OTHER_IBAN} = $6))"
    " order by t.booked_on, t.ordinal"
)
# How an account did: first and last day of the span, and what its balance of a known day means for both ends.
SUM_UP = """
    select min(booked_on) filter (where booked_on between $5 and $6),
        max(booked_on) filter (where booked_on between $5 and $6), max(booked_on),
        coalesce(sum(amount) filter (where booked_on <= $4), 0),
        coalesce(sum(amount) filter (where booked_on < $5), 0),
        coalesce(sum(amount) filter (where booked_on <= $6), 0)
    from transactions where user_id = $1 and product_id = $2 and currency = $3 and not is_pending
"""
# A transaction that is split has the categories of its parts.
LIST_USED = (
    f"select used.category, t.currency, min(t.booked_on) from {TABLES} cross join lateral unnest(case"
    " when t.parts is null then array[coalesce(g.category, '')]"
    " else array(select part ->> 'category' from jsonb_array_elements(t.parts) part) end) as used (category)"
    " where t.user_id = $1 and t.booked_on between $2 and $3 and not t.is_pending group by 1, 2 order by 1, 2"
)
LIST_CURRENCIES = (
    "select distinct product_id, currency from transactions"
    " where user_id = $1 and booked_on between $2 and $3 and not is_pending"
)


@dataclass(frozen=True, slots=True)
class Sums:
    """Days of bookings within a span, and sums: until the known day, before the span, until its end."""

    first: date | None
    last: date | None
    newest: date | None
    until_known: Decimal
    before: Decimal
    until_end: Decimal


async def list_rows(
    connection: Connection,
    user_id: UUID,
    product_id: UUID,
    after: Position,
    until: date,
    left_out_ibans: Sequence[str],
    limit: int,
) -> list[ExportRow]:
    """A page behind a position, without bookings with the given accounts."""
    values: list[Any] = [user_id, product_id, *after, until, list(left_out_ibans), limit]
    return [ExportRow(*row) for row in await fetch_rows(connection, LIST_ROWS, values)]


async def list_transfers(
    connection: Connection,
    user_id: UUID,
    span: tuple[date, date],
    products: tuple[UUID, UUID],
    ibans: tuple[str, str],
) -> list[ExportRow]:
    """Bookings between two accounts of the user, on either of them."""
    return [
        ExportRow(*row) for row in await fetch_rows(connection, LIST_TRANSFERS, [user_id, *span, *products, *ibans])
    ]


async def sum_up(
    connection: Connection, user_id: UUID, product_id: UUID, currency: str, known: date, span: tuple[date, date]
) -> Sums:
    row = await fetch_row(connection, SUM_UP, [user_id, product_id, currency, known, *span])
    assert row is not None
    return Sums(*row)


async def list_used(connection: Connection, user_id: UUID, span: tuple[date, date]) -> list[tuple[str, str, date]]:
    """Which categories occur in which currencies, and since when. The category is empty where there is none yet."""
    return [(row[0], row[1], row[2]) for row in await fetch_rows(connection, LIST_USED, [user_id, *span])]


async def list_currencies(connection: Connection, user_id: UUID, span: tuple[date, date]) -> list[tuple[UUID, str]]:
    """Which products have bookings in which currencies."""
    return [(row[0], row[1]) for row in await fetch_rows(connection, LIST_CURRENCIES, [user_id, *span])]
