"""Account statements as SWIFT MT940, bookings to come as MT942, with `:86:` as German banks fill it."""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby

from kontor.demobank.statements.swift_texts import LINE_END, cut_text, make_swift_text, write_number, write_short_date
from kontor.domain.clocks import BERLIN
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

PURPOSE_FIELDS = (*range(20, 30), *range(60, 64))
PURPOSE_WIDTH = NAME_WIDTH = 27
LINE_WIDTH = 65
# A SEPA tag begins a subfield of its own.
_TAG = re.compile(r" (?=(?:EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC)\+)")
_DIRECT_DEBITS = frozenset(("104", "105", "107", "108", "109", "171", "174", "181", "184", "193", "195", "197"))


def write_mt940(
    product: Product,
    transactions: Sequence[Transaction],
    opening: Decimal,
    *,
    day: date,
    sequence: int = 1,
    closing: Decimal | None = None,
) -> bytes:
    """One statement per booking day, each opening with the balance the one before closed with.

    What is pending is left out: that is for `write_mt942`. Without any booking there is one empty statement for `day`.
    `closing` is the balance at the end, if it does not follow from the transactions.
    """
    booked = sorted(
        (transaction for transaction in transactions if not transaction.is_pending),
        key=lambda transaction: find_day(transaction) or day,
    )
    days = [(at, list(rows)) for at, rows in groupby(booked, key=lambda row: find_day(row) or day)] or [(day, [])]
    currency, balance = product.currency or "EUR", opening
    text = ""
    for number, (at, rows) in enumerate(days, sequence):
        after = balance + sum((row.amount for row in rows), Decimal(0))
        if closing is not None and at == days[-1][0]:
            after = closing
        lines = [
            ":20:STARTUMSE",
            f":25:{_write_account(product)}",
            f":28C:{number % 100_000:05d}/001",
            f":60F:{_write_balance(balance, currency, at if rows else day)}",
            *_write_entries(rows, at),
            f":62F:{_write_balance(after, currency, at)}",
            "-",
        ]
        text += LINE_END + LINE_END.join(lines)
        balance = after
    return text.encode("latin-1") + LINE_END.encode()


def write_mt942(product: Product, transactions: Sequence[Transaction], *, day: date, sequence: int = 1) -> bytes:
    """What is pending among the transactions, as an interim report of `day`."""
    pending = [transaction for transaction in transactions if transaction.is_pending]
    currency = product.currency or "EUR"
    debits = [transaction.amount for transaction in pending if transaction.amount < 0]
    credits = [transaction.amount for transaction in pending if transaction.amount >= 0]
    lines = [
        "",
        ":20:STARTDISPE",
        f":25:{_write_account(product)}",
        f":28C:{sequence % 100_000:05d}/001",
        f":34F:{currency}0,",
        f":13D:{write_short_date(day)}0000+0100",
        *_write_entries(pending, day),
        f":90D:{len(debits)}{currency}{write_number(sum(debits, Decimal('0.00')))}",
        f":90C:{len(credits)}{currency}{write_number(sum(credits, Decimal('0.00')))}",
        "-",
        "",
    ]
    return LINE_END.join(lines).encode("latin-1")


def _write_account(product: Product) -> str:
    number = product.account_number or product.iban or product.key
    return make_swift_text(f"{product.bank_code or '00000000'}/{number}")[:35]


def _write_balance(balance: Decimal, currency: str, day: date) -> str:
    return f"{'D' if balance < 0 else 'C'}{write_short_date(day)}{currency}{write_number(balance)}"


def _write_entries(rows: Iterable[Transaction], day: date) -> list[str]:
    lines = []
    for row in rows:
        booked_on = find_day(row) or day
        value_on = booked_on if row.value_at is None else row.value_at.astimezone(BERLIN).date()
        mark = ("D" if row.amount < 0 else "C") + row.currency[2]
        kind = "NDDT" if row.gv_code in _DIRECT_DEBITS else "NTRF"
        reference = f"//{make_swift_text(row.bank_id)[-16:]}" if row.bank_id else ""
        dates = f"{write_short_date(value_on)}{booked_on:%m%d}"
        lines.append(f":61:{dates}{mark}{write_number(row.amount)}{kind}NONREF{reference}")
        lines += _write_details(row)
    return lines


def _write_details(transaction: Transaction) -> list[str]:
    """Field 86. Lines break between subfields, so that no text begins a line with a colon or a dash."""
    fields = [
        ("00", make_swift_text(transaction.booking_text or "")[:27]),
        ("10", make_swift_text(transaction.prima_nota or "")[:10]),
    ]
    fields += zip(map(str, PURPOSE_FIELDS), _cut_purpose(transaction), strict=False)
    fields += [
        ("30", make_swift_text(transaction.counterparty_bic or "")[:12]),
        ("31", make_swift_text(transaction.counterparty_iban or "")[:34]),
        *zip(("32", "33"), cut_text(make_swift_text(transaction.counterparty_name or ""), NAME_WIDTH, 2), strict=False),
    ]
    lines = [f":86:{transaction.gv_code or '000'}"]
    for number, text in sorted(fields):
        if text:
            piece = f"?{number}{text}"
            if len(lines[-1]) + len(piece) > LINE_WIDTH:
                lines.append(piece)
            else:
                lines[-1] += piece
    return lines


def _cut_purpose(transaction: Transaction) -> list[str]:
    purpose = make_swift_text(transaction.purpose or "")
    if transaction.ultimate_counterparty and "ABWA+" not in purpose and "ABWE+" not in purpose:
        tag = "ABWE" if transaction.amount < 0 else "ABWA"
        purpose = f"{purpose} {tag}+{make_swift_text(transaction.ultimate_counterparty)}".lstrip()
    return [piece for part in _TAG.split(purpose) for piece in cut_text(part, PURPOSE_WIDTH, len(PURPOSE_FIELDS))]
