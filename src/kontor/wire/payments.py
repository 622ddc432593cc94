"""Transfers in their newer form: as they are ordered, and their status."""

import re
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.dialogues import Secrets
from kontor.domain.mandates import DebitInstruction
from kontor.domain.order_checks import OrderError, OrderProblem
from kontor.domain.payments import (
    Order,
    Payment,
    PaymentKind,
    PaymentState,
    Verification,
)
from kontor.domain.sca_machine import ScaState
from kontor.services.payments import find_standing_id
from kontor.wire.accesses import MEDIUM_CLASSES
from kontor.wire.consents import (
    STATES,
    WRONG_TAN,
    Challenge,
    ScaMedium,
    ScaMethod,
    show_challenge,
    show_sca_methods,
)
from kontor.wire.encoding import format_timestamp
from kontor.wire.errors import Message
from kontor.wire.payment_messages import READING, show_failure, show_outcome, show_payees, show_warnings
from kontor.wire.products import Amount, present
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

Text = Annotated[str, Meta(max_length=1000)]
# Read as it was written: neither text in quotes nor a rounded number is an amount.
JsonNumber = Annotated[msgspec.Raw, Meta(extra_json_schema={"type": "number"}, description="at most two decimals")]
_NUMBER = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")

PERIODS = Annotated[
    Literal["MONTH_ONE", "MONTH_TWO", "MONTH_THREE", "MONTH_SIX", "YEAR_ONE", "WEEK_ONE", "WEEK_TWO"],
    Meta(title="StandingOrderPeriod"),
]
SCHEMES = Annotated[Literal["CORE", "B2B"], Meta(title="DirectDebitScheme")]
SEQUENCES = Annotated[Literal["FRST", "RCUR", "OOFF", "FNAL"], Meta(title="DirectDebitSequence")]
MATCHES = Annotated[Literal["MATCH", "CLOSE_MATCH", "NO_MATCH", "NOT_POSSIBLE"], Meta(title="PayeeMatch")]


# What is sent to us


class NewTransferDetails(msgspec.Struct):
    recipient: Text
    purpose: Text
    iban: Text
    bic: Text
    currency: Annotated[Text, Meta(description="ISO 4217", examples=["EUR"])]
    amount: JsonNumber
    endToEndId: Text | None = None  # noqa: N815
    purposeCode: Text | None = None  # noqa: N815
    ultimateDebtor: Text | None = None  # noqa: N815
    ultimateCreditor: Text | None = None  # noqa: N815

    def to_order(self, place: str) -> Order:
        return Order(
            recipient=self.recipient,
            iban=self.iban,
            amount=read_amount(self.amount, f"{place}.amount"),
            currency=self.currency,
            purpose=self.purpose,
            bic=self.bic,
            end_to_end_id=self.endToEndId,
            purpose_code=self.purposeCode,
            ultimate_debtor=self.ultimateDebtor,
            ultimate_creditor=self.ultimateCreditor,
        )


Credentials = Annotated[dict[str, str], Meta(description="by fieldkey; RSA-OAEP, Base64")]
ProductName = Annotated[str, Meta(max_length=64, description="id of an own product, IBAN, or the bank's key")]


class NewTransfer(msgspec.Struct):
    """`provider`, `credentials` and `product` only where the path names no product."""

    instant: bool
    transferDetails: NewTransferDetails  # noqa: N815
    requestedExecutionDate: date | None = None  # noqa: N815
    vopId: UUID | None = None  # noqa: N815
    provider: UUID | None = None
    credentials: Credentials | None = None
    product: ProductName | None = None

    def list_orders(self) -> tuple[Order, ...]:
        return (self.transferDetails.to_order("transferDetails"),)


class NewBulkTransfer(msgspec.Struct):
    """As a single transfer, but with several details."""

    instant: bool
    transferDetails: Annotated[list[NewTransferDetails], Meta(max_length=1000)]  # noqa: N815
    requestedExecutionDate: date | None = None  # noqa: N815
    vopId: UUID | None = None  # noqa: N815
    provider: UUID | None = None
    credentials: Credentials | None = None
    product: ProductName | None = None

    def list_orders(self) -> tuple[Order, ...]:
        return tuple(
            details.to_order(f"transferDetails[{place}]") for place, details in enumerate(self.transferDetails)
        )


