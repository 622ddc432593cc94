"""A booking on an account, as a bank reports it."""

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from kontor.domain.clocks import BERLIN

MAX_AMOUNT = Decimal("999999999999999999.99")
MAX_TEXT_LENGTH = 4000
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
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


@dataclass(frozen=True, slots=True)
class Transaction:
    """One booking as fetched.

    `purpose` is the statement's text as the bank sent it, SEPA tags (`EREF+`, `MREF+`, `CRED+`, `SVWZ+`) included:
    they are evidence for the analysis. `bank_id` is the bank's own id where it gives a stable one.
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


def find_day(one: Transaction) -> date | None:
    """The day of booking (or else of value) as the bank's customer sees it."""
    at = one.booked_at or one.value_at
    return None if at is None else at.astimezone(BERLIN).date()


def clean_transaction(one: Transaction) -> Transaction | None:
    """The row as it can be stored: printable texts, the amount in cents. None if it is beyond help."""
    if not one.amount.is_finite() or abs(one.amount) > MAX_AMOUNT or find_day(one) is None:
        return None
    changes: dict[str, Any] = {}
    if one.amount.as_tuple().exponent != -2:
        changes["amount"] = one.amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
    for name in _TEXTS:
        text = getattr(one, name)
        if text is not None and (len(text) > MAX_TEXT_LENGTH or _UNPRINTABLE.search(text)):
            changes[name] = _UNPRINTABLE.sub("", text)[:MAX_TEXT_LENGTH]
    return replace(one, **changes) if changes else one
