"""A session with the service: its address, a token, and how the token is renewed."""

import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode
from zoneinfo import ZoneInfo

import httpx
import msgspec

from kontor_client.answers import Answer, read_answer, read_error
from kontor_client.errors import ForeignAddressError, KontorClientError, UnexpectedAnswerError, UnreachableError
from kontor_client.plans import Call, Pause, Plan, Send
from kontor_client.retries import Retries

if TYPE_CHECKING:  # needs a library that nothing else of the client needs
    from kontor_client.proofs import ProofKey

RENEW_BEFORE_SECONDS = 60
SCHEME = "DPoP"
BERLIN = ZoneInfo("Europe/Berlin")

_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True)
class Login:
    """How a token is got: the call, with its secrets."""

    call: Call = field(repr=False)


def user_login(client: str, client_secret: str, username: str, password: str, scope: str | None = None) -> Login:
    form = {"grant_type": "password", "username": username, "password": password}
    return _oauth_login(client, client_secret, form, scope)


def client_login(client: str, client_secret: str, scope: str | None = None) -> Login:
    return _oauth_login(client, client_secret, {"grant_type": "client_credentials"}, scope)


def key_login(api_key: str) -> Login:
    return Login(Call("POST", "/one/bc-token", headers={"X-API-KEY": api_key}))


def _oauth_login(client: str, secret: str, form: dict[str, str], scope: str | None) -> Login:
    body = urlencode(form | ({"scope": scope} if scope else {})).encode()
    return Login(Call("POST", "/auth/oauth2/token", content=body, headers=basic_headers(client, secret)))


def basic_headers(client: str, secret: str) -> dict[str, str]:
    """Of a form that a client sends with its own secret."""
    pair = b64encode(f"{quote_plus(client)}:{quote_plus(secret)}".encode()).decode()
    return {"Authorization": f"Basic {pair}", "Content-Type": "application/x-www-form-urlencoded"}


class _Token(msgspec.Struct):
    access_token: str
    expires_in: float
    token_type: str


@dataclass
class Session:
    """What both clients share. Nothing of it shows a token."""

    base_url: str
    token: str | None = field(repr=False)
    login: Login | None
    retries: Retries
    key: "ProofKey | None" = None
    renew_at: float | None = None  # by time.monotonic()
    nonce: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.base_url = self.base_url.rstrip("/")

    def perform(self, call: Call) -> Plan[Answer]:
        """One call of the API, with a token that is renewed when it runs out."""
        if self.login is not None and (self.token is None or self._is_old()):
            yield from self.renew_token()
        answer = yield from self._attempt(call, self._headers_of(call))
        # The token is looked at before anything else: whatever was asked for has not been done.
        if self.login is not None and answer.says_invalid_token:
            yield from self.renew_token()
            answer = yield from self._attempt(call, self._headers_of(call))
        if answer.status >= 400 and answer.status != 451:
            raise read_error(answer)
        return answer

    def renew_token(self) -> Plan[None]:
        assert self.login is not None
        answer = yield from self._attempt(self.login.call, self.login.call.headers or {})
        if answer.status != 200:
            raise read_error(answer)
        token = answer.decode(_Token)
        if self.key is not None and token.token_type.lower() != SCHEME.lower():
            raise UnexpectedAnswerError("The service does not bind tokens to keys (DPoP).")
        self.token = token.access_token
        self.renew_at = time.monotonic() + token.expires_in - RENEW_BEFORE_SECONDS

    def _is_old(self) -> bool:
        return self.renew_at is not None and time.monotonic() >= self.renew_at

    def _headers_of(self, call: Call) -> dict[str, str]:
        scheme = "Bearer" if self.key is None else SCHEME
        own = {"Authorization": f"{scheme} {self.token}"} if self.token is not None else {}
        if call.json is not None:
            own["Content-Type"] = "application/json"
        return own | dict(call.headers or {})

    def _attempt(self, call: Call, headers: Mapping[str, str]) -> Plan[Answer]:
        """Send, and send again where that does no harm."""
        url = self.address_of(call.path, call.params)
        content = call.content if call.json is None else encode_json(call.json)
        _refuse_odd_headers(headers)
        failures = 0
        has_new_nonce = False
        while True:
            try:
                response: httpx.Response = yield Send(call.method, url, self._add_proof(call, url, headers), content)
            except httpx.TransportError as error:
                seconds = self.retries.seconds_after_error(call, error, failures)
                if seconds is None:
                    message = f"{call.method} {httpx.URL(url).path}: {type(error).__name__}: {error}"
                    raise UnreachableError(message) from error
            else:
                answer = read_answer(response)
                if answer.wants_nonce and not has_new_nonce:  # nothing else of the call was looked at
                    has_new_nonce, self.nonce = True, answer.headers["dpop-nonce"]
                    continue
                if call.method == "DELETE" and failures and answer.status == 404:
                    return Answer(200, answer.headers, b"")  # an attempt before this one deleted it
                seconds = self.retries.seconds_after_answer(call, answer, failures)
                if seconds is None:
                    return answer
            failures += 1
            yield Pause(seconds)

    def _add_proof(self, call: Call, url: str, headers: Mapping[str, str]) -> Mapping[str, str]:
        if self.key is None:
            return headers
        is_login = self.login is not None and call is self.login.call
        address = str(httpx.URL(url).copy_with(query=None, fragment=None))
        proof = self.key.make_proof(call.method, address, None if is_login else self.token, self.nonce)
        return {**headers, "DPoP": proof}

    def address_of(self, path: str, params: Mapping[str, Any] | None = None) -> str:
        """The full address of a path, or of an href if it is one of the service."""
        if path.startswith("/") and not path.startswith("//"):
            address = httpx.URL(self.base_url + path)
        else:
            address = httpx.URL(path)
        own = httpx.URL(self.base_url)
        if (address.scheme, address.host, address.port) != (own.scheme, own.host, own.port) or address.userinfo:
            raise ForeignAddressError(f"The address does not belong to {own.scheme}://{own.netloc.decode()}.")
        return str(address.copy_merge_params(_show_params(params))) if params else str(address)


def encode_json(value: Any) -> bytes:
    """Decimal goes out as a number, exactly."""
    return _encoder.encode(value)


def _refuse_odd_headers(headers: Mapping[str, str]) -> None:
    """Before the transport does: it would show the value in its error and its log, and the value may be a secret."""
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise KontorClientError(f"{name}: a header cannot have this value. Does a token end with a line break?")


def _show_params(params: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: _show_value(value) for name, value in params.items() if value is not None}
    return {name: value for name, value in shown.items() if value != []}


def _show_value(value: Any) -> Any:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            at = value.astimezone(BERLIN) if value.tzinfo else value
            return at.strftime("%Y-%m-%d %H:%M:%S")
        case date():
            return value.isoformat()
        case Enum():
            return str(value.value)
        case list() | tuple() | set() | frozenset():
            return [_show_value(item) for item in value]
    return str(value)
