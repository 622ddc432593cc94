"""Bookings of credit cards (DKKKU, DIKKU): a private business of German banks, not in the public specification."""

from decimal import Decimal

from kontor.demobank.fints.segments import Segment, Writable, make_segment
from kontor.domain.clocks import BERLIN
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction

LINES = 9
LINE_CHARACTERS = 50
MERCHANT_CATEGORY = "5999"
BROKEN_CARD_ROWS = (("KAPUTT", "20260231"), ("KAPUTT",))


def write_card_page(order: Segment, product: Product, page: tuple[Transaction, ...]) -> Segment:
    """Today's balance, which each page repeats, and one group for each booking."""
    balance = product.balance or Decimal(0)
    day = None if product.balance_at is None else product.balance_at.astimezone(BERLIN).date()
    head = (_sign(balance), balance, product.currency or "EUR", day)
    rows = [_describe_row(product, row) for row in page]
    return make_segment("DIKKU", order.version, product.account_number, None, head, None, None, *rows)


def _sign(amount: Decimal) -> str:
    return "D" if amount < 0 else "C"


def _describe_row(product: Product, row: Transaction) -> tuple[Writable, ...]:
    bought, booked = (None if at is None else at.astimezone(BERLIN).date() for at in (row.value_at, row.booked_at))
    amount = (row.amount, row.currency, _sign(row.amount))
    return (
        product.account_number,
        bought or booked,
        None if row.is_pending else booked,
        None,
        *amount,
        Decimal(1),
        *amount,
        *_write_lines(row),
        not row.is_pending,
        row.bank_id,
        MERCHANT_CATEGORY if row.counterparty_name else None,
    )


def _write_lines(row: Transaction) -> list[str]:
    """The merchant has the first line."""
    text = row.purpose or ""
    lines = [row.counterparty_name[:LINE_CHARACTERS]] if row.counterparty_name else []
    lines += [text[start : start + LINE_CHARACTERS] for start in range(0, len(text), LINE_CHARACTERS)]
    return (lines + [""] * LINES)[:LINES]
