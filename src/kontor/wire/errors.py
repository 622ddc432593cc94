"""Error bodies: our own, RFC 9457 for those who ask for it, and RFC 6749 for the token endpoints."""

from http import HTTPStatus
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Level = Annotated[Literal["INFO", "ERROR"], Meta(title="MessageLevel")]


class Message(msgspec.Struct):
    """A text for the end customer (German), with its code."""

    level: Level
    code: Annotated[str, Meta(description="BA code, such as BA1011", examples=["BA1011"])]
    message: str
    details: str | msgspec.UnsetType = msgspec.UNSET


class ErrorBody(msgspec.Struct):
    """Body of every 4xx and 5xx answer."""

    code: Annotated[str, Meta(description="the HTTP status", pattern="^[45][0-9][0-9]$", examples=["404"])]
    message: Annotated[str, Meta(description="English, for the developer", examples=["There is no such object."])]
    messages: list[Message]
    correlationId: str  # noqa: N815


class WrongField(msgspec.Struct):
    """A field of the request's body that is missing or wrong."""

    pointer: Annotated[str, Meta(description="JSON pointer (RFC 6901)", examples=["/transferDetails/iban"])]
    detail: str


class ProblemBody(msgspec.Struct):
    """The same facts after RFC 9457, for callers that accept application/problem+json."""

    type: str
    title: str
    status: int
    detail: str
    messages: list[Message]
    correlationId: str  # noqa: N815
    errors: list[WrongField] | msgspec.UnsetType = msgspec.UNSET


class OAuthErrorBody(msgspec.Struct):
    """Body of the token endpoints' errors, after RFC 6749."""

    error: Annotated[str, Meta(examples=["invalid_client"])]
    error_description: Annotated[str, Meta(pattern=r"^[\x20-\x21\x23-\x5B\x5D-\x7E]*$")]


def error_body(status: int, message: str, correlation_id: str, messages: list[Message] | None = None) -> ErrorBody:
    return ErrorBody(str(status), message, messages or [], correlation_id)


def problem_body(
    status: int,
    message: str,
    correlation_id: str,
    messages: list[Message] | None = None,
    errors: list[WrongField] | None = None,
) -> ProblemBody:
    title = HTTPStatus(status).phrase
    return ProblemBody("about:blank", title, status, message, messages or [], correlation_id, errors or msgspec.UNSET)