class NewVerification(msgspec.Struct):
    """`transferDetails` of one transfer, or an array for bulk."""

    transferDetails: NewTransferDetails | Annotated[list[NewTransferDetails], Meta(max_length=1000)]  # noqa: N815
    provider: UUID | None = None
    credentials: Credentials | None = None
    product: ProductName | None = None

    @property
    def kind(self) -> PaymentKind:
        return PaymentKind.BULK if isinstance(self.transferDetails, list) else PaymentKind.SINGLE

    def list_orders(self) -> tuple[Order, ...]:
        if isinstance(self.transferDetails, list):
            return tuple(
                details.to_order(f"transferDetails[{place}]") for place, details in enumerate(self.transferDetails)
            )
        return (self.transferDetails.to_order("transferDetails"),)


def read_amount(raw: msgspec.Raw, field: str) -> Decimal:
    text = bytes(raw)
    if not _NUMBER.fullmatch(text):
        raise OrderError(OrderProblem.DATA, "expected a number", field)
    return Decimal(text.decode())


# What is answered


class TransferDetails(msgspec.Struct):
    recipient: str
    purpose: str
    iban: str
    currency: str
    amount: Amount
    bic: str | UnsetType = UNSET
    endToEndId: str | UnsetType = UNSET  # noqa: N815
    purposeCode: str | UnsetType = UNSET  # noqa: N815
    ultimateDebtor: str | UnsetType = UNSET  # noqa: N815
    ultimateCreditor: str | UnsetType = UNSET  # noqa: N815


class Debit(msgspec.Struct):
    debtor: str
    iban: str
    amount: Amount
    currency: str
    purpose: str
    mandateId: str  # noqa: N815
    mandateDate: date  # noqa: N815
    sequenceType: SEQUENCES  # noqa: N815
    bic: str | UnsetType = UNSET
    endToEndId: str | UnsetType = UNSET  # noqa: N815


class Transfer(msgspec.Struct):
    paymentId: UUID  # noqa: N815
    ebics: bool
    instant: bool
    transferDetails: (  # noqa: N815
        Annotated[
            TransferDetails | list[TransferDetails],
            Meta(description="an array for a bulk transfer; left out for direct debits"),
        ]
        | UnsetType
    ) = UNSET
    provider: UUID | UnsetType = UNSET
    product: str | UnsetType = UNSET
    requestedExecutionDate: date | UnsetType = UNSET  # noqa: N815
    period: PERIODS | UnsetType = UNSET
    firstExecutionDate: date | UnsetType = UNSET  # noqa: N815
    lastExecutionDate: date | UnsetType = UNSET  # noqa: N815
    standingOrderId: UUID | UnsetType = UNSET  # noqa: N815
    scheme: SCHEMES | UnsetType = UNSET
    creditorId: str | UnsetType = UNSET  # noqa: N815
    requestedCollectionDate: date | UnsetType = UNSET  # noqa: N815
    debits: list[Debit] | UnsetType = UNSET


class TransferStatus(msgspec.Struct):
    messages: list[Message]
    relations: list[Relation]
    transfer: Transfer
    scaMethods: list[ScaMethod] | UnsetType = UNSET  # noqa: N815
    scaMediums: list[ScaMedium] | UnsetType = UNSET  # noqa: N815
    challenge: Challenge | UnsetType = UNSET


class VerificationResult(msgspec.Struct):
    result: MATCHES
    suggestedName: str | UnsetType = UNSET  # noqa: N815


class VerificationStatus(msgspec.Struct):
    vopId: UUID  # noqa: N815
    paymentId: UUID  # noqa: N815
    results: list[VerificationResult]
    expiresAt: Timestamp  # noqa: N815
    messages: Annotated[list[Message], Meta(description="where payees differ from earlier orders")] | UnsetType = UNSET


def show_payment(payment: Payment, secrets: Secrets, urls: Urls, *, offers_steps: bool = True) -> TransferStatus:
    """Without `offers_steps` the user answers elsewhere: on our own pages."""
    messages, next_steps = _describe_state(payment)
    is_waiting = payment.state.is_under_way and payment.fence is None
    if is_waiting and not offers_steps:
        next_steps = ()
    relations = urls.transfer_relations(payment.id, next_steps, payment.dialogue.redirect_url, payment.kind)
    status = TransferStatus(messages, relations, show_transfer(payment))
    dialogue, state = payment.dialogue, payment.dialogue.position.state
    if not is_waiting or dialogue.is_payee_open:
        return status
    if state is ScaState.METHOD:
        status.scaMethods = show_sca_methods(dialogue.methods)
    if state is ScaState.MEDIUM:
        status.scaMediums = [ScaMedium(medium.name, MEDIUM_CLASSES[medium.medium_class]) for medium in dialogue.media]
    if state in (ScaState.TAN, ScaState.CONFIRMATION) and secrets.challenge is not None:
        status.challenge = show_challenge(secrets.challenge, state)
    return status


