"""What the demo bank hands to its books, booked orders and actions, and what it gets back: receipts."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from uuid import UUID

from kontor.domain.mandates import DebitInstruction
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.schedules import Schedule, StandingAction
from kontor.domain.transactions import Transaction


@dataclass(frozen=True, slots=True)
class BookOwner:
    """A customer of the demo bank. `key` stands for Kontor's user and the login together, `customer` for the user."""

    key: str
    customer: str


@dataclass(frozen=True, slots=True)
class Credit:
    """Money for an account; outside of the demo bank it is not followed any further."""

    iban: str
    transaction: Transaction


@dataclass(frozen=True, slots=True)
class Collection:
    """Direct debits that arrived together, with what is to be said of their mandates."""

    orders: tuple[Order, ...]
    debit: DebitInstruction


@dataclass(frozen=True, slots=True)
class ScheduledCollection:
    """Direct debits that are booked on a later day."""

    payment_id: UUID
    day: date
    collection: Collection


@dataclass(frozen=True, slots=True)
class BookedOrder:
    """A payment that arrived, already worded. With a `failure` the bank refuses it, and notes that it did.

    `entry` is what moves on the customer's own account: a debit, or of a `collection` a credit.
    """

    payment_id: UUID
    product_key: str
    booked_on: date
    entry: Transaction
    credits: tuple[Credit, ...]
    is_scheduled: bool = False
    failure: str | None = None
    detail: str | None = None
    collection: Collection | None = None


@dataclass(frozen=True, slots=True)
class ScheduledTransfer:
    """A single transfer that is booked on a later day. `purpose` is worded as on the statement."""

    payment_id: UUID
    day: date
    amount: Decimal
    currency: str
    recipient: str
    iban: str
    bic: str | None
    purpose: str


@dataclass(frozen=True, slots=True)
class StandingOrderAction:
    """What was ordered about a standing order, valid from that day on. With a `failure` the bank refuses it."""

    payment_id: UUID
    product_key: str
    name: str
    kind: StandingAction
    order: Order
    schedule: Schedule
    valid_from: date
    failure: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the bank decided about a payment id, once and for all."""

    outcome: PaymentOutcome
    booked_on: date | None = None
    failure: str | None = None
    detail: str | None = None

    def on(self, today: date) -> "Receipt":
        """What was accepted is executed when its day has come."""
        if self.outcome is PaymentOutcome.ACCEPTED and self.booked_on is not None and self.booked_on <= today:
            return replace(self, outcome=PaymentOutcome.EXECUTED)
        return self
