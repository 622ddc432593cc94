"""What goes wrong at Enable Banking or at the bank behind it, and what it is called in Kontor."""

from kontor.connectors.base import Failed, FailureKind

KINDS = {
    # The consent is over, or the bank wants to see the customer.
    "CLOSED_SESSION": FailureKind.EXPIRED,
    "EXPIRED_SESSION": FailureKind.EXPIRED,
    "REVOKED_SESSION": FailureKind.EXPIRED,
    "SESSION_DOES_NOT_EXIST": FailureKind.EXPIRED,
    "WRONG_SESSION_STATUS": FailureKind.EXPIRED,
    "EXPIRED_AUTHORIZATION_CODE": FailureKind.EXPIRED,
    "ASPSP_PSU_ACTION_REQUIRED": FailureKind.EXPIRED,
    # The bank does not answer, or not any more today.
    "ASPSP_ERROR": FailureKind.UNREACHABLE,
    "ASPSP_TIMEOUT": FailureKind.UNREACHABLE,
    "ASPSP_RATE_LIMIT_EXCEEDED": FailureKind.UNREACHABLE,
    # The bank refuses.
    "ACCOUNT_DOES_NOT_EXIST": FailureKind.REJECTED,
    "ALREADY_AUTHORIZED": FailureKind.REJECTED,
    "ASPSP_ACCOUNT_NOT_ACCESSIBLE": FailureKind.REJECTED,
    "TRANSACTION_DOES_NOT_EXIST": FailureKind.REJECTED,
    "WRONG_AUTHORIZATION_CODE": FailureKind.REJECTED,
    "WRONG_CONTINUATION_KEY": FailureKind.REJECTED,
    "WRONG_CREDENTIALS_PROVIDED": FailureKind.REJECTED,  # of the bank's page: we send none
    "WRONG_TRANSACTIONS_PERIOD": FailureKind.REJECTED,
    "PAYMENT_NOT_FOUND": FailureKind.REJECTED,
    "PAYMENT_LIMIT_EXCEEDED": FailureKind.REJECTED,
    "PAYMENT_NOT_FINALIZED": FailureKind.REJECTED,
    "ASPSP_PAYMENT_NOT_ACCESSIBLE": FailureKind.REJECTED,
    "INVALID_PAYMENT": FailureKind.REJECTED,
    "UNTRUSTED_PAYMENT_PARTY": FailureKind.REJECTED,
    "WRONG_ASPSP_PROVIDED": FailureKind.NOT_SUPPORTED,
    # What the operator must mend: the application's key, its redirect addresses, its accounts; or requests of ours.
    "ACCESS_DENIED": FailureKind.INTERNAL,
    "AUTHORIZATION_NOT_PROVIDED": FailureKind.INTERNAL,
    "UNAUTHORIZED_ACCESS": FailureKind.INTERNAL,
    "UNAUTHORIZED_IP": FailureKind.INTERNAL,
    "INVALID_HOST": FailureKind.INTERNAL,
    "NO_ACCOUNTS_ADDED": FailureKind.INTERNAL,
    "REDIRECT_URI_NOT_ALLOWED": FailureKind.INTERNAL,
    "WEBHOOK_URI_NOT_ALLOWED": FailureKind.INTERNAL,
    "PSU_HEADER_NOT_PROVIDED": FailureKind.INTERNAL,
    "PSU_HEADER_INVALID": FailureKind.INTERNAL,
    "INVALID_ACCOUNT_ID": FailureKind.INTERNAL,
    "DATE_FROM_IN_FUTURE": FailureKind.INTERNAL,
    "DATE_TO_WITHOUT_DATE_FROM": FailureKind.INTERNAL,
    "WRONG_DATE_INTERVAL": FailureKind.INTERNAL,
    "WRONG_REQUEST_PARAMETERS": FailureKind.INTERNAL,
}
RATE_LIMIT, PERIOD = "ASPSP_RATE_LIMIT_EXCEEDED", "WRONG_TRANSACTIONS_PERIOD"
# The bank's page or Enable Banking's came back with one of these (RFC 6749, 4.1.2.1).
RETURNED_KINDS = {
    "access_denied": FailureKind.CANCELLED,
    "server_error": FailureKind.UNREACHABLE,
    "temporarily_unavailable": FailureKind.UNREACHABLE,
}
MAX_WORDS_LENGTH = 300


SESSION_CODES = frozenset(
    ("CLOSED_SESSION", "EXPIRED_SESSION", "REVOKED_SESSION", "SESSION_DOES_NOT_EXIST", "WRONG_SESSION_STATUS")
)


class CallError(Exception):
    """What Enable Banking or the bank did. Never leaves the connector, which turns it into a step."""

    def __init__(self, kind: FailureKind, detail: str | None = None) -> None:
        super().__init__(str(kind))
        self.kind = kind
        self.detail = detail

    def to_failed(self) -> Failed:
        return Failed(self.kind, self.detail)


class NoResponseError(CallError):
    """No answer, or none that can be understood."""

    def __init__(self, reason: str) -> None:
        super().__init__(FailureKind.UNREACHABLE, reason)


class RefusedError(CallError):
    """A refusal, with its code and its words."""

    def __init__(self, status: int, code: str | None, words: str | None) -> None:
        super().__init__(_find_kind(status, code), words)
        self.status = status
        self.code = code

    @property
    def is_limit(self) -> bool:
        """Asking again today is of no use."""
        return self.status == 429 or self.code == RATE_LIMIT

    @property
    def is_of_the_bank(self) -> bool:
        """Does it concern one question, so that others may still be answered?"""
        return self.kind in (FailureKind.REJECTED, FailureKind.UNREACHABLE) and self.status not in (408, 500, 502, 503)


def _find_kind(status: int, code: str | None) -> FailureKind:
    if code in KINDS:
        return KINDS[code]
    if status == 401:
        return FailureKind.INTERNAL
    return FailureKind.UNREACHABLE if status >= 500 or status in (408, 429) else FailureKind.REJECTED
