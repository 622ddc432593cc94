"""An answer of the service, and the error that is made of one."""

import email.utils
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx
import msgspec

from kontor_client.errors import ApiError, Message, UnexpectedAnswerError

T = TypeVar("T")

_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?')


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers (case does not matter) and body."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """The body; None when it is empty. Numbers with decimals are floats: `decode` knows better."""
        return msgspec.json.decode(self.content) if self.content else None

    def decode(self, expected: type[T]) -> T:
        """The body as a typed value; numbers become Decimal where the type says so."""
        try:
            return msgspec.json.decode(self.content, type=expected)
        except msgspec.MsgspecError as error:
            led_on = f" to {self.headers['location']}" if "location" in self.headers else ""
            raise UnexpectedAnswerError(f"{self.status}{led_on}: {error}") from error

    @property
    def says_invalid_token(self) -> bool:
        """The token is unknown, has run out or was revoked: nothing else of the call was looked at."""
        return self.status == 403 and "invalid_token" in self.headers.get("www-authenticate", "")

    @property
    def wants_nonce(self) -> bool:
        """A proof of DPoP must contain the nonce that comes with this answer."""
        if self.status not in (400, 401) or "dpop-nonce" not in self.headers:
            return False
        return "use_dpop_nonce" in self.headers.get("www-authenticate", "") or b"use_dpop_nonce" in self.content

    @property
    def next_url(self) -> str | None:
        """Where the next page of a list is."""
        match = _NEXT.search(self.headers.get("link", ""))
        return match[1] if match else None


class _ErrorBody(msgspec.Struct):
    """Our own error body, or that of the token endpoints (RFC 6749)."""

    message: str = ""
    messages: list[Message] = []
    correlationId: str | None = None  # noqa: N815 (on the wire)
    error: str = ""
    error_description: str = ""


def read_answer(response: httpx.Response) -> Answer:
    return Answer(response.status_code, response.headers, response.content)


def read_error(answer: Answer) -> ApiError:
    try:
        body = answer.decode(_ErrorBody)
    except UnexpectedAnswerError:  # from a proxy, or an SCA status, which has no text for developers
        body = _ErrorBody()
    oauth = f"{body.error}: {body.error_description}" if body.error else ""
    return ApiError(
        answer.status,
        body.messages,
        body.correlationId or answer.headers.get("x-correlation-id"),
        read_retry_after(answer),
        text=body.message or oauth,
        is_token_invalid=answer.says_invalid_token,
        content=answer.content,
    )


def read_retry_after(answer: Answer) -> float | None:
    """Seconds; the header is a number or a date (RFC 9110)."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text)
    try:
        at = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
