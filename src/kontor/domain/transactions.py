"""A booking on an account, as a bank reports it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


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
