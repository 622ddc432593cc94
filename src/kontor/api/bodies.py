"""Reading request bodies: bounded in size and depth; strict about JSON; precise about what is wrong."""

import json
import math
import re
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from kontor.api.answers import HttpError
from kontor.api.field_errors import MAX_NAME, find_field_errors, read_field_error
from kontor.api.slow_bodies import LAST_ANSWER, SlowBodyError

T = TypeVar("T")
Q = TypeVar("Q", bound=msgspec.Struct)
Receive = Callable[[], Awaitable[Any]]

MAX_DEPTH = 32
NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
# An unfinished string goes up to the end: were it no match, the search would start anew at every quote inside it.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}


async def read_body(receive: Receive, declared_length: str | None, limit: int) -> bytes:
    """The whole body, or 413 beyond the limit, or 408 when the caller is too slow."""
    if declared_length is not None and _exceeds(declared_length, limit):
        raise _too_large(limit)
    chunks: list[bytes] = []
    size = 0
    while True:
        try:
            event = await receive()
        except SlowBodyError:
            raise HttpError(408, "The body did not arrive in time.", dict(LAST_ANSWER)) from None
        if event["type"] == "http.disconnect":
            raise HttpError(400, "The caller went away before the body was complete.")
        chunk = event.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        chunks.append(chunk)
        if not event.get("more_body", False):
            return b"".join(chunks)


def _exceeds(declared_length: str, limit: int) -> bool:
    digits = declared_length.strip().lstrip("0")
    return digits.isascii() and digits.isdigit() and (len(digits) > len(str(limit)) or int(digits) > limit)


def _too_large(limit: int) -> HttpError:
    return HttpError(413, f"The body has more than {limit} bytes.", dict(LAST_ANSWER))


def decode_json(body: bytes, expected: type[T]) -> T:
    """Decode and check against the type. Duplicate keys, NaN, infinities and deep nesting are refused."""
    if not body:
        raise HttpError(400, "A JSON body is required.")
    _check_depth(body)
    decoder = _DECODERS.get(expected)
    if decoder is None:
        decoder = _DECODERS[expected] = msgspec.json.Decoder(expected)
    try:
        value: T = decoder.decode(body)
    except msgspec.ValidationError:
        raise _refuse_fields(body, expected) from None
    except NOT_JSON as error:
        raise _refuse_syntax(error) from None
    _check_keys(body)
    return value


def decode_json_map(body: bytes, expected: type[T]) -> dict[str, T]:
    """An object whose keys the caller chose."""
    return decode_json(body, dict[str, expected])  # type: ignore[valid-type]


def _refuse_fields(body: bytes, expected: Any) -> HttpError:
    try:
        errors = find_field_errors(body, expected)
    except NOT_JSON as error:  # the decoder stops at the first wrong field; the syntax may be wrong behind it
        return _refuse_syntax(error)
    return HttpError(400, "; ".join(map(str, errors)), field_errors=errors)


def _refuse_syntax(error: Exception) -> HttpError:
    return HttpError(400, f"The body is not valid JSON: {error}")


def _check_depth(body: bytes) -> None:
    depth = 0
    for bracket in _STRING.sub(b"", body).translate(None, _NOT_BRACKET):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise HttpError(400, f"The JSON is nested deeper than {MAX_DEPTH} levels.")


def _check_keys(body: bytes) -> None:
    """The decoder keeps the last of two equal keys silently; two parsers that differ here can be played off."""

    def refuse_duplicates(pairs: list[tuple[str, Any]]) -> None:
        twice = _find_repeated(pairs)
        if twice is not None:
            raise HttpError(400, f"{twice[:64]}: the key occurs twice in one object")

    def refuse_infinity(text: str) -> None:
        if math.isinf(float(text)):
            raise HttpError(400, "The body is not valid JSON: a number is out of range")

    try:
        # The decoder checks only what it is asked for; here, whole numbers stay text, since long ones are costly.
        json.loads(body, object_pairs_hook=refuse_duplicates, parse_int=str, parse_float=refuse_infinity)
    except ValueError as error:
        raise _refuse_syntax(error) from None


def _find_repeated(pairs: list[tuple[str, Any]]) -> str | None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return name
        seen.add(name)
    return None


def parse_pairs(text: str, what: str) -> dict[str, str]:
    """Form or query text; a name that occurs twice is refused, since two readers might pick different ones."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise HttpError(400, f"The {what} is not valid URL encoding.") from None
    twice = _find_repeated(pairs)
    if twice is not None:
        raise HttpError(400, f"{twice[:64]}: the parameter occurs twice")
    return dict(pairs)


def convert_query(values: dict[str, str], expected: type[Q]) -> Q:
    try:
        query = msgspec.convert(values, expected, strict=False)
    except msgspec.ValidationError as error:
        # None stands for a parameter that was left out, so nobody is told that null is expected.
        raise HttpError(400, str(read_field_error(str(error).replace(" | null", "")))) from None
    for name, attribute in _list_fields(expected):
        if name in values and getattr(query, attribute) is None:
            raise HttpError(400, f"{name}: null is no value")
    return query


def check_query_names(values: Iterable[str], query: type[msgspec.Struct] | None) -> None:
    """Names that the operation does not have are refused: a misspelt filter must not look like an empty one."""
    unknown = [name for name in values if name not in list_query_names(query)]
    if unknown:
        raise HttpError(400, "; ".join(f"{name[:MAX_NAME]}: is unknown" for name in unknown))


@cache
def list_query_names(query: type[msgspec.Struct] | None) -> frozenset[str]:
    if query is None:
        return frozenset()
    return frozenset(name for name, _ in _list_fields(query))


@cache
def _list_fields(shape: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """The names in queries and those of attributes. msgspec evaluates all annotations each time it is asked."""
    return tuple((field.encode_name, field.name) for field in msgspec.structs.fields(shape))
