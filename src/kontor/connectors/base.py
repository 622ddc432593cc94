"""The contract every connector keeps: a bank dialogue is a step function.

`begin` starts a dialogue and `resume` carries it on with an answer; both return a `Step`. Between two steps nothing is
open: no socket, no thread, no transaction. All a connector needs to go on is in `state`, which is JSON without the
customer's credentials, kept encrypted by the caller and given back to any process. `connector_state` is what a
connector wants to keep for the next dialogue of the same access (a FinTS system id, an XS2A consent id, OAuth tokens),
encrypted likewise. Failures a bank can cause are values (`Failed`, `Problem`), never exceptions.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Protocol, TypeAlias
from uuid import UUID

from kontor.connectors.revocations import Revoke, Revoked
from kontor.domain.accesses import History
from kontor.domain.account_statements import AccountStatement, StatementNumber
from kontor.domain.balances import BalanceSpan
from kontor.domain.mandates import DebitInstruction
from kontor.domain.payments import Order, PayeeResult, PaymentOutcome
from kontor.domain.positions import Position
from kontor.domain.products import Product
from kontor.domain.providers import Capability, Provider
from kontor.domain.sca import Challenge, ScaMedium, ScaMethod
from kontor.domain.schedules import StandingInstruction
from kontor.domain.secrets import Secret
from kontor.domain.standing_orders import StandingOrder
from kontor.domain.transactions import Transaction

State: TypeAlias = dict[str, Any]
Credentials: TypeAlias = Mapping[str, Secret]


class FailureKind(StrEnum):
    """Why a bank dialogue ended without its result. The set is closed; `wire` maps each to one message code."""

    WRONG_CREDENTIALS = "WRONG_CREDENTIALS"
    LOCKED = "LOCKED"
    INCOMPLETE_CREDENTIALS = "INCOMPLETE_CREDENTIALS"
    UNREACHABLE = "UNREACHABLE"
    NO_SUPPORTED_METHOD = "NO_SUPPORTED_METHOD"
    WRONG_TAN = "WRONG_TAN"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"
    REJECTED = "REJECTED"
    NO_FUNDS = "NO_FUNDS"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    INTERNAL = "INTERNAL"


class ProblemKind(StrEnum):
    """What went wrong with one part of an otherwise successful fetch."""

    ACCESS_INCOMPLETE = "ACCESS_INCOMPLETE"
    PRODUCT = "PRODUCT"
    TRANSACTIONS = "TRANSACTIONS"
    POSITIONS = "POSITIONS"
    BANK_MESSAGE = "BANK_MESSAGE"


@dataclass(frozen=True, slots=True)
class Problem:
    """A part that could not be fetched, or (`BANK_MESSAGE`) something the bank wants the user to read."""

    kind: ProblemKind
    product_key: str | None = None
    detail: str | None = None
    count: int | None = None


# What is asked of a bank


@dataclass(frozen=True, slots=True)
class Fetch:
    """Fetch products, transactions and positions; `selected` limits it to these product keys.

    `since` says per product key from which day on transactions are wanted, `history` for all others. `is_renewal` asks
    for a new consent where the old one holds. `statements` asks for those but the named ones, which are known; by key.
    """

    selected: tuple[str, ...] | None = None
    since: Mapping[str, date] = field(default_factory=dict)
    history: History = History.ALL
    is_renewal: bool = False
    statements: Mapping[str, tuple[StatementNumber, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Pay:
    """Pay from one product. The bank keeps `payment_id` with the order, and takes the same one only once.

    Without `is_payee_accepted` a bank that cannot match a payee asks first (`NeedPayeeDecision`).
    With `standing` nothing is paid now: the one order is that of a standing order. With `debit` the orders are
    collected from their accounts on the `execution_date`, and the product is the creditor's.
    """

    payment_id: UUID
    product_key: str
    orders: tuple[Order, ...]
    is_bulk: bool = False
    is_instant: bool = False
    execution_date: date | None = None
    prefers_rejection: bool = False
    is_payee_accepted: bool = False
    standing: StandingInstruction | None = None
    debit: DebitInstruction | None = None


@dataclass(frozen=True, slots=True)
class VerifyPayees:
    """Do the payees' names fit their IBANs? Answered by `Done(Verified(…))`."""

    product_key: str
    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class LookUp:
    """What became of a payment whose answer was lost? Answered by `Done(LookedUp(…))`; nothing is sent again.

    A bank that wants the customer to authenticate first is answered for by its question. `state` is where it stood.
    """

    payment: Pay
    state: State | None = None


Job: TypeAlias = Fetch | Pay | VerifyPayees | LookUp | Revoke


def _always() -> bool:
    return True


