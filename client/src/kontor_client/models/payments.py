"""Transfers: as they are ordered, and their status."""

from datetime import date, datetime
from decimal import Decimal

import msgspec

from kontor_client.errors import Message
from kontor_client.models.authentication import SCA_NAMES, ChallengeContent, ScaStatus
from kontor_client.models.shapes import Linked, Model

EXECUTED, ACCEPTED, UNKNOWN = "BA1111", "BA1112", "BA1113"


class Order(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True, rename="camel"):
    """What is to be paid, and to whom."""

    recipient: str
    iban: str
    amount: Decimal
    purpose: str
    bic: str
    currency: str = "EUR"
    end_to_end_id: str | None = None
    purpose_code: str | None = None
    ultimate_debtor: str | None = None
    ultimate_creditor: str | None = None


class Debit(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True, rename="camel"):
    """What is to be collected, from whom, and by which mandate. `sequence_type` is FRST, RCUR, OOFF or FNAL."""

    debtor: str
    iban: str
    amount: Decimal
    purpose: str
    mandate_id: str
    mandate_date: date
    sequence_type: str
    bic: str | None = None
    currency: str = "EUR"
    end_to_end_id: str | None = None


class OrderedDebit(Model, rename="camel"):
    debtor: str
    iban: str
    amount: Decimal
    currency: str
    purpose: str
    mandate_id: str
    mandate_date: date
    sequence_type: str
    bic: str | None = None
    end_to_end_id: str | None = None


class OrderedTransfer(Model, rename="camel"):
    recipient: str
    purpose: str
    iban: str
    currency: str
    amount: Decimal
    bic: str | None = None
    end_to_end_id: str | None = None
    purpose_code: str | None = None
    ultimate_debtor: str | None = None
    ultimate_creditor: str | None = None


class Transfer(
    Model,
    rename={
        "payment_id": "paymentId",
        "is_instant": "instant",
        "details": "transferDetails",
        "execution_date": "requestedExecutionDate",
        "first_execution_date": "firstExecutionDate",
        "last_execution_date": "lastExecutionDate",
        "standing_order_id": "standingOrderId",
        "creditor_id": "creditorId",
        "collection_date": "requestedCollectionDate",
    },
):
    """`details` is a list for a bulk transfer, and empty for direct debits, whose orders are `debits`.

    `period` to `standing_order_id` are set for a standing order, `scheme` and what follows for direct debits.
    """

    payment_id: str
    is_instant: bool
    details: OrderedTransfer | list[OrderedTransfer] = []
    provider: str | None = None
    product: str | None = None
    execution_date: date | None = None
    period: str | None = None
    first_execution_date: date | None = None
    last_execution_date: date | None = None
    standing_order_id: str | None = None
    scheme: str | None = None
    creditor_id: str | None = None
    collection_date: date | None = None
    debits: list[OrderedDebit] = []


class StandingOrder(
    Linked,
    kw_only=True,
    rename={
        "details": "transferDetails",
        "first_execution_date": "firstExecutionDate",
        "next_execution_date": "nextExecutionDate",
        "last_execution_date": "lastExecutionDate",
    },
):
    """`state` is ACTIVE or ENDED. An ended one is not executed any more."""

    id: str
    state: str
    details: OrderedTransfer
    period: str
    first_execution_date: date
    next_execution_date: date | None = None
    last_execution_date: date | None = None

    @property
    def is_active(self) -> bool:
        return self.state == "ACTIVE"


class TransferStatus(ScaStatus, kw_only=True, rename=SCA_NAMES):
    """Where a transfer stands. Exactly one of the `is_` properties holds once nothing is asked any more."""

    transfer: Transfer

    @property
    def is_executed(self) -> bool:
        return self.code == EXECUTED

    @property
    def is_accepted(self) -> bool:
        """The bank will pay; it has not booked yet."""
        return self.code == ACCEPTED

    @property
    def is_unknown(self) -> bool:
        """The bank has not said what became of it. Never order again now: `wait_for_outcome`."""
        return self.code == UNKNOWN

    @property
    def is_failed(self) -> bool:
        """No money has moved, and none will."""
        return bool(self.messages) and self.messages[-1].level == "ERROR"

    @property
    def web_form(self) -> str | None:
        """Where the user goes on, for tenants with the redirect frontend."""
        return self.find_href("get_webform")


class PayeeResult(Model, rename="camel"):
    """`result` is MATCH, CLOSE_MATCH, NO_MATCH or NOT_POSSIBLE."""

    result: str
    suggested_name: str | None = None


class Verification(Model, rename={"id": "vopId", "payment_id": "paymentId", "expires_at": "expiresAt"}):
    """Give `id` and `payment_id` with the transfer."""

    id: str
    payment_id: str
    results: list[PayeeResult]
    expires_at: datetime


class LegacyChallenge(Model):
    name: str
    content: ChallengeContent


class LegacyTransferStatus(Linked, kw_only=True, rename={"expires_at": "timeout", "hint": "hinweis"}):
    """Where a transfer of the legacy form stands. With `transfer_id`, a TAN is wanted."""

    messages: list[Message] = []
    expires_at: datetime | None = None
    challenge: LegacyChallenge | None = None
    hint: str | None = None

    @property
    def transfer_id(self) -> str | None:
        href = self.find_href("submit_text_tan")
        return None if href is None else href.rpartition("/")[2]

    @property
    def code(self) -> str | None:
        return self.messages[-1].code if self.messages else None