def _describe_state(payment: Payment) -> tuple[list[Message], tuple[str, ...]]:
    """What there is to say, and which relations besides `self` are offered."""
    read = READING.get(payment.kind, "get_single_transfer")
    match payment.state:
        case PaymentState.DRAFT:
            return [], ()
        case PaymentState.EXECUTED | PaymentState.ACCEPTED | PaymentState.UNKNOWN:
            return [show_outcome(payment)], (read,)
        case PaymentState.FAILED:
            return [show_failure(payment)], ()
    if payment.fence is not None:  # the bank is being asked at this very moment
        return [show_outcome(payment)] if payment.state is PaymentState.SENDING else [], (read,)
    if payment.dialogue.is_payee_open:
        dialogue = payment.dialogue
        asked = show_warnings(dialogue.warnings) if dialogue.is_warning_open else show_payees(dialogue.payees)
        return [asked], ("confirm_vop", "cancel")
    level, code, text, steps = STATES[payment.dialogue.position.state]
    if payment.state is PaymentState.SENDING:
        steps = tuple(step for step in steps if step != "cancel")
    messages = [Message(level, code, text)]
    return [WRONG_TAN, *messages] if payment.dialogue.is_last_tan_wrong else messages, steps


def show_transfer(payment: Payment) -> Transfer:
    """The bank at which the user logs in for this payment alone is not named before the user has ordered."""
    is_told = payment.state is not PaymentState.DRAFT or payment.access_id is not None
    return Transfer(
        paymentId=payment.id,
        ebics=False,
        instant=payment.is_instant,
        provider=present(payment.provider_id if is_told else None),
        product=present(payment.product if is_told else None),
        **(_show_transfers(payment) if payment.debit is None else _show_debits(payment, payment.debit)),
    )


def _show_transfers(payment: Payment) -> dict[str, Any]:
    details = [show_details(order) for order in payment.given]
    return {
        "transferDetails": details if payment.kind is PaymentKind.BULK else details[0],
        "requestedExecutionDate": present(payment.execution_date),
        **_show_standing(payment),
    }


def _show_debits(payment: Payment, debit: DebitInstruction) -> dict[str, Any]:
    """As in the request."""
    debits = [
        Debit(
            debtor=order.recipient,
            iban=order.iban,
            amount=order.amount.quantize(Decimal("0.01")),
            currency=order.currency,
            purpose=order.purpose,
            mandateId=mandate.id,
            mandateDate=mandate.signed_on,
            sequenceType=debit.sequence.value,
            bic=present(order.bic),
            endToEndId=present(order.end_to_end_id),
        )
        for order, mandate in zip(payment.given, debit.mandates, strict=True)
    ]
    return {
        "scheme": debit.scheme.value,
        "creditorId": debit.creditor_id,
        "requestedCollectionDate": present(payment.execution_date),
        "debits": debits,
    }


def _show_standing(payment: Payment) -> dict[str, Any]:
    """Of a new standing order the id is shown once there is one."""
    if payment.standing is None:
        return {}
    schedule, order_id = payment.standing.schedule, payment.standing.order_id
    if order_id is None and payment.state in (PaymentState.EXECUTED, PaymentState.ACCEPTED):
        order_id = find_standing_id(payment)
    return {
        "period": str(schedule.period),
        "firstExecutionDate": schedule.first,
        "lastExecutionDate": present(schedule.last),
        "standingOrderId": present(order_id),
    }


def show_details(order: Order) -> TransferDetails:
    """As in the request."""
    return TransferDetails(
        recipient=order.recipient,
        purpose=order.purpose,
        iban=order.iban,
        currency=order.currency,
        amount=order.amount.quantize(Decimal("0.01")),
        bic=present(order.bic),
        endToEndId=present(order.end_to_end_id),
        purposeCode=present(order.purpose_code),
        ultimateDebtor=present(order.ultimate_debtor),
        ultimateCreditor=present(order.ultimate_creditor),
    )


def show_verification(verification: Verification) -> VerificationStatus:
    results = [
        VerificationResult(str(result.match), present(result.suggested_name))  # type: ignore[arg-type]
        for result in verification.results
    ]
    status = VerificationStatus(
        verification.id, verification.payment_id, results, format_timestamp(verification.expires_at)
    )
    if verification.warnings:
        status.messages = [show_warnings(verification.warnings)]
    return status
