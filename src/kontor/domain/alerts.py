"""What users are told of their own accord: something ends, rises, is missing or needs them (ADR 0064)."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from kontor.domain.errors import InvalidError

MAX_OPEN = 50  # of a kind
KEPT_DAYS = 90
NOTICE_WARNING = timedelta(days=30)  # before the last day of notice of a contract


class AlertKind(StrEnum):
    CONSENT_ENDS = "CONSENT_ENDS"
    BANK_NEEDS_USER = "BANK_NEEDS_USER"
    PRICE_RISE = "PRICE_RISE"
    UNUSUAL_DEBIT = "UNUSUAL_DEBIT"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    BALANCE_LOW = "BALANCE_LOW"
    BALANCE_MISMATCH = "BALANCE_MISMATCH"
    CONTRACT_NOTICE = "CONTRACT_NOTICE"
    PARTS_REMOVED = "PARTS_REMOVED"


# A refresh writes these down as it happens; all others follow from the data as it is.
EVENTS = frozenset({AlertKind.PARTS_REMOVED})


class AlertStatus(StrEnum):
    """In the order in which an alert passes through them."""

    NEW = "NEW"
    READ = "READ"
    DONE = "DONE"

    @property
    def order(self) -> int:
        return list(AlertStatus).index(self)


class ObjectKind(StrEnum):
    ACCESS = "ACCESS"
    PRODUCT = "PRODUCT"
    TRANSACTION = "TRANSACTION"
    CONTRACT = "CONTRACT"
    BUDGET = "BUDGET"


@dataclass(frozen=True, slots=True)
class AlertObject:
    """What an alert is about. `id` is unique among the user's objects of this kind; a transaction's has its product's.

    `access_id` is the access that the data comes from: with it the alert is deleted.
    """

    kind: ObjectKind
    id: str
    access_id: str | None = None


@dataclass(frozen=True, slots=True)
class AlertFacts:
    """What the text names; None where it names no such thing."""

    name: str | None = None
    day: date | None = None
    amount_before: Decimal | None = None


NO_FACTS = AlertFacts()


@dataclass(frozen=True, slots=True)
class Cause:
    """Why there is an alert. The same `key` is told once; of a kind and an object, one cause holds at a time."""

    kind: AlertKind
    object: AlertObject
    key: str
    amount: Decimal | None = None
    currency: str = "EUR"
    facts: AlertFacts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Alert:
    id: UUID
    cause: Cause
    status: AlertStatus
    created_at: datetime


def check_step(before: AlertStatus, after: AlertStatus) -> None:
    """An alert goes forwards only. The same status again is no change."""
    if after.order < before.order:
        raise InvalidError("goes from NEU to GELESEN to ERLEDIGT, not back", "status")
