"""The call of a receiver: signed, to an address that was checked, and to no other.

A name is resolved once for each call, every one of its addresses is checked, and the connection is made to one of these
very addresses: a name that leads elsewhere a moment later changes nothing (DNS rebinding).
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit

import httpx
from standardwebhooks import Webhook as Signer

from kontor import __version__
from kontor.domain.callbacks import DEFAULT_PORTS
from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret
from kontor.domain.webhooks import DeliveryFailure, Target, check_target, read_retry_after, read_target
from kontor.egress import Destination, GuardedAsyncTransport, Purpose

CALL_SECONDS = 15
CONNECT_SECONDS = 5
RESOLVE_SECONDS = 5
DRAIN_SECONDS = 1
MAX_ANSWER_BYTES = 4096
MAX_ADDRESSES = 3  # of one name, tried one after the other

Resolver: TypeAlias = Callable[[str, int], Awaitable[list[str]]]


@dataclass(frozen=True, slots=True)
class CallResult:
    """`failure` is None after a 2xx. Nothing of the receiver's answer but its status is kept."""

    status: int | None
    failure: DeliveryFailure | None
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: the same id and body with every attempt."""

    id: str
    body: bytes


def sign(message: Message, secrets: list[Secret], at: datetime) -> dict[str, str]:
    """Headers after the Standard Webhooks specification; with several secrets there are several signatures."""
    text = message.body.decode()
    return {
        "webhook-id": message.id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(Signer(secret.reveal()).sign(message.id, at, text) for secret in secrets),
    }


class SystemResolver:
    """The system's own resolver, in threads of its own: a name server that hangs must not hold up a bank's thread."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(16, "resolver")

    async def __call__(self, host: str, port: int) -> list[str]:
        loop = asyncio.get_running_loop()
        addresses = await loop.run_in_executor(
            self._threads, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )
        return list(dict.fromkeys(str(address[4][0]) for address in addresses))


class WebhookCalls:
    def __init__(
        self,
        *,
        is_loopback_allowed: bool,
        resolve: Resolver | None = None,
        trust: ssl.SSLContext | None = None,
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        self._is_loopback_allowed = is_loopback_allowed
        self._resolve = resolve or SystemResolver()
        self._given_trust = trust
        self._call_seconds = call_seconds

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """Made when first needed: loading certificates takes a moment. SSL_CERT_FILE names others than the usual."""
        return self._given_trust or httpx.create_ssl_context()

    async def check(self, url: str, field: str = "url") -> None:
        """Raises InvalidError, which names the field, unless the address may be called."""
        await self._find_addresses(read_target(url, field), field)

    async def send(self, url: str, message: Message, secrets: list[Secret]) -> CallResult:
        """One attempt of a webhook. Whatever happens is a value."""

        def make_headers() -> dict[str, str]:
            return {"Content-Type": "application/json"} | sign(message, secrets, datetime.now(UTC))

        return await self.post(url, message.body, make_headers)

    async def post(
        self, url: str, body: bytes, make_headers: Callable[[], dict[str, str]], purpose: Purpose = Purpose.WEBHOOK
    ) -> CallResult:
        """One attempt, with headers made for each address that is tried."""
        try:
            async with asyncio.timeout(self._call_seconds):
                return await self._post(url, body, make_headers, purpose)
        except InvalidError:
            return CallResult(None, DeliveryFailure.ADDRESS)
        except (TimeoutError, httpx.TimeoutException):
            return CallResult(None, DeliveryFailure.TIMEOUT)
        except httpx.NetworkError as error:
            return CallResult(None, DeliveryFailure.TLS if _is_about_tls(error) else DeliveryFailure.UNREACHABLE)
        except (httpx.HTTPError, httpx.InvalidURL):
            return CallResult(None, DeliveryFailure.PROTOCOL)

    async def _post(
        self, url: str, body: bytes, make_headers: Callable[[], dict[str, str]], purpose: Purpose
    ) -> CallResult:
        target = read_target(url)
        addresses = await self._find_addresses(target)
        limits = httpx.Timeout(self._call_seconds, connect=min(CONNECT_SECONDS, self._call_seconds))
        # No proxy of the environment: it would resolve the name again, and reach what we may not.
        transport = GuardedAsyncTransport(Destination(purpose, frozenset(addresses), target.host), self._trust)
        async with httpx.AsyncClient(
            transport=transport, trust_env=False, follow_redirects=False, timeout=limits
        ) as client:
            for number, address in enumerate(addresses[:MAX_ADDRESSES], 1):
                request = client.build_request(
                    "POST",
                    _pin(url, target, address),
                    content=body,
                    headers=make_headers() | {
                        "Host": _name_host(target),
                        "User-Agent": f"Kontor/{__version__}",
                        "Accept-Encoding": "identity",
                        "Connection": "close",
                    },
                    extensions={"sni_hostname": target.host},
                )  # fmt: skip
                try:
                    response = await client.send(request, stream=True)
                except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                    if number == len(addresses[:MAX_ADDRESSES]) or _is_about_tls(error):
                        raise
                    continue  # nothing was sent
                try:
                    return await _read_result(response)
                finally:
                    await response.aclose()
        raise AssertionError("a checked target has an address")

    async def _find_addresses(self, target: Target, field: str = "url") -> list[str]:
        """The host's addresses, each of them checked. Raises InvalidError where one may not be called."""
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                addresses = await self._resolve(target.host, target.port)
        except (OSError, TimeoutError, UnicodeError):
            addresses = []
        check_target(target, addresses, is_loopback_allowed=self._is_loopback_allowed, field=field)
        return addresses


def _pin(url: str, target: Target, address: str) -> str:
    """The URL with the checked address in the place of the name."""
    split = urlsplit(url)
    host = f"[{address}]" if ":" in address else address
    return urlunsplit((target.scheme, f"{host}:{target.port}", split.path or "/", split.query, ""))


def _name_host(target: Target) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    return host if target.port == DEFAULT_PORTS[target.scheme] else f"{host}:{target.port}"


async def _read_result(response: httpx.Response) -> CallResult:
    await _drain(response)
    if response.is_success:
        return CallResult(response.status_code, None)
    failure = DeliveryFailure.GONE if response.status_code == httpx.codes.GONE else DeliveryFailure.STATUS
    pause = read_retry_after(response.headers.get("retry-after"), datetime.now(UTC))
    return CallResult(response.status_code, failure, pause)


async def _drain(response: httpx.Response) -> None:
    """A little of the body, so that a polite receiver is not cut off. It is looked at by nobody, nor unpacked."""
    size = 0
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for piece in response.aiter_raw(MAX_ANSWER_BYTES):
                size += len(piece)
                if size >= MAX_ANSWER_BYTES:
                    return


def _is_about_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
