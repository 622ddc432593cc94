"""A user's accounts as a bookkeeper sees them: what was there at first and at last, and transfers booked once."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations
from uuid import UUID

from kontor.domain.clocks import BERLIN
from kontor.domain.exports import ExportRow
from kontor.domain.stored_products import StoredProduct
from kontor.domain.tags import fold_iban
from kontor.services.statements.exports import Exports, Span
from kontor.services.statements.imports import Owner

EURO = "EUR"
# The two banks of a transfer book it on days of their own.
TRANSFER_DAYS = 10


@dataclass(frozen=True, slots=True)
class Ledger:
    """An account within a span. Without a stored balance, or outside of what is known, there is no opening."""

    product: StoredProduct
    currency: str
    opened_on: date | None = None
    opening: Decimal = Decimal(0)
    closed_on: date | None = None
    closing: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Transfer:
    """Money between two accounts of the user; only one side where the other has no booking for it."""

    sent: ExportRow | None
    received: ExportRow | None


async def read_ledger(exports: Exports, owner: Owner, stored: StoredProduct, span: Span) -> Ledger:
    product = stored.product
    currency = product.currency or EURO
    if product.balance is None:
        return Ledger(stored, currency)
    known = (product.balance_at or stored.updated_at).astimezone(BERLIN).date()
    sums = await exports.sum_up(owner, stored.id, currency, known, span)
    since, until = span.days
    end = min(until, max(known, sums.newest or known))
    if end < since or (product.category.is_depot and not since <= known <= until):
        return Ledger(stored, currency)
    start = product.balance - sums.until_known
    return Ledger(stored, currency, sums.first or end, start + sums.before, end, start + sums.until_end)


def find_own_ibans(products: Sequence[StoredProduct]) -> dict[str, UUID]:
    """The user's accounts by IBAN. One that came through two accesses counts once."""
    by_iban: dict[str, UUID] = {}
    for stored_product in products:
        iban = fold_iban(stored_product.product.iban)
        if iban:
            by_iban.setdefault(iban, stored_product.id)
    return by_iban


async def page_transfers(
    exports: Exports, owner: Owner, span: Span, own: dict[str, UUID]
) -> AsyncIterator[list[Transfer]]:
    """Transfers between the user's accounts, two accounts at a time."""
    for (first_iban, first_id), (second_iban, second_id) in combinations(own.items(), 2):
        rows = await exports.list_transfers(owner, span, (first_id, second_id), (first_iban, second_iban))
        if rows:
            yield pair_transfers(rows)


def pair_transfers(rows: Sequence[ExportRow]) -> list[Transfer]:
    """Each booking with its other half: the same amount on the other account, some days apart at most."""
    transfers: list[Transfer] = []
    waiting: dict[tuple[Decimal, str], list[ExportRow]] = {}
    for row in sorted(rows, key=lambda row: (row.day, row.ordinal)):
        others = waiting.setdefault((abs(row.amount), row.currency), [])
        half = next((other for other in others if _is_other_half(other, row)), None)
        if half is None:
            others.append(row)
        else:
            others.remove(half)
            transfers.append(Transfer(row, half) if row.amount < 0 else Transfer(half, row))
    alone = [row for others in waiting.values() for row in others]
    return transfers + [Transfer(row, None) if row.amount < 0 else Transfer(None, row) for row in alone]


def _is_other_half(row: ExportRow, other: ExportRow) -> bool:
    return (
        row.product_id != other.product_id
        and row.amount == -other.amount
        and abs(row.day - other.day) <= timedelta(days=TRANSFER_DAYS)
    )
