"""Lists of bookings as statements, for dialects that send no fields: one report for each currency of the account."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from kontor.demobank.statements import write_camt052, write_mt940
from kontor.demobank.xs2a.aspsp import AccountSnapshot
from kontor.demobank.xs2a.dialects import CAMT
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

_REPORT = re.compile(b"<Rpt>.*</Rpt>", re.DOTALL)


def write_list(media: str, holding: AccountSnapshot, rows: Sequence[Transaction], day: date) -> bytes:
    """Up to `day`. Of what is pending MT940 says nothing."""
    pieces = [_write_piece(media, pocket, holding, rows, day) for pocket in _list_pockets(holding.product)]
    if media != CAMT:
        return b"".join(pieces)
    reports = b"".join(report[0] for piece in pieces if (report := _REPORT.search(piece)))
    return _REPORT.sub(lambda _: reports, pieces[0])


def _list_pockets(product: Product) -> list[Product]:
    """An account as one for each currency, each with its balance."""
    return [replace(product, currency=pocket.currency, balance=pocket.balance) for pocket in product.balances] or [
        product
    ]


def _write_piece(
    media: str, pocket: Product, holding: AccountSnapshot, rows: Sequence[Transaction], day: date
) -> bytes:
    shown = [row for row in reversed(rows) if row.currency == pocket.currency]
    later = [row for row in holding.list_rows() if row.currency == pocket.currency and (find_day(row) or day) > day]
    closing = (pocket.balance or Decimal(0)) - sum((row.amount for row in later if not row.is_pending), Decimal(0))
    opening = closing - sum((row.amount for row in shown if not row.is_pending), Decimal(0))
    if media == CAMT:
        return write_camt052(pocket, shown, opening, day=day)
    return write_mt940(pocket, shown, opening, day=day)
