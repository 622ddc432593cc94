"""Redirect sessions: a user of a tenant that may not handle credentials, on our own pages."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from kontor.domain.principals import Principal


class UseCase(StrEnum):
    CREATE_ACCOUNT = "CREATE_ACCOUNT"
    AUTHENTICATE_ACCOUNT = "AUTHENTICATE_ACCOUNT"
    INITIATE_PAYMENT = "INITIATE_PAYMENT"


class FormStep(StrEnum):
    LEGAL = "LEGAL"
    PROVIDER = "PROVIDER"
    CREDENTIALS = "CREDENTIALS"
    SCA = "SCA"
    FETCHING = "FETCHING"
    ACCOUNTS = "ACCOUNTS"
    FAILED = "FAILED"
    END = "END"


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

    @property
    def can_retry(self) -> bool:
        """Not where another try would only bring the user nearer to a lock at the bank."""
        return self in (Failure.UNREACHABLE, Failure.BUSY, Failure.TOO_LATE, Failure.REFUSED)

    @property
    def outcome(self) -> "Reentry":
        """What the tenant is told when the user leaves at this point."""
        return _OUTCOMES.get(self, Reentry.BACKEND_ERROR)


class Reentry(StrEnum):
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
        return self not in (Reentry.NO_CALLBACK_URL, Reentry.INVALID_CALLBACK_URL)


_OUTCOMES = {
    Failure.WRONG_CREDENTIALS: Reentry.INVALID_CREDENTIALS,
    Failure.LOCKED: Reentry.INVALID_CREDENTIALS,
    Failure.WRONG_TAN: Reentry.INVALID_TAN,
    Failure.TOO_LATE: Reentry.USER_CANCELLED,
    Failure.REFUSED: Reentry.USER_CANCELLED,
}


@dataclass(frozen=True, slots=True)
class FormSession:
    """A redirect session that was opened in a browser.

    `dialogue_id` names the dialogue with the bank; from then on a new access is stored, and is this session's own.
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
    outcome: Reentry | None = None
    customer_ip: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """How the form looks for a tenant. Everything is optional: Kontor's own look is the default."""

    tenant_name: str
    display_name: str | None = None
    has_logo: bool = False
    colours: tuple[tuple[str, str], ...] = ()
    legal_text: str | None = None
    legal_version: str = "1"
    frame_origins: tuple[str, ...] = ()
