"""What an operation answers, and the errors it may raise instead."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kontor.api.field_errors import FieldError
from kontor.wire.encoding import encode_json
from kontor.wire.errors import Message

JSON = "application/json"
PROBLEM_JSON = "application/problem+json"
FORM = "application/x-www-form-urlencoded"
BASE64 = "application/octet-stream+base64"
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


@dataclass(slots=True)
class Answer:
    status: int
    body: bytes = b""
    media_type: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    pieces: AsyncIterator[bytes] | None = None  # instead of a body, for long ones


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, encode_json(value), JSON, headers or {})


def empty_answer(status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, headers=headers or {})


def created(location: str) -> Answer:
    return Answer(201, headers={"Location": location})


class HttpError(Exception):
    """An answer of 4xx or 5xx with our error body."""

    def __init__(
        self,
        status: int,
        message: str,
        headers: dict[str, str] | None = None,
        messages: list[Message] | None = None,
        field_errors: Sequence[FieldError] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
        self.messages = messages or []
        self.field_errors = tuple(field_errors)

    def __reduce__(self) -> tuple[Any, ...]:
        """Also raised in compute processes, from where it must come back whole."""
        return HttpError, (self.status, self.message, self.headers, self.messages, self.field_errors)


class OAuthError(Exception):
    """An answer of the token endpoints after RFC 6749."""

    def __init__(self, status: int, error: str, description: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(description)
        self.status = status
        self.error = error
        self.description = description
        self.headers = headers or {}
