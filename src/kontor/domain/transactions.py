"""A booking on an account, as a bank reports it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from kontor.domain.cleaning import clean_amount, clean_text
from kontor.domain.clocks import find_banking_day

FIRST_YEAR, LAST_YEAR = 1900, 2200
_CURRENCY = re.compile("[A-Z]{3}")
_TEXTS = (
    "purpose",
    "booking_text",
    "gv_code",
    "prima_nota",
    "counterparty_name",
    "counterparty_iban",
    "counterparty_bic",
    "ultimate_counterparty",
    "bank_id",
)
_read_texts = attrgetter(*_TEXTS)


@dataclass(frozen=True, slots=True)
class Transaction:
    """One booking as fetched.

    `purpose` is the statement's text as the bank sent it, SEPA tags (`EREF+`, `MREF+`, `CRED+`, `SVWZ+`) included:
    they are evidence for the analysis. `bank_id` is the bank's own id where it gives a stable one. `channel` is the
    form in which the row came (`MT940`, `camt.052`, `XS2A` …): ids of the bank are comparable within one channel only.
    """

    amount: Decimal
    currency: str
    booked_at: datetime | None
    value_at: datetime | None = None
    purpose: str | None = None
    booking_text: str | None = None
    gv_code: str | None = None
    prima_nota: str | None = None
    counterparty_name: str | None = None
    counterparty_iban: str | None = None
    counterparty_bic: str | None = None
    ultimate_counterparty: str | None = None
    bank_id: str | None = None
    is_pending: bool = False
    channel: str | None = None


def find_day(transaction: Transaction) -> date | None:
    """The day of booking (or else of value) as the bank's customer sees it."""
    at = transaction.booked_at or transaction.value_at
    return None if at is None else find_banking_day(at)


def mark_channel(rows: Iterable[Transaction], channel: str) -> tuple[Transaction, ...]:
    """These rows as they came through a channel."""
    return tuple(replace(row, channel=channel) for row in rows)


def clean_transaction(transaction: Transaction) -> Transaction | None:
    """The row as it can be stored: printable texts, the amount in cents. None if it is beyond help."""
    booked_at, value_at = transaction.booked_at, transaction.value_at
    if booked_at is None and value_at is None:
        return None
    if booked_at is not None and not FIRST_YEAR <= booked_at.year <= LAST_YEAR:
        return None
    if value_at is not None and not FIRST_YEAR <= value_at.year <= LAST_YEAR:
        return None
    amount = clean_amount(transaction.amount)
    if amount is None or not _CURRENCY.fullmatch(transaction.currency):
        return None
    changes: dict[str, Any] = {} if amount is transaction.amount else {"amount": amount}
    texts = _read_texts(transaction)
    together = "".join(filter(None, texts))
    if clean_text(together) is not together:  # nearly all texts are clean, and one look is enough for that
        for name, text in zip(_TEXTS, texts, strict=True):
            if text is not None and (cleaned := clean_text(text)) is not text:
                changes[name] = cleaned
    return replace(transaction, **changes) if changes else transaction
