"""Orders to pay, how far a payment has come, and what a bank says about it."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID, uuid5

from kontor.domain.mandates import DebitInstruction
from kontor.domain.sca import ScaMedium, ScaMethod
from kontor.domain.sca_machine import AnswerKind, ScaPosition, ScaState, fits
from kontor.domain.schedules import StandingInstruction


@dataclass(frozen=True, slots=True)
class Order:
    """One credit transfer, as the user wants it. Texts are in the SEPA character set, the IBAN has no blanks.

    Of a direct debit, `recipient`, `iban` and `bic` are the debtor's.
    """

    recipient: str
    iban: str
    amount: Decimal
    currency: str = "EUR"
    purpose: str = ""
    bic: str | None = None
    end_to_end_id: str | None = None
    purpose_code: str | None = None
    ultimate_debtor: str | None = None
    ultimate_creditor: str | None = None


class PaymentOutcome(StrEnum):
    """What became of an order. `NEVER` means: it did not arrive, and the bank will not take it any more."""

    EXECUTED = "EXECUTED"
    ACCEPTED = "ACCEPTED"
    REJECTED = "REJECTED"
    NEVER = "NEVER"
    UNKNOWN = "UNKNOWN"


class PayeeMatch(StrEnum):
    """How a payee's name fits the IBAN, as the payee's bank sees it."""

    MATCH = "MATCH"
    CLOSE_MATCH = "CLOSE_MATCH"
    NO_MATCH = "NO_MATCH"
    NOT_POSSIBLE = "NOT_POSSIBLE"


@dataclass(frozen=True, slots=True)
class PayeeResult:
    """`suggested_name` comes with a close match only."""

    match: PayeeMatch
    suggested_name: str | None = None


# From the worst verdict to the best.
SEVERITY = (PayeeMatch.NO_MATCH, PayeeMatch.NOT_POSSIBLE, PayeeMatch.CLOSE_MATCH, PayeeMatch.MATCH)


class PayeeWarningKind(StrEnum):
    """`OTHER_IBAN`: the name was paid before, to another IBAN. `OTHER_NAME`: the IBAN was, under another name."""

    OTHER_IBAN = "OTHER_IBAN"
    OTHER_NAME = "OTHER_NAME"


@dataclass(frozen=True, slots=True)
class PayeeWarning:
    """What differs from earlier orders. `number` is that of the order, from 1; `known` the IBAN or name before."""

    kind: PayeeWarningKind
    number: int
    known: str


class PayeeChoice(StrEnum):
    """What the user chose after a verification. `NONE`: nobody was asked, or nobody has answered."""

    CONFIRMED = "CONFIRMED"
    CANCELLED = "CANCELLED"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class PayeeEvidence:
    """A verification of payees: one verdict per order, and what the user was shown and chose.

    `results` is empty where the bank was not asked, and there were `warnings`. `shown_text` is empty where we have
    shown nothing.
    """

    results: tuple[PayeeResult, ...]
    verified_at: datetime
    shown_text: str = ""
    language: str = "de"
    choice: PayeeChoice = PayeeChoice.NONE
    chosen_at: datetime | None = None
    warnings: tuple[PayeeWarning, ...] = ()

    @property
    def is_matching(self) -> bool:
        return not self.warnings and all(result.match is PayeeMatch.MATCH for result in self.results)

    @property
    def worst(self) -> PayeeResult:
        """The verdict of the whole payment: of several orders the worst one."""
        unknown = PayeeResult(PayeeMatch.NOT_POSSIBLE)
        return min(self.results, key=lambda result: SEVERITY.index(result.match), default=unknown)


class PaymentKind(StrEnum):
    """In which form the payment was ordered."""

    SINGLE = "SINGLE"
    BULK = "BULK"
    LEGACY = "LEGACY"
    STANDING_ORDER = "STANDING_ORDER"
    DIRECT_DEBIT = "DIRECT_DEBIT"


class PaymentState(StrEnum):
    """How far a payment has come. Between `OPEN` and `SENDING` lies what cannot be taken back.

    `DRAFT` waits for the user in the web form. `OPEN`: nothing was sent. `SENDING` is committed directly before the
    order leaves. `UNKNOWN`: it left, and no answer came. The others are final, except that the bank may still execute
    or refuse what it has `ACCEPTED`.
    """

    DRAFT = "DRAFT"
    OPEN = "OPEN"
    SENDING = "SENDING"
    UNKNOWN = "UNKNOWN"
    EXECUTED = "EXECUTED"
    ACCEPTED = "ACCEPTED"
    FAILED = "FAILED"

    @property
    def is_under_way(self) -> bool:
        """Is there a dialogue with the bank?"""
        return self in (PaymentState.OPEN, PaymentState.SENDING)

    @property
    def may_have_moved_money(self) -> bool:
        return self not in (PaymentState.DRAFT, PaymentState.OPEN, PaymentState.FAILED)


class PaymentFailure(StrEnum):
    """Why a payment was not executed. The set is closed; `wire` has a message for each.

    `ABANDONED`: the process died before anything was sent. `NEVER_ARRIVED`: the bank says that it has no such order.
    """

    WRONG_CREDENTIALS = "WRONG_CREDENTIALS"
    LOCKED = "LOCKED"
    INCOMPLETE_CREDENTIALS = "INCOMPLETE_CREDENTIALS"
    UNREACHABLE = "UNREACHABLE"
    NO_SUPPORTED_METHOD = "NO_SUPPORTED_METHOD"
    WRONG_METHOD = "WRONG_METHOD"
    WRONG_MEDIUM = "WRONG_MEDIUM"
    WRONG_TAN = "WRONG_TAN"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"
    ABANDONED = "ABANDONED"
    REJECTED = "REJECTED"
    NO_FUNDS = "NO_FUNDS"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    REFERENCE_ACCOUNT = "REFERENCE_ACCOUNT"
    NEVER_ARRIVED = "NEVER_ARRIVED"
    INTERNAL = "INTERNAL"


@dataclass(frozen=True, slots=True)
class PaymentDialogue:
    """Where the dialogue with the user stands, between two steps.

    `is_payee_open`: the user is to decide about `payees` before anything else; with `is_warning_open` about `warnings`,
    before the bank is asked. `wanted_method` and `wanted_medium` were given with the order itself (legacy form).
    """

    position: ScaPosition = ScaPosition(ScaState.METHOD)
    methods: tuple[ScaMethod, ...] = ()
    media: tuple[ScaMedium, ...] = ()
    chosen_method: ScaMethod | None = None
    chosen_medium: str | None = None
    redirect_url: str | None = None
    is_last_tan_wrong: bool = False
    payees: tuple[PayeeResult, ...] = ()
    is_payee_open: bool = False
    warnings: tuple[PayeeWarning, ...] = ()
    is_warning_open: bool = False
    wanted_method: str | None = None
    wanted_medium: str | None = None


class PaymentAnswer(StrEnum):
    """What only a payment is answered: pay, although the payee does not match."""

    ACCEPT_PAYEES = "ACCEPT_PAYEES"


def name_at_bank(user_id: UUID, payment_id: UUID) -> UUID:
    return uuid5(user_id, f"payment {payment_id}")


@dataclass(frozen=True, slots=True)
class Payment:
    """`product` is the debtor's account in the caller's words, `product_key` in the bank's.

    `standing` is set where the order is about a standing order, `debit` where it collects direct debits:
    `execution_date` is then the day of collection, and the product the creditor's.
    `given` are the orders as they were written, `orders` as the bank gets them. `fence` is set while a process is at
    the bank, and is that of its lease; `is_at_bank` says whether that process still lives.
    """

    id: UUID
    user_id: UUID
    tenant_id: UUID
    pseudonym: UUID
    kind: PaymentKind
    state: PaymentState
    orders: tuple[Order, ...]
    given: tuple[Order, ...]
    is_instant: bool
    request_digest: bytes
    created_at: datetime
    expires_at: datetime
    execution_date: date | None = None
    prefers_rejection: bool = False
    asks_settings: bool = False
    is_payee_accepted: bool = False
    is_editable: bool = False
    provider_id: UUID | None = None
    access_id: str | None = None
    product_id: UUID | None = None
    product_key: str | None = None
    product: str | None = None
    lease_key: bytes | None = None
    fence: int | None = None
    is_at_bank: bool = False
    failure: PaymentFailure | None = None
    detail: str | None = None
    customer_ip: str | None = None
    callback_url: str | None = None
    idempotency_key: str | None = None
    lookups: int = 0
    next_lookup_at: datetime | None = None
    dialogue: PaymentDialogue = field(default_factory=PaymentDialogue)
    standing: StandingInstruction | None = None
    debit: DebitInstruction | None = None
    evidence: PayeeEvidence | None = None

    @property
    def bank_id(self) -> UUID:
        """The id the bank keeps with the order. The caller's own is unique for one user only."""
        return name_at_bank(self.user_id, self.id)

    @property
    def is_bulk(self) -> bool:
        """Several orders that the bank takes as one. Of direct debits one is a single, more are a bulk."""
        return self.kind is PaymentKind.BULK or (self.debit is not None and len(self.orders) > 1)

    @property
    def is_orphaned(self) -> bool:
        """Its process died while it was at the bank."""
        return self.state.is_under_way and self.fence is not None and not self.is_at_bank

    def is_over(self, now: datetime) -> bool:
        """Did the user take too long? Not while the bank is being asked."""
        is_waiting = self.state is PaymentState.DRAFT or self.state.is_under_way
        return is_waiting and self.fence is None and self.expires_at <= now

    def is_waiting_for(self, answer: "AnswerKind | PaymentAnswer") -> bool:
        """Does the answer fit the open step? Nothing is cancelled once it may have been sent."""
        if self.state is PaymentState.DRAFT:
            return answer is AnswerKind.CANCEL
        if not self.state.is_under_way:
            return False
        if answer is AnswerKind.CANCEL:
            return self.state is PaymentState.OPEN
        if isinstance(answer, PaymentAnswer) or self.dialogue.is_payee_open:
            return self.dialogue.is_payee_open and isinstance(answer, PaymentAnswer)
        return fits(self.dialogue.position.state, answer)


@dataclass(frozen=True, slots=True)
class Verification:
    """What the payees' banks said about names and IBANs. Good once, for one payment, until it expires."""

    id: UUID
    user_id: UUID
    payment_id: UUID
    payees: tuple[tuple[str, str], ...]
    results: tuple[PayeeResult, ...]
    expires_at: datetime
    verified_at: datetime
    warnings: tuple[PayeeWarning, ...] = ()
    shown_text: str = ""
