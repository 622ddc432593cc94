"""HTTP to a bank's FinTS server: one message out, one message back, within limits of time and size."""

import base64
import binascii
import math
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import httpx

from kontor.connectors.base import Exchange

GOOD = range(200, 300)


@dataclass(frozen=True, slots=True)
class TransportLimits:
    """`read_seconds` is for a sign of life, `answer_seconds` for the whole answer.

    `largest_bytes` counts Base64; a year of a busy account has a tenth of it.
    """

    connect_seconds: float = 10
    read_seconds: float = 60
    answer_seconds: float = 120
    largest_bytes: int = 32 * 1024 * 1024


LIMITS = TransportLimits()


class NoResponseError(Exception):
    """No answer, or none that is FinTS. Whether the bank has got the message nobody knows."""


class HttpTransport:
    """HTTPS with the bank's certificate checked. Redirects are not followed, and no proxy is looked for."""

    def __init__(
        self,
        url: str,
        tls: ssl.SSLContext,
        limits: TransportLimits = LIMITS,
        deadline: float = math.inf,
        record: Callable[[Exchange], None] | None = None,
    ) -> None:
        self._url = url
        self._limits = limits
        self._deadline = deadline
        self._record = record
        self._client = httpx.Client(verify=tls, follow_redirects=False, trust_env=False)

    def __enter__(self) -> "HttpTransport":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def exchange(self, message: bytes) -> bytes:
        try:
            answer = self._exchange(message)
        except NoResponseError as error:
            if self._record is not None:
                self._record(Exchange("fints", "POST", self._url, {}, message, problem=str(error)))
            raise
        if self._record is not None:
            self._record(Exchange("fints", "POST", self._url, {}, message, status=200, answer=answer))
        return answer

    def _exchange(self, message: bytes) -> bytes:
        content, headers = base64.b64encode(message), {"Content-Type": "text/plain"}
        timeout = self._limit_time()
        try:
            with self._client.stream("POST", self._url, content=content, headers=headers, timeout=timeout) as response:
                return self._read(response)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NoResponseError(type(error).__name__) from None

    def _limit_time(self) -> httpx.Timeout:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise NoResponseError("the deadline has passed")
        limits = self._limits
        return httpx.Timeout(min(limits.read_seconds, remaining), connect=min(limits.connect_seconds, remaining))

    def _read(self, response: httpx.Response) -> bytes:
        if response.status_code not in GOOD:
            raise NoResponseError(f"HTTP status {response.status_code}")
        pieces, size, end = [], 0, min(time.monotonic() + self._limits.answer_seconds, self._deadline)
        for piece in response.iter_bytes():
            size += len(piece)
            if size > self._limits.largest_bytes:
                raise NoResponseError("the answer is too large")
            if time.monotonic() > end:
                raise NoResponseError("the answer does not end")
            pieces.append(piece)
        try:
            # Some banks break the lines, which is not an error.
            return base64.b64decode(b"".join(b"".join(pieces).split()), validate=True)
        except binascii.Error:
            raise NoResponseError("the answer is not Base64") from None


def make_tls(authorities: Path | None) -> ssl.SSLContext:
    """The system's authorities, or those of a file: for a test bank."""
    context = ssl.create_default_context(cafile=authorities)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
