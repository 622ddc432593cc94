"""Requests to a bank: to its own host only, signed where that is set up."""

import re
import ssl
from collections.abc import Iterator, Mapping, Set
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urlencode, urljoin
from uuid import uuid4

import httpx
import msgspec

from kontor.connectors.bank_http import BankHttp, BankHttpError, HttpLimits
from kontor.connectors.base import Context, Credentials, Exchange, FailureKind
from kontor.connectors.xs2a.banks import Approach, Xs2aBank, Xs2aSettings
from kontor.connectors.xs2a.failures import NoResponseError, RefusedError, StoppedError
from kontor.connectors.xs2a.messages import Refusal
from kontor.connectors.xs2a.signatures import load_seal
from kontor.domain.secrets import Secret
from kontor.egress import Destination, Purpose, find_host

T = TypeVar("T")
DETAIL = 300
PAGE = re.compile(r"https?://[!#-;=?-\[\]-_a-z~]+", re.IGNORECASE)  # characters of an address, as RFC 3986 has them
_Origin = tuple[str, str, int | None]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    approach: str | None


class Client:
    """One connection to one bank, for one step of a dialogue."""

    def __init__(
        self, http: BankHttp, bank: Xs2aBank, settings: Xs2aSettings, credentials: Credentials, context: Context
    ) -> None:
        self._http = http
        self._base = bank.base_url.rstrip("/") + "/"
        self._origin = _find_origin(self._base)
        self._bank = bank
        self._settings = settings
        self._credentials = credentials
        self._context = context
        # Ids of earlier requests. Not every bank repeats the id of a request in its answer, as the standard asks.
        self._sent: set[str] = set()
        self._token: Secret | None = None

    def use_token(self, token: Secret | None) -> None:
        """Requests carry it from now on."""
        self._token = token

    def enter(self, path: str) -> str:
        """An entry point of the standard. All other addresses come from the bank."""
        return urljoin(self._base, path)

    def get(self, link: str, shape: type[T], headers: Mapping[str, str] | None = None) -> T:
        return self.read(self.call("GET", link, headers=headers), shape)

    def read(self, answer: Answer, shape: type[T]) -> T:
        try:
            return msgspec.json.decode(answer.body, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise NoResponseError("the bank's answer cannot be read") from None

    def call(
        self, method: str, link: str, body: Any = None, headers: Mapping[str, str] | None = None, **facts: str
    ) -> Answer:
        """A successful answer; anything else is an error. `request_id` may be given where it must be the same again."""
        sent = self._make_headers(facts.get("request_id") or str(uuid4()))
        if body is not None:
            sent["content-type"] = "application/json"
        if self._token is not None:
            sent["authorization"] = f"Bearer {self._token.reveal()}"
        content = b"" if body is None else msgspec.json.encode(body)
        return self._exchange(method, self._resolve(link, {self._origin}), content, sent | dict(headers or {}))

    def post_form(self, address: str, form: Mapping[str, str]) -> Answer:
        """To the bank's OAuth server, which may be at another host if the profile says so."""
        trusted = {self._origin}
        if self._bank.token_address is not None:
            trusted.add(_find_origin(urljoin(self._base, self._bank.token_address)))
        sent = self._make_headers(str(uuid4())) | {"content-type": "application/x-www-form-urlencoded"}
        return self._exchange("POST", self._resolve(address, trusted), urlencode(form).encode(), sent, is_oauth=True)

    def _exchange(
        self, method: str, url: str, content: bytes, sent: dict[str, str], *, is_oauth: bool = False
    ) -> Answer:
        request_id = sent["x-request-id"]
        self._sent.add(request_id)
        if self._settings.seal_certificate_file is not None and self._settings.seal_key_file is not None:
            files = (self._settings.seal_certificate_file, self._settings.seal_key_file)
            sent |= load_seal(*files, self._settings.seal_key_password).sign(sent, content)
        exchange = Exchange("xs2a", method, url, sent, content)
        try:
            with self._http.stream(method, url, sent, content) as response:
                exchange = replace(exchange, status=response.status, answer_headers=dict(response.headers))
                if response.headers.get("x-request-id", "").lower() in self._sent - {request_id}:
                    raise NoResponseError("the bank sends an earlier answer again")
                answer = Answer(response.status, response.read(), response.headers.get("aspsp-sca-approach"))
                exchange = replace(exchange, answer=answer.body)
        except BankHttpError as error:
            exchange = replace(exchange, problem=str(error))
            raise NoResponseError(f"the bank does not answer ({error})") from None
        except NoResponseError as error:
            exchange = replace(exchange, problem=str(error))
            raise
        finally:
            if self._context.record is not None:
                self._context.record(exchange)
        if answer.status >= 300:
            raise _read_refusal(answer, is_oauth=is_oauth)
        return answer

    def identify(self) -> dict[str, str]:
        """Who the customer is, where it is told."""
        login = self._reveal(self._bank.login_field)
        if login is None:
            return {}
        if not login.isascii() or not login.isprintable() or login != login.strip():
            raise StoppedError(FailureKind.WRONG_CREDENTIALS)
        return {"psu-id": login} | ({"psu-id-type": self._bank.login_type} if self._bank.login_type else {})

    def reveal_pin(self) -> str:
        pin = self._reveal(self._bank.pin_field)
        if pin is None:
            raise StoppedError(FailureKind.INCOMPLETE_CREDENTIALS)
        return pin

    def prefer(self) -> dict[str, str]:
        """How the customer is to authenticate, and where the bank's page leads back to."""
        wanted = {}
        if self._context.callback_url is not None:
            wanted["tpp-redirect-uri"] = self._context.callback_url
        preferred = self._bank.preferred_approach
        if preferred is not None:
            wanted["tpp-redirect-preferred"] = "true" if preferred is Approach.REDIRECT else "false"
        if preferred is Approach.DECOUPLED:
            wanted["tpp-decoupled-preferred"] = "true"
        return wanted

    def check_page(self, url: str) -> str:
        """The bank's page may be at another host, but not at a less secure one."""
        try:
            scheme, host, _ = _find_origin(url)
        except ValueError:
            scheme, host = "", ""
        is_secure = scheme == "https" or (scheme == "http" and self._origin[0] == "http")
        if not is_secure or not host or not PAGE.fullmatch(url):
            raise NoResponseError("the bank's page has no acceptable address")
        return url

    def _reveal(self, field: str) -> str | None:
        secret = self._credentials.get(field)
        return None if secret is None else secret.reveal() or None

    def _resolve(self, link: str, trusted: Set[_Origin]) -> str:
        try:
            url = urljoin(self._base, link)
            origin = _find_origin(url)
        except ValueError:
            raise NoResponseError("the bank's link cannot be read") from None
        if origin not in trusted:
            raise NoResponseError("the bank's link leads to another host")
        return url

    def _make_headers(self, request_id: str) -> dict[str, str]:
        headers = {
            "x-request-id": request_id,
            "date": format_datetime(datetime.now(UTC), usegmt=True),
            "accept": "application/json",
            "accept-encoding": "identity",
        }
        if self._context.customer_ip is not None:
            headers["psu-ip-address"] = self._context.customer_ip
        return headers


def _find_origin(url: str) -> _Origin:
    """Read as the connection reads it. Raises ValueError."""
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from None
    port = address.port or {"https": 443, "http": 80}.get(address.scheme)
    return address.scheme, address.host.lower(), port


def _read_refusal(answer: Answer, *, is_oauth: bool) -> RefusedError | NoResponseError:
    if answer.status < 400:
        return NoResponseError("the bank sends us elsewhere")
    try:
        refusal = msgspec.json.decode(answer.body, type=Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return RefusedError(answer.status, (), None)
    codes = tuple(message.code for message in refusal.tpp_messages)
    codes = codes or tuple(code for code in (refusal.code, refusal.error if is_oauth else "") if code)
    texts = [message.text for message in refusal.tpp_messages if message.text] or (
        [refusal.detail] if refusal.detail else []
    )
    return RefusedError(answer.status, codes, texts[0][:DETAIL] if texts else None)


@contextmanager
def open_client(bank: Xs2aBank, settings: Xs2aSettings, credentials: Credentials, context: Context) -> Iterator[Client]:
    # The environment decides nothing here: whom to trust and which way to go are settings.
    limits = HttpLimits(
        settings.connect_seconds,
        settings.read_seconds,
        settings.answer_seconds,
        settings.largest_answer_bytes,
        settings.most_answer_bytes,
        context.deadline,
    )
    with closing(BankHttp(_trust(bank, settings), limits, _find_destination(bank), settings.proxy)) as http:
        yield Client(http, bank, settings, credentials, context)


def _find_destination(bank: Xs2aBank) -> Destination:
    """The hosts of the bank's profile. Links that the bank sends lead to no other."""
    addresses = [bank.base_url]
    if bank.token_address is not None:
        addresses.append(urljoin(bank.base_url, bank.token_address))
    return Destination(Purpose.BANK, frozenset(map(find_host, addresses)))


def _trust(bank: Xs2aBank, settings: Xs2aSettings) -> ssl.SSLContext:
    if bank.base_url.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and is not needed
    return _load_trust(settings)


@lru_cache(maxsize=8)
def _load_trust(settings: Xs2aSettings) -> ssl.SSLContext:
    trusted = ssl.create_default_context(cafile=settings.ca_file)
    trusted.minimum_version = ssl.TLSVersion.TLSv1_2
    if settings.certificate_file is not None:
        password = None if settings.key_password is None else settings.key_password.reveal()
        trusted.load_cert_chain(settings.certificate_file, settings.key_file, password)
    return trusted