def _forget(state: State) -> None:
    """Where there is no access to keep it for."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to a bank and its answer as they were sent, secrets included: `connectors/traces` masks them.

    `content` and `answer` of FinTS are messages, without their Base64. `problem` says why there is no answer.
    """

    protocol: str  # the connector's kind
    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)
    status: int | None = None
    answer_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    answer: bytes = field(default=b"", repr=False)
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Circumstances of a call. `today` is the business date; a user is present when `customer_ip` is known.

    `customer` is an opaque name of Kontor's user, the same in every call. `may_send` is asked directly before what
    cannot be taken back, the order itself, leaves for the bank: it writes down that it does. After a `False` a
    connector sends nothing and returns `Failed(FailureKind.INTERNAL)`. `deadline` is when the step must have ended, on
    the clock of `time.monotonic()`: nothing waits longer, HTTP clients included. `record` is told of every exchange.
    `keep` stores a connector state at once, whatever becomes of the dialogue: the bank has ended the one before.
    """

    today: date
    customer: str = ""
    customer_ip: str | None = None
    callback_url: str | None = None
    may_send: Callable[[], bool] = _always
    deadline: float = math.inf
    record: Callable[[Exchange], None] | None = None
    keep: Callable[[State], None] = _forget

    def remaining_seconds(self) -> float:
        return self.deadline - time.monotonic()

    def wait(self, seconds: float) -> bool:
        """Sleep, but not beyond the deadline. False when that comes first."""
        remaining = self.remaining_seconds()
        time.sleep(max(0.0, min(seconds, remaining)))
        return seconds < remaining


# What the user answers


@dataclass(frozen=True, slots=True)
class Continue:
    """Nothing to say: carry on after a `Progress`."""


@dataclass(frozen=True, slots=True)
class ChooseMethod:
    code: str


@dataclass(frozen=True, slots=True)
class ChooseMedium:
    name: str


@dataclass(frozen=True, slots=True)
class Tan:
    value: Secret


@dataclass(frozen=True, slots=True)
class Poll:
    """Has the user confirmed in the app yet?"""


@dataclass(frozen=True, slots=True)
class Returned:
    """The user came back from the bank's own page with this query string."""

    query: str


@dataclass(frozen=True, slots=True)
class AcceptPayees:
    """Pay although the payee does not match, after a `NeedPayeeDecision`."""


@dataclass(frozen=True, slots=True)
class Cancel:
    pass


Answer: TypeAlias = Continue | ChooseMethod | ChooseMedium | Tan | Poll | Returned | AcceptPayees | Cancel


# What a connector returns


@dataclass(frozen=True, slots=True)
class Headers:
    """The products, and how the user may authenticate. `offered`: what the bank says of itself."""

    products: tuple[Product, ...]
    methods: tuple[ScaMethod, ...] = ()
    media: tuple[ScaMedium, ...] = ()
    active_method: ScaMethod | None = None
    offered: tuple[Capability, ...] | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """The rest of a fetch, per product key. A key missing from `transactions` was not fetched: see `problems`.

    `standing_orders` has every standing order of a product; a key that is missing was not asked about. `spans` are of
    times of which the bank tells the balance before and after. `statements` are those not known before, newest first.
    """

    transactions: Mapping[str, tuple[Transaction, ...]]
    positions: Mapping[str, tuple[Position, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    consent_until: date | None = None
    spans: Mapping[str, tuple[BalanceSpan, ...]] = field(default_factory=dict)
    standing_orders: Mapping[str, tuple[StandingOrder, ...]] = field(default_factory=dict)
    statements: Mapping[str, tuple[AccountStatement, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Paid:
    """The bank's answer to an order: `EXECUTED` or `ACCEPTED`. A refusal is `Failed(REJECTED)`.

    `consent_until` is set where the customer's authentication has renewed the consent for the account as well.
    `standing_key` is the bank's name of a standing order, `payees` what a bank without a question says about them.
    """

    outcome: PaymentOutcome
    detail: str | None = None
    consent_until: date | None = None
    standing_key: str | None = None
    payees: tuple[PayeeResult, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Verified:
    """One result per order, in their order."""

    results: tuple[PayeeResult, ...]


@dataclass(frozen=True, slots=True)
class LookedUp:
    outcome: PaymentOutcome
    detail: str | None = None
    standing_key: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Header data is there; call `resume(state, Continue())` for the rest."""

    partial: Headers
    state: State


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a dialogue. With a fetch, a `Progress` with the header data always comes before it, SCA or not."""

    result: Fetched | Paid | Verified | LookedUp | Revoked
    connector_state: State | None = None


@dataclass(frozen=True, slots=True)
class NeedMethod:
    """`is_held`: the order was sent by another method, and the bank has refused it because of that."""

    methods: tuple[ScaMethod, ...]
    state: State
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class NeedMedium:
    """`is_held` as in `NeedMethod`."""

    media: tuple[ScaMedium, ...]
    state: State
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class NeedTan:
    """`is_held`, here and below: the bank has the order, and does nothing with it without our answer."""

    challenge: Challenge
    state: State
    valid_until: datetime | None = None
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class NeedConfirmation:
    """The user confirms in an app; ask again with `Poll`."""

    challenge: Challenge
    state: State
    poll_after_seconds: int = 2
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class NeedRedirect:
    url: str
    state: State
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class NeedPayeeDecision:
    """A payee does not match: go on with `AcceptPayees`, or `Cancel`."""

    results: tuple[PayeeResult, ...]
    state: State
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """`is_outcome_unknown`: the order left for the bank, and nobody knows what became of it.

    `state`, after a wrong TAN: to go on with another one (None: from before); of an unknown outcome: to look it up by.
    """

    kind: FailureKind
    detail: str | None = None
    is_outcome_unknown: bool = False
    state: State | None = None
    was_called: bool = True  # False: the bank was not asked


Step: TypeAlias = (
    Progress | Done | NeedMethod | NeedMedium | NeedTan | NeedConfirmation | NeedRedirect | NeedPayeeDecision | Failed
)


class Connector(Protocol):
    """How one kind of bank is reached. Blocking code: callers run it in a thread, under a time limit."""

    kind: str

    def begin(
        self, provider: Provider, credentials: Credentials, job: Job, connector_state: State | None, context: Context
    ) -> Step: ...

    def resume(
        self, provider: Provider, credentials: Credentials, state: State, answer: Answer, context: Context
    ) -> Step: ...
