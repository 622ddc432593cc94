"""Refusals of the service, with its codes, and bodies of requests as it reads them."""

from datetime import datetime
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

# Status and words of each code that the demo service uses.
CODES = {
    "ACCESS_DENIED": (403, "This application may not do that"),
    "ACCOUNT_DOES_NOT_EXIST": (404, "There is no such account"),
    "ALREADY_AUTHORIZED": (422, "This code was used before"),
    "ASPSP_ERROR": (400, "The bank reports an error"),
    "ASPSP_RATE_LIMIT_EXCEEDED": (429, "The bank answers no more today"),
    "AUTHORIZATION_NOT_PROVIDED": (401, "There is no token"),
    "CLOSED_SESSION": (401, "The session was closed"),
    "DATE_FROM_IN_FUTURE": (422, "date_from has not come yet"),
    "DATE_TO_WITHOUT_DATE_FROM": (422, "date_to needs date_from"),
    "EXPIRED_AUTHORIZATION_CODE": (422, "This code has expired"),
    "EXPIRED_SESSION": (401, "The session has expired"),
    "PSU_HEADER_INVALID": (422, "A header about the customer has no valid value"),
    "REDIRECT_URI_NOT_ALLOWED": (422, "The application does not name this address"),
    "REVOKED_SESSION": (401, "The customer has revoked the session"),
    "SESSION_DOES_NOT_EXIST": (404, "There is no such session"),
    "UNAUTHORIZED_ACCESS": (401, "The token is not valid"),
    "WRONG_ASPSP_PROVIDED": (422, "There is no such bank"),
    "WRONG_AUTHORIZATION_CODE": (422, "There is no such code"),
    "WRONG_CONTINUATION_KEY": (422, "There is no such page"),
    "WRONG_DATE_INTERVAL": (422, "date_to lies before date_from"),
    "WRONG_REQUEST_PARAMETERS": (422, "The request cannot be understood"),
    "WRONG_TRANSACTIONS_PERIOD": (422, "The bank does not tell about that time"),
}


class RefusedError(Exception):
    def __init__(self, code: str, detail: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.status, self.message = CODES[code]


class Access(msgspec.Struct, forbid_unknown_fields=True):
    valid_until: datetime
    balances: bool = True
    transactions: bool = True


class Aspsp(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    country: str


class StartAuthorization(msgspec.Struct, forbid_unknown_fields=True):
    """What an application asks for. Of what the interface knows besides, nothing is understood here."""

    access: Access
    aspsp: Aspsp
    state: str
    redirect_url: str
    psu_type: str = "personal"
    language: str = "en"
    psu_id: str | None = None


class AuthorizeSession(msgspec.Struct, forbid_unknown_fields=True):
    code: str


def read_body(body: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise RefusedError("WRONG_REQUEST_PARAMETERS", str(error)[:300]) from None


def show_refusal(error: RefusedError) -> dict[str, Any]:
    shown: dict[str, Any] = {"code": error.status, "message": error.message, "error": error.code}
    return shown | ({} if error.detail is None else {"detail": error.detail})
