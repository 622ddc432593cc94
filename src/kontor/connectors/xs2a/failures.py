"""What goes wrong at a bank, and what it is called in Kontor. The one place that knows the standard's error codes."""

from kontor.connectors.base import Failed, FailureKind

KINDS = {
    "PSU_CREDENTIALS_INVALID": FailureKind.WRONG_CREDENTIALS,
    "CORPORATE_ID_INVALID": FailureKind.WRONG_CREDENTIALS,
    "SERVICE_BLOCKED": FailureKind.LOCKED,
    "CONSENT_UNKNOWN": FailureKind.EXPIRED,
    "CONSENT_INVALID": FailureKind.EXPIRED,
    "CONSENT_EXPIRED": FailureKind.EXPIRED,
    "RESOURCE_UNKNOWN": FailureKind.EXPIRED,
    "RESOURCE_EXPIRED": FailureKind.EXPIRED,
    "RESOURCE_BLOCKED": FailureKind.REJECTED,
    "STATUS_INVALID": FailureKind.REJECTED,
    "SCA_METHOD_UNKNOWN": FailureKind.REJECTED,
    "SCA_INVALID": FailureKind.REJECTED,
    "PAYMENT_FAILED": FailureKind.REJECTED,
    "EXECUTION_DATE_INVALID": FailureKind.REJECTED,
    "REFERENCE_STATUS_INVALID": FailureKind.REJECTED,
    "CANCELLATION_INVALID": FailureKind.REJECTED,
    "FUNDS_NOT_AVAILABLE": FailureKind.NO_FUNDS,
    "PRODUCT_INVALID": FailureKind.NOT_SUPPORTED,
    "PRODUCT_UNKNOWN": FailureKind.NOT_SUPPORTED,
    "SERVICE_INVALID": FailureKind.NOT_SUPPORTED,
    "PARAMETER_NOT_SUPPORTED": FailureKind.NOT_SUPPORTED,
    "REQUESTED_FORMATS_INVALID": FailureKind.NOT_SUPPORTED,
    "ACCESS_EXCEEDED": FailureKind.UNREACHABLE,
    "INTERNAL_SERVER_ERROR": FailureKind.UNREACHABLE,
    # What the operator must mend: certificates, signatures, roles, messages of ours that the bank does not understand.
    "CERTIFICATE_INVALID": FailureKind.INTERNAL,
    "CERTIFICATE_EXPIRED": FailureKind.INTERNAL,
    "CERTIFICATE_BLOCKED": FailureKind.INTERNAL,
    "CERTIFICATE_REVOKED": FailureKind.INTERNAL,
    "CERTIFICATE_MISSING": FailureKind.INTERNAL,
    "SIGNATURE_INVALID": FailureKind.INTERNAL,
    "SIGNATURE_MISSING": FailureKind.INTERNAL,
    "ROLE_INVALID": FailureKind.INTERNAL,
    "TOKEN_UNKNOWN": FailureKind.INTERNAL,
    "TOKEN_INVALID": FailureKind.INTERNAL,
    "TOKEN_EXPIRED": FailureKind.INTERNAL,
    "FORMAT_ERROR": FailureKind.INTERNAL,
    "PARAMETER_NOT_CONSISTENT": FailureKind.INTERNAL,
    "PERIOD_INVALID": FailureKind.REJECTED,
    # Of an OAuth server.
    "access_denied": FailureKind.CANCELLED,
    "invalid_grant": FailureKind.REJECTED,
    "invalid_client": FailureKind.INTERNAL,
    "invalid_request": FailureKind.INTERNAL,
    "invalid_scope": FailureKind.INTERNAL,
    "unauthorized_client": FailureKind.INTERNAL,
    "unsupported_grant_type": FailureKind.INTERNAL,
    "unsupported_response_type": FailureKind.INTERNAL,
    "server_error": FailureKind.UNREACHABLE,
    "temporarily_unavailable": FailureKind.UNREACHABLE,
    "TIMESTAMP_INVALID": FailureKind.INTERNAL,
}
CONSENT_CODES = frozenset(("CONSENT_UNKNOWN", "CONSENT_INVALID", "CONSENT_EXPIRED"))


class BankError(Exception):
    """What a bank did. Never leaves the connector, which turns it into a step."""

    def to_failed(self, *, is_outcome_unknown: bool = False) -> Failed:
        raise NotImplementedError


class NoResponseError(BankError):
    """No answer, or none that can be understood: nobody knows what the bank has done."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def to_failed(self, *, is_outcome_unknown: bool = False) -> Failed:
        return Failed(FailureKind.UNREACHABLE, self.reason, is_outcome_unknown)


class RefusedError(BankError):
    """The bank said no."""

    def __init__(self, status: int, codes: tuple[str, ...], text: str | None) -> None:
        super().__init__(f"{status} {' '.join(codes)}")
        self.status = status
        self.codes = codes
        self.text = text

    @property
    def kind(self) -> FailureKind:
        for code in self.codes:
            if code in KINDS:
                return KINDS[code]
        is_down = self.status >= 500 or self.status in (408, 429)
        return FailureKind.UNREACHABLE if is_down else FailureKind.REJECTED

    @property
    def is_final(self) -> bool:
        """Is it the bank's word on what it was asked, and not a sign that something broke meanwhile?"""
        return self.status < 500 and self.status != 408

    def to_failed(self, *, is_outcome_unknown: bool = False) -> Failed:
        if is_outcome_unknown and not self.is_final:
            return Failed(FailureKind.UNREACHABLE, self.text, is_outcome_unknown=True)
        # Kontor has words of its own for these.
        is_known = self.kind in (FailureKind.WRONG_CREDENTIALS, FailureKind.LOCKED)
        return Failed(self.kind, None if is_known else self.text)


class StoppedError(BankError):
    """The connector itself ends the dialogue."""

    def __init__(self, kind: FailureKind, detail: str | None = None) -> None:
        super().__init__(str(kind))
        self.kind = kind
        self.detail = detail

    def to_failed(self, *, is_outcome_unknown: bool = False) -> Failed:
        return Failed(self.kind, self.detail)
