"""Messages to a bank's FinTS server: one out, one back, over HTTP."""

import base64
import binascii
import math
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from kontor.connectors.bank_http import BankHttp, BankHttpError, HttpLimits
from kontor.connectors.base import Exchange
from kontor.egress import Destination, Purpose, find_host

GOOD = range(200, 300)


@dataclass(frozen=True, slots=True)
class TransportLimits:
    """`read_seconds` is for a sign of life, `answer_seconds` for the whole answer.

    `largest_bytes` counts Base64; a year of a busy account has a tenth of it. `total_bytes` is for one step.
    """

    connect_seconds: float = 10
    read_seconds: float = 60
    answer_seconds: float = 120
    largest_bytes: int = 32 * 1024 * 1024
    total_bytes: int = 128 * 1024 * 1024

    def until(self, deadline: float) -> HttpLimits:
        return HttpLimits(
            self.connect_seconds,
            self.read_seconds,
            self.answer_seconds,
            self.largest_bytes,
            self.total_bytes,
            deadline,
        )


LIMITS = TransportLimits()


class NoResponseError(Exception):
    """No answer, or none that is FinTS. Whether the bank has got the message nobody knows."""


class HttpTransport:
    """HTTPS with the bank's certificate checked, and no proxy."""

    def __init__(
        self,
        url: str,
        tls: ssl.SSLContext,
        limits: TransportLimits = LIMITS,
        deadline: float = math.inf,
        record: Callable[[Exchange], None] | None = None,
    ) -> None:
        self._url = url
        self._record = record
        destination = Destination(Purpose.BANK, frozenset({find_host(url)}))
        self._http = BankHttp(tls, limits.until(deadline), destination)

    def __enter__(self) -> "HttpTransport":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

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
        content, headers = base64.b64encode(message), {"Content-Type": "text/plain", "Accept-Encoding": "identity"}
        try:
            with self._http.stream("POST", self._url, headers, content) as answer:
                if answer.status not in GOOD:
                    raise NoResponseError(f"HTTP status {answer.status}")
                body = answer.read()
        except BankHttpError as error:
            raise NoResponseError(str(error)) from None
        try:
            # Some banks break the lines, which is not an error.
            return base64.b64decode(b"".join(body.split()), validate=True)
        except binascii.Error:
            raise NoResponseError("the answer is not Base64") from None


def make_tls(authorities: Path | None) -> ssl.SSLContext:
    """The system's authorities, or those of a file: for a test bank."""
    context = ssl.create_default_context(cafile=authorities)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
