"""Requests to Enable Banking: to its host only, each with the application's token."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec

from kontor.connectors.aspsps import AspspBank
from kontor.connectors.bank_http import BankHttp, BankHttpError, HttpLimits
from kontor.connectors.base import Context, Exchange
from kontor.connectors.enablebanking.failures import MAX_WORDS_LENGTH, NoResponseError, RefusedError
from kontor.connectors.enablebanking.messages import Refusal
from kontor.connectors.enablebanking.settings import EnableBankingSettings
from kontor.connectors.enablebanking.tokens import Application
from kontor.egress import Destination, Purpose, find_host

KIND = "enablebanking"
T = TypeVar("T")
LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))


class Client:
    """One connection, for one step of a dialogue."""

    def __init__(
        self, http: BankHttp, application: Application, settings: EnableBankingSettings, context: Context
    ) -> None:
        self._http = http
        self._application = application
        self._base = settings.base_url.rstrip("/")
        self._context = context

    def get(
        self,
        path: str,
        shape: type[T],
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        address = f"{path}?{urlencode(query)}" if query else path
        return _read(self._call("GET", address, None, headers or {}), shape)

    def post(self, path: str, body: Any, shape: type[T]) -> T:
        return _read(self._call("POST", path, body, {}), shape)

    def delete(self, path: str) -> None:
        self._call("DELETE", path, None, {})

    def name_customer(self, bank: AspspBank) -> dict[str, str]:
        """Headers that say that the customer is present."""
        address = self._context.customer_ip
        return {"psu-ip-address": address} if address is not None and bank.takes_address else {}

    def check_page(self, url: str) -> str:
        """Where the customer logs in: over TLS, but at a test server. An address without TLS is tried with it.

        Enable Banking has been seen to name its page by http, where nothing answers.
        """
        is_local = httpx.URL(self._base).host in LOOPBACK and self._base.startswith("http:")
        try:
            page = httpx.URL(url)
        except (httpx.InvalidURL, TypeError):
            raise NoResponseError("the page for the customer has no acceptable address") from None
        if page.scheme == "http" and not is_local:
            page = page.copy_with(scheme="https", port=None)
        if page.scheme not in ("https", "http") or not page.host or page.userinfo:
            raise NoResponseError("the page for the customer has no acceptable address")
        return str(page)

    def _call(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> bytes:
        sent = {
            "authorization": f"Bearer {self._application.sign_token().reveal()}",
            "accept": "application/json",
            "accept-encoding": "identity",
            **headers,
        }
        content = b"" if body is None else msgspec.json.encode(body)
        if body is not None:
            sent["content-type"] = "application/json"
        exchange = Exchange(KIND, method, self._base + path, sent, content)
        try:
            with self._http.stream(method, exchange.url, sent, content) as response:
                exchange = replace(exchange, status=response.status, answer_headers=dict(response.headers))
                exchange = replace(exchange, answer=response.read())
                status = response.status
        except BankHttpError as error:
            exchange = replace(exchange, problem=str(error))
            raise NoResponseError(f"Enable Banking does not answer ({error})") from None
        finally:
            if self._context.record is not None:
                self._context.record(exchange)
        if status >= 300:
            raise _read_refusal(status, exchange.answer)
        return exchange.answer


def part(text: str) -> str:
    """One part of a path. What Enable Banking calls an id leads to no other place."""
    return quote(text, safe="")


def _read(answer: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(answer, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NoResponseError("the answer cannot be read") from None


def _read_refusal(status: int, body: bytes) -> RefusedError | NoResponseError:
    if status < 400:
        return NoResponseError("Enable Banking sends us elsewhere")
    try:
        refusal = msgspec.json.decode(body, type=Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return RefusedError(status, None, None)
    detail = refusal.detail if isinstance(refusal.detail, str) else None
    words = ": ".join(dict.fromkeys(text.strip() for text in (refusal.message, detail) if text and text.strip()))
    return RefusedError(status, refusal.error, words[:MAX_WORDS_LENGTH] or refusal.error)


@contextmanager
def open_client(application: Application, settings: EnableBankingSettings, context: Context) -> Iterator[Client]:
    # The environment decides nothing here: whom to trust and which way to go are settings.
    limits = HttpLimits(
        settings.connect_seconds,
        settings.read_seconds,
        settings.answer_seconds,
        settings.largest_answer_bytes,
        settings.most_answer_bytes,
        context.deadline,
    )
    destination = Destination(Purpose.ENABLE_BANKING, frozenset({find_host(settings.base_url)}))
    with closing(BankHttp(_trust(settings), limits, destination)) as http:
        yield Client(http, application, settings, context)


def _trust(settings: EnableBankingSettings) -> ssl.SSLContext:
    if settings.base_url.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and is not needed
    return _load_trust(settings.ca_file)


@lru_cache(maxsize=8)
def _load_trust(ca_file: Path | None) -> ssl.SSLContext:
    trusted = ssl.create_default_context(cafile=ca_file)
    trusted.minimum_version = ssl.TLSVersion.TLSv1_2
    return trusted
