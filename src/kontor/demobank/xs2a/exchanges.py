"""Requests as they came, responses as they leave, and refusals with the codes of the standard."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from kontor.demobank.faults import UNDISTURBED, Visit

T = TypeVar("T")

# Status of each code the bank uses. The standard lets some of them come with several; one is enough here.
CODES = {
    "FORMAT_ERROR": 400,
    "PARAMETER_NOT_SUPPORTED": 400,
    "PERIOD_INVALID": 400,
    "PAYMENT_FAILED": 400,
    "EXECUTION_DATE_INVALID": 400,
    "SCA_METHOD_UNKNOWN": 400,
    "SCA_INVALID": 400,
    "PSU_CREDENTIALS_INVALID": 401,
    "TOKEN_INVALID": 401,
    "TOKEN_EXPIRED": 401,
    "CONSENT_INVALID": 401,
    "CONSENT_EXPIRED": 401,
    "SERVICE_BLOCKED": 403,
    "CONSENT_UNKNOWN": 403,
    "PRODUCT_INVALID": 403,
    "RESOURCE_UNKNOWN": 404,
    "PRODUCT_UNKNOWN": 404,
    "SERVICE_INVALID": 405,
    "CANCELLATION_INVALID": 405,
    "REQUESTED_FORMATS_INVALID": 406,
    "STATUS_INVALID": 409,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "ACCESS_EXCEEDED": 429,
    "INTERNAL_SERVER_ERROR": 500,
    "SERVICE_UNAVAILABLE": 503,
}
_GEO = re.compile(r"GEO:-?[0-9]{1,2}\.[0-9]{6};-?[0-9]{1,3}\.[0-9]{6}")


class RefusedError(Exception):
    """The bank says no, with a code of the standard."""

    def __init__(self, code: str, text: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.status = CODES[code]
        self.text = text[:500]


@dataclass(frozen=True, slots=True)
class Response:
    """`body` is sent as JSON, or `content` as it is. `is_cut`: the connection ends before the end of the response."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """`headers` have names in lower case; of a query parameter that comes twice the last one counts."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    visit: Visit = UNDISTURBED

    @property
    def id(self) -> UUID:
        return UUID(self.headers["x-request-id"])

    @property
    def login(self) -> str | None:
        return self.headers.get("psu-id") or None

    @property
    def is_attended(self) -> bool:
        return "psu-ip-address" in self.headers

    @property
    def redirect_url(self) -> str | None:
        return self.headers.get("tpp-redirect-uri") or None

    def has(self, preference: str) -> bool:
        return self.headers.get(preference, "").lower() == "true"

    def locate(self, path: str) -> dict[str, str]:
        """The Location header of something new; left out where the caller did not say how it reached us."""
        host = self.headers.get("host")
        return {"Location": f"http://{host}{path}"} if host else {}

    def read_body(self, shape: type[T]) -> T:
        if self.headers.get("content-type", "application/json").partition(";")[0].strip() != "application/json":
            raise RefusedError("UNSUPPORTED_MEDIA_TYPE", "Only application/json is understood.")
        try:
            return msgspec.json.decode(self.body or b"{}", type=shape)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise RefusedError("FORMAT_ERROR", str(error)) from None

    def read_date(self, name: str) -> date | None:
        text = self.query.get(name)
        if text is None:
            return None
        try:
            return msgspec.convert(text, date)
        except msgspec.ValidationError:
            raise RefusedError("FORMAT_ERROR", f"{name} is no date.") from None

    def read_number(self, name: str, otherwise: int) -> int:
        text = self.query.get(name)
        if text is None:
            return otherwise
        if not re.fullmatch(r"-?[0-9]{1,9}", text):
            raise RefusedError("FORMAT_ERROR", f"{name} is no number.")
        return int(text)

    def read_flag(self, name: str) -> bool:
        text = self.query.get(name, "false")
        if text not in ("true", "false"):
            raise RefusedError("FORMAT_ERROR", f"{name} is neither true nor false.")
        return text == "true"


def _is_flag(text: str) -> bool:
    return text.lower() in ("true", "false")


def _is_uri(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not re.search(r"[\s<>\"{}|\\^`]", text)


def _is_uuid(text: str) -> bool:
    return str(UUID(text)) == text.lower()


def _is_address(text: str) -> bool:
    return bool(ip_address(text))


_FORMATS: dict[str, Callable[[str], bool]] = {
    "x-request-id": _is_uuid,
    "psu-ip-address": _is_address,
    "psu-device-id": _is_uuid,
    "psu-http-method": lambda text: text in ("GET", "POST", "PUT", "PATCH", "DELETE"),
    "psu-geo-location": lambda text: _GEO.search(text) is not None,
    "tpp-redirect-uri": _is_uri,
    "tpp-nok-redirect-uri": _is_uri,
    "tpp-redirect-preferred": _is_flag,
    "tpp-decoupled-preferred": _is_flag,
    "tpp-explicit-authorisation-preferred": _is_flag,
    "tpp-rejection-nofunds-preferred": _is_flag,
}


def check_headers(request: Request, needed: tuple[str, ...], media: str) -> None:
    """`media` is the form of the answer."""
    for name in ("x-request-id", *needed):
        if not request.headers.get(name):
            raise RefusedError("FORMAT_ERROR", f"The header {name} is missing.")
    for name, is_right in _FORMATS.items():
        text = request.headers.get(name)
        if text is None:
            continue
        try:
            fits = is_right(text)
        except ValueError:
            fits = False
        if not fits:
            raise RefusedError("FORMAT_ERROR", f"The header {name} has no valid value.")
    accepted = request.headers.get("accept", "*/*")
    if not any(kind in accepted for kind in ("*/*", f"{media.partition('/')[0]}/*", media)):
        raise RefusedError("REQUESTED_FORMATS_INVALID", f"Answers are in {media}.")
