"""HTTP to banks, for every connector: no redirects, no decompression, and limits of time and size that are totals.

A bank is not trusted. An exchange ends at its deadline whatever the bank does: also while it connects, during the TLS
handshake, between two bytes of a header, and while it reads what is sent. Nothing here depends on the environment.
"""

import math
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpcore
import httpx

from kontor.egress import Destination, EgressRefusedError, Tally, check_host, find_host, opening

MAX_ADDRESSES = 4  # of one host name
WRITE_BYTES = 16 * 1024  # between two looks at the clock
IDLE_SECONDS = 5  # after which a connection is not used again
WITH_BODY = ("POST", "PUT", "PATCH")
NO_ENCODING = ("", "identity")


class BankHttpError(Exception):
    """No complete answer. The text names neither what was sent nor what was received."""


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Seconds to connect, between two pieces, and for one answer; bytes of one answer, and of all on one connection."""

    connect_seconds: float
    read_seconds: float
    answer_seconds: float
    largest_bytes: int
    total_bytes: int
    deadline: float = math.inf  # of all exchanges, on the clock of `time.monotonic()`


class HttpAnswer:
    """Head of an answer; `read` fetches the body."""

    def __init__(self, response: httpcore.Response, http: "BankHttp") -> None:
        self._response = response
        self._http = http
        self.status = response.status
        self.headers = httpx.Headers(response.headers)

    def read(self) -> bytes:
        """Raises BankHttpError for a body that is compressed, or larger than allowed."""
        encodings = self.headers.get_list("content-encoding", split_commas=True)
        if any(encoding.strip().lower() not in NO_ENCODING for encoding in encodings):
            raise BankHttpError("the answer is compressed, which was not requested")
        body, largest = bytearray(), self._http.find_largest()  # a list of single bytes would be large
        for piece in self._response.iter_stream():
            if len(body) + len(piece) > largest:
                raise BankHttpError("the answer is too large")
            self._http.count(len(piece))
            body += piece
        return bytes(body)


class BankHttp:
    """Connections to one bank, for one step of a dialogue. It reaches the hosts of its destination only."""

    def __init__(
        self, tls: ssl.SSLContext, limits: HttpLimits, destination: Destination, proxy: str | None = None
    ) -> None:
        self._destination = destination
        self._limits = limits
        self._clock = _Clock(limits)
        self._received = 0
        # An answer that is not read to its end is dropped with its connection.
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls,
            proxy=None if proxy is None else _make_proxy(proxy),
            max_connections=1,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=_Backend(self._clock, _add_proxy(destination, proxy)),
        )

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def stream(self, method: str, url: str, headers: Mapping[str, str], content: bytes) -> Iterator[HttpAnswer]:
        """One exchange. Raises BankHttpError for everything but an answer; a redirect is one."""
        try:
            check_host(self._destination, find_host(url))
            request = _make_request(method, url, headers, content)
            self._clock.start()
            with self._pool.stream(**request, extensions={"timeout": self._limit_time()}) as response:
                yield HttpAnswer(response, self)
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            raise BankHttpError(type(error).__name__) from None
        except (httpcore.ProxyError, httpcore.UnsupportedProtocol, EgressRefusedError) as error:
            raise BankHttpError(type(error).__name__) from None
        except (httpx.InvalidURL, UnicodeError, ssl.SSLError) as error:
            raise BankHttpError(type(error).__name__) from None

    def find_largest(self) -> int:
        return min(self._limits.largest_bytes, self._limits.total_bytes - self._received)

    def count(self, size: int) -> None:
        self._received += size

    def _limit_time(self) -> dict[str, float]:
        """As httpcore wants it; the clock makes totals of them."""
        limits = self._limits
        return {
            "connect": limits.connect_seconds,
            "read": limits.read_seconds,
            "write": limits.read_seconds,
            "pool": limits.connect_seconds,
        }


def _add_proxy(destination: Destination, proxy: str | None) -> Destination:
    return destination if proxy is None else replace(destination, hosts=destination.hosts | {find_host(proxy)})


def _make_proxy(url: str) -> httpcore.Proxy:
    proxy = httpx.Proxy(url)
    return httpcore.Proxy(str(proxy.url), proxy.raw_auth)


def _make_request(method: str, url: str, headers: Mapping[str, str], content: bytes) -> dict[str, Any]:
    """A bank's own words stand in addresses and headers: what cannot be sent is an error of the bank."""
    address = httpx.URL(url)
    target = httpcore.URL(scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=address.raw_path)
    return {
        "method": method,
        "url": target,
        "headers": [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()],
        "content": content if content or method in WITH_BODY else None,
    }


class _Clock:
    """When the exchange under way must have ended."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._end = limits.deadline

    def start(self) -> None:
        now = time.monotonic()
        if now >= self._limits.deadline:
            raise BankHttpError("the deadline has passed")
        self._end = min(now + self._limits.answer_seconds, self._limits.deadline)

    def limit(self, seconds: float | None, error: type[httpcore.TimeoutException]) -> float:
        """What is left of these seconds."""
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise error("the deadline has passed")
        return remaining if seconds is None else min(seconds, remaining)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, clock: _Clock, destination: Destination) -> None:
        self._clock = clock
        self._destination = destination
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """The time to connect is that for all addresses of the host."""
        tally = check_host(self._destination, host)
        end = time.monotonic() + (math.inf if timeout is None else timeout)
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in _find_addresses(host, port):
            left = self._clock.limit(end - time.monotonic(), httpcore.ConnectTimeout)
            if left <= 0:
                raise httpcore.ConnectTimeout("the deadline has passed")
            try:
                with opening(tally):
                    connected = self._sockets.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            return _Stream(connected, self._clock, tally)
        raise failure


def _find_addresses(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(str(error)) from None
    return list(dict.fromkeys(str(address[4][0]) for address in found))[:MAX_ADDRESSES]


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, clock: _Clock, tally: Tally) -> None:
        self._stream = stream
        self._clock = clock
        self._tally = tally

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        piece = self._stream.read(max_bytes, self._clock.limit(timeout, httpcore.ReadTimeout))
        self._tally.count_received(len(piece))
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITE_BYTES):
            left = self._clock.limit(timeout, httpcore.WriteTimeout)
            piece = buffer[start : start + WRITE_BYTES]
            self._stream.write(piece, left)
            self._tally.count_sent(len(piece))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._clock.limit(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._clock, self._tally)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
