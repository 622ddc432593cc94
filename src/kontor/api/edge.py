"""The outermost layer: correlation id, time limits, one log line, metrics and a trace span for every request."""

import asyncio
import re
import time
from os import urandom
from typing import Any

import structlog

from kontor.api.answers import Answer, HttpError
from kontor.api.errors import answer_error
from kontor.api.metrics import find_metrics
from kontor.api.slow_bodies import LAST_ANSWER, BodyLimit, SlowBodyError
from kontor.api.tracing import Tracing
from kontor.logs import log_request
from kontor.services.runtime import correlation_id

log = structlog.get_logger("kontor.request")

_PRINTABLE = re.compile(rb"[\x20-\x7e]{1,128}")
_HOST = re.compile(rb"[A-Za-z0-9._~%:\[\]-]{1,255}")
CORRELATION_HEADER = b"x-correlation-id"
SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
# For answers that have none of their own. Pages, pictures and files that others embed set what they need.
DEFAULT_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=()"),
]
QUIET_PATHS = ("/health/", "/metrics")
KNOWN_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")


class Edge:
    """Wraps the whole application. Nothing it does depends on which operation is called."""

    def __init__(
        self, app: Any, request_seconds: float, body_seconds: float, tracing: Tracing, transport_security: str | None
    ) -> None:
        self.app = app
        self.request_seconds = request_seconds
        self.body_seconds = body_seconds
        self.tracing = tracing
        self.headers = list(SECURITY_HEADERS)
        if transport_security is not None:
            self.headers.append((b"strict-transport-security", transport_security.encode()))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        identity = _choose_correlation_id(scope["headers"])
        correlation_id.set(identity)
        started = time.perf_counter()
        status = 0

        limit = asyncio.timeout(self.request_seconds)
        body = BodyLimit(receive, self.body_seconds)

        async def send_with_headers(event: Any) -> None:
            nonlocal status
            if event["type"] == "http.response.start":
                if body.is_exceeded:  # pages answer in their own words
                    event["status"] = 408
                status = event["status"]
                event["headers"] = self._complete(event["headers"], identity)
            await send(event)
            if event.get("more_body"):  # a long download ends whole, as long as each piece is taken in time
                limit.reschedule(asyncio.get_running_loop().time() + self.request_seconds)

        with self.tracing.request_span(scope) as span:
            try:
                _refuse_ambiguous_host(scope)
                async with limit:
                    await self.app(scope, body.receive, send_with_headers)
            except (HttpError, SlowBodyError) as error:
                await self._send_error(scope, error, send_with_headers, status)
            except TimeoutError:
                late = HttpError(504, "The request was not answered in time; repeat it shortly.")
                await self._send_error(scope, late, send_with_headers, status)
            except Exception as error:
                log.exception("request.failed", path=scope["path"])
                await self._send_error(scope, error, send_with_headers, status)
            self._report(scope, status, time.perf_counter() - started)
            span.finish(scope, status)

    def _complete(self, headers: Any, identity: str) -> list[tuple[bytes, bytes]]:
        given = {name for name, _ in headers}
        defaults = (header for header in DEFAULT_HEADERS if header[0] not in given)
        return [*headers, (CORRELATION_HEADER, identity.encode()), *self.headers, *defaults]

    async def _send_error(self, scope: Any, error: Exception, send: Any, status: int) -> None:
        if status:  # an answer has begun; it can only be cut off
            raise error
        accept = next((value for key, value in scope["headers"] if key == b"accept"), b"")
        await send_answer(answer_error(error, accept.decode("latin-1")), send)

    def _report(self, scope: Any, status: int, seconds: float) -> None:
        operation = scope.get("kontor.operation", "none")
        # Callers can invent methods, and every new label is kept for ever.
        method = scope["method"] if scope["method"] in KNOWN_METHODS else "other"
        count, duration = find_metrics(operation, method, status)
        count.inc()
        duration.observe(seconds)
        if not scope["path"].startswith(QUIET_PATHS):
            tenant, client = scope.get("kontor.tenant"), scope.get("kontor.client")
            log_request(method, operation, status, round(seconds, 4), tenant, client)


async def send_answer(answer: Answer, send: Any) -> None:
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
    if answer.media_type is not None:
        headers.append((b"content-type", answer.media_type.encode()))
    headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _refuse_ambiguous_host(scope: Any) -> None:
    """Two readers might take different ones for the address that was meant. HTTP/1.0 knows no such header."""
    hosts = [value for key, value in scope["headers"] if key == b"host"]
    if hosts in ([], [b""]) and scope["http_version"] in ("1", "1.0"):  # Granian adds an empty one
        return
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        raise HttpError(400, "Send the header Host once, with the name of the host.", dict(LAST_ANSWER))


def _choose_correlation_id(headers: list[tuple[bytes, bytes]]) -> str:
    """The caller's, when it is printable and short; otherwise a new one."""
    for key, value in headers:
        if key == CORRELATION_HEADER and _PRINTABLE.fullmatch(value):
            return value.decode()
    return make_random_id()


def make_random_id() -> str:
    """A UUID of version 4 as text. `str(uuid4())` takes four times as long, which every request would pay."""
    digits = urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
