"""Credit cards. They have no IBAN, so that banks leave them out of HKSPA, HKSAL and HKKAZ: DKKKU answers for them.

DKKKU is not in the public specification. Its answer (DIKKU, version 2) as banks send it: card number, sub number,
balance, days of the last and the next settlement, then one group for each booking:

    0 card, 1 day of purchase, 2 day of booking, 4 to 6 original amount, currency and sign, 7 exchange rate,
    8 to 10 amount, currency and sign, 11 to 19 lines of text, 20 booked (J or N), 21 reference of the bank,
    22 category of the merchant, 23 day of settlement, 25 a remark about fees
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from kontor.connectors.statements import RejectedRow
from kontor.connectors.statements.values import drop_noise, find_midnight, make_day, parse_swift_amount
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction

CHANNEL = "DKKKU"
FIRST_ROW = 5
BALANCE = 2
TEXTS = slice(11, 20)
PENDING = "N"


@dataclass(frozen=True, slots=True)
class CardStatement:
    """What a bank says about one card. `balance` is signed; pages repeat it, and any of them may lack it."""

    rows: tuple[Transaction, ...]
    rejected: tuple[RejectedRow, ...] = ()
    balance: Decimal | None = None
    balance_at: datetime | None = None


def write_page(elements: Sequence[Any]) -> bytes:
    """A segment's elements, to be kept until all pages are there."""
    return json.dumps(list(elements)).encode()


def read_card_pages(pages: Sequence[bytes]) -> CardStatement:
    rows: list[Transaction] = []
    rejected: list[RejectedRow] = []
    balances: list[tuple[Decimal, datetime | None]] = []
    for page in pages:
        elements = json.loads(page)
        balances += _read_balance(elements)
        for group in elements[FIRST_ROW:]:
            if not group:
                continue
            try:
                rows.append(_read_row(group))
            except ValueError as error:
                rejected.append(RejectedRow(None, f"Card booking {len(rows) + len(rejected) + 1}: {error}", CHANNEL))
    balance, balance_at = balances[0] if balances else (None, None)
    return CardStatement(tuple(rows), tuple(rejected), balance, balance_at)


def add_card_balance(product: Product, statement: CardStatement) -> Product:
    return replace(product, balance=statement.balance, balance_at=statement.balance_at)


def _read_balance(elements: Sequence[Any]) -> list[tuple[Decimal, datetime | None]]:
    group = elements[BALANCE] if len(elements) > BALANCE else None
    if not isinstance(group, list):
        return []
    try:
        at = _read_day(_find(group, 3))
        return [(_read_amount(group, 1, sign=0), None if at is None else find_midnight(at))]
    except ValueError:
        return []


def _read_row(group: Any) -> Transaction:
    if not isinstance(group, list):
        raise ValueError("it has one value only")
    currency = _find(group, 9)
    if not currency:
        raise ValueError("it has no currency")
    booked_on, bought_on = _read_day(_find(group, 2)), _read_day(_find(group, 1))
    if booked_on is None and bought_on is None:
        raise ValueError("it has no day")
    is_pending = booked_on is None or _find(group, 20) == PENDING
    amount = _read_amount(group, 8, sign=10)
    lines = [text.strip() for text in group[TEXTS] if text and text.strip()]
    # The monthly settlement has no merchant. Refunds have one, and its category.
    has_merchant = bool(lines) and (amount < 0 or bool(_find(group, 22)))
    purpose = [*(lines[1:] if has_merchant else lines), *_describe_exchange(group, currency), _find(group, 25)]
    return Transaction(
        amount=amount,
        currency=currency,
        booked_at=None if booked_on is None or is_pending else find_midnight(booked_on),
        value_at=find_midnight(bought_on or booked_on or date.min),
        purpose=" ".join(text for text in purpose if text) or None,
        counterparty_name=lines[0] if has_merchant else None,
        bank_id=_find(group, 21) or None,
        is_pending=is_pending,
        channel=CHANNEL,
    )


def _describe_exchange(group: Sequence[Any], currency: str) -> list[str]:
    """The amount in the currency of the purchase, unless a line has it already."""
    original, foreign, rate = _find(group, 4), _find(group, 5), _find(group, 7)
    if not original or foreign in ("", currency) or any(foreign in (text or "") for text in group[TEXTS]):
        return []
    return [f"{original.rstrip(',')} {foreign}, Kurs {rate.rstrip(',')}" if rate else f"{original} {foreign}"]


def _read_amount(group: Sequence[Any], place: int, *, sign: int) -> Decimal:
    amount = drop_noise(parse_swift_amount(_find(group, place)))
    match _find(group, sign):
        case "D":
            return -amount
        case "C":
            return amount
    raise ValueError("neither credit nor debit")


def _read_day(text: str) -> date | None:
    if not text:
        return None
    if len(text) != 8 or not text.isascii() or not text.isdigit():
        raise ValueError("this is no day")
    return make_day(int(text[:4]), int(text[4:6]), int(text[6:]))


def _find(group: Sequence[Any], place: int) -> str:
    """A value as text; banks cut off what is empty at the end."""
    value = group[place] if place < len(group) else None
    return value.strip() if isinstance(value, str) else ""
