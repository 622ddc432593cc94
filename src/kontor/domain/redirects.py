"""Redirect sessions: a user of a tenant that may not handle credentials, on our own pages."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from kontor.domain.accesses import History
from kontor.domain.payments import Payment, PaymentState
from kontor.domain.principals import Principal


class UseCase(StrEnum):
    CREATE_ACCOUNT = "CREATE_ACCOUNT"
    AUTHENTICATE_ACCOUNT = "AUTHENTICATE_ACCOUNT"
    INITIATE_PAYMENT = "INITIATE_PAYMENT"


class FormStep(StrEnum):
    """Of a payment: `PAYMENT` shows it, `SOURCE` asks from where to pay, `CHECKING` is while the bank looks at the
    payee, `PAYEES` lets the user decide about it, `UNKNOWN` is while the bank has not said what became of it.
    """

    LEGAL = "LEGAL"
    PAYMENT = "PAYMENT"
    SOURCE = "SOURCE"
    PROVIDER = "PROVIDER"
    CREDENTIALS = "CREDENTIALS"
    CHECKING = "CHECKING"
    PAYEES = "PAYEES"
    SCA = "SCA"
    FETCHING = "FETCHING"
    ACCOUNTS = "ACCOUNTS"
    UNKNOWN = "UNKNOWN"
    FAILED = "FAILED"
    END = "END"


class SessionStatus(StrEnum):
    OPEN = "OPEN"
    FINISHED = "FINISHED"
    ABORTED = "ABORTED"
    EXPIRED = "EXPIRED"


class Failure(StrEnum):
    """Why an attempt at the bank came to nothing; the user is told, and chooses how to go on."""

    WRONG_CREDENTIALS = "WRONG_CREDENTIALS"
    LOCKED = "LOCKED"
    WRONG_TAN = "WRONG_TAN"
    NO_METHOD = "NO_METHOD"
    UNREACHABLE = "UNREACHABLE"
    BUSY = "BUSY"
    TOO_LATE = "TOO_LATE"
    REFUSED = "REFUSED"
    REJECTED = "REJECTED"
    NO_FUNDS = "NO_FUNDS"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    PAYEE_LIMIT = "PAYEE_LIMIT"
    PAYEE_HOLD = "PAYEE_HOLD"
    INTERRUPTED = "INTERRUPTED"

    @property
    def can_retry(self) -> bool:
        """Not where another try would only bring the user nearer to a lock at the bank."""
        return self in (Failure.UNREACHABLE, Failure.BUSY, Failure.TOO_LATE, Failure.REFUSED)

    @property
    def outcome(self) -> "RedirectOutcome":
        """What the tenant is told when the user leaves at this point."""
        return _OUTCOMES.get(self, RedirectOutcome.BACKEND_ERROR)


class RedirectOutcome(StrEnum):
    """With what result the user goes back to the tenant."""

    ACCOUNT_CREATED = "ACCOUNT_CREATED"
    FINISHED = "FINISHED"
    LEGAL_NOT_ACCEPTED = "LEGAL_NOT_ACCEPTED"
    USER_CANCELLED = "USER_CANCELLED"
    BACKEND_ERROR = "BACKEND_ERROR"
    INVALID_CREDENTIALS = "INVALID_CREDENTIALS"
    INVALID_TAN = "INVALID_TAN"
    ERROR = "ERROR"
    NO_CALLBACK_URL = "NO_CALLBACK_URL"
    INVALID_CALLBACK_URL = "INVALID_CALLBACK_URL"
    PAYMENT_FAILED = "PAYMENT_FAILED"
    SESSION_EXPIRED = "SESSION_EXPIRED"

    @property
    def has_safe_target(self) -> bool:
        """Without a usable callback the form ends on its own page."""
        return self not in (RedirectOutcome.NO_CALLBACK_URL, RedirectOutcome.INVALID_CALLBACK_URL)


_OUTCOMES = {
    Failure.WRONG_CREDENTIALS: RedirectOutcome.INVALID_CREDENTIALS,
    Failure.LOCKED: RedirectOutcome.INVALID_CREDENTIALS,
    Failure.WRONG_TAN: RedirectOutcome.INVALID_TAN,
    Failure.TOO_LATE: RedirectOutcome.USER_CANCELLED,
    Failure.REFUSED: RedirectOutcome.USER_CANCELLED,
    Failure.REJECTED: RedirectOutcome.PAYMENT_FAILED,
    Failure.NO_FUNDS: RedirectOutcome.PAYMENT_FAILED,
    Failure.NOT_SUPPORTED: RedirectOutcome.PAYMENT_FAILED,
    Failure.PAYEE_LIMIT: RedirectOutcome.PAYMENT_FAILED,
    Failure.PAYEE_HOLD: RedirectOutcome.PAYMENT_FAILED,
    Failure.INTERRUPTED: RedirectOutcome.PAYMENT_FAILED,
}


@dataclass(frozen=True, slots=True)
class FormOptions:
    """What the tenant has asked for in the call that began the session.

    `asks_settings`: the user chooses method and medium, even if they are known. `history`: how far back transactions
    are fetched; None: as before. `selected_products`: the accounts among which the user chooses; None: all.
    `language` is that of the pages, until the user chooses another one. `purpose` and `usable_until` are for the
    permission.
    """

    asks_settings: bool = False
    history: History | None = None
    selected_products: tuple[UUID, ...] | None = None
    language: str | None = None
    purpose: str | None = None
    usable_until: date | None = None


@dataclass(frozen=True, slots=True)
class FormSession:
    """A redirect session that was opened in a browser.

    `dialogue_id` names the dialogue with the bank; from then on a new access is stored, and belongs to this session
    until the user has chosen accounts.
    `payment_id` names the draft of a payment; there is no access id then. `is_source_fixed`: the tenant has said from
    which account it is paid. `checking_at` is when the bank was asked about the payee, `is_payee_matched` its answer.
    `notice` is the last failure at the bank. `is_framed`: opened by the embeddable component, in a popup or a frame.
    """

    id: UUID
    principal: Principal
    use_case: UseCase
    access_id: str
    callback_url: str | None
    step: FormStep
    expires_at: datetime
    provider_id: UUID | None = None
    dialogue_id: UUID | None = None
    wrong_logins: int = 0
    notice: Failure | None = None
    is_framed: bool = False
    outcome: RedirectOutcome | None = None
    customer_ip: str | None = None
    payment_id: UUID | None = None
    is_source_fixed: bool = False
    checking_at: datetime | None = None
    is_payee_matched: bool = False
    options: FormOptions = FormOptions()
    created_at: datetime | None = None

    def is_open(self, now: datetime) -> bool:
        return self.step is not FormStep.END and self.expires_at > now

    def find_status(self, now: datetime) -> SessionStatus:
        """As the tenant sees it."""
        if self.is_open(now):
            return SessionStatus.OPEN
        if self.outcome in (RedirectOutcome.ACCOUNT_CREATED, RedirectOutcome.FINISHED):
            return SessionStatus.FINISHED
        if self.step is not FormStep.END or self.outcome is RedirectOutcome.SESSION_EXPIRED:
            return SessionStatus.EXPIRED
        return SessionStatus.ABORTED


def find_payment_outcome(session: FormSession, payment: Payment) -> RedirectOutcome | None:
    """What the tenant of a payment is told when its session ends now. None while only the bank can tell.

    `PAYMENT_FAILED` is said only where no money has moved. An outcome that nobody knows is the bank's error.
    """
    if payment.state in (PaymentState.EXECUTED, PaymentState.ACCEPTED):
        return RedirectOutcome.FINISHED
    if payment.state is PaymentState.UNKNOWN:
        return RedirectOutcome.BACKEND_ERROR
    if payment.state.is_under_way and payment.fence is not None:
        return None
    if session.step is not FormStep.FAILED or session.notice is None:
        return RedirectOutcome.SESSION_EXPIRED
    outcome = session.notice.outcome
    return RedirectOutcome.PAYMENT_FAILED if outcome is RedirectOutcome.BACKEND_ERROR else outcome


@dataclass(frozen=True, slots=True)
class Branding:
    """The web form in a tenant's design. Everything is optional: Kontor's own design is the default."""

    tenant_name: str
    display_name: str | None = None
    has_logo: bool = False
    colours: tuple[tuple[str, str], ...] = ()
    legal_text: str | None = None
    legal_version: str = "1"
    frame_origins: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()

    def find_note(self, name: str) -> str | None:
        """What every page says at its foot: the addresses of `imprint` and `privacy`, or the `licence` as a line."""
        return dict(self.notes).get(name)
