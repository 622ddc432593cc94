"""All that is wrong with a JSON body, where the decoder names only the first wrong field."""

import re
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Union

import msgspec

MAX_ERRORS = 50
MAX_NAME = 64  # characters of a name that the caller chose

_MISSING = re.compile(r"Object missing required field `(.*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_STEP = re.compile(r"\.([^.\[\]`]+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class FieldError:
    path: tuple[str | int, ...]
    detail: str

    @property
    def pointer(self) -> str:
        """RFC 6901; empty for the body as a whole."""
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.path)

    def __str__(self) -> str:
        name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return f"{name.removeprefix('.') or 'body'}: {self.detail}"


def find_field_errors(body: bytes, expected: Any) -> list[FieldError]:
    """In the order of the type's fields, at most `MAX_ERRORS`. Empty for a body that has the type.

    Raises the decoder's error where the body is no JSON behind its first wrong field.
    """
    return list(islice(_find(body, expected, ()), MAX_ERRORS))


def read_field_error(text: str, path: tuple[str | int, ...] = ()) -> FieldError:
    """msgspec's words: `Expected str, got int - at $.username` is about the field username."""
    problem, _, place = text.partition(" - at `")
    path += tuple(name or int(number) for name, number in _STEP.findall(place))
    for pattern, detail in ((_MISSING, "is required"), (_UNKNOWN, "is unknown")):
        named = pattern.fullmatch(problem)
        if named:
            return FieldError((*path, named[1][:MAX_NAME]), detail)
    return FieldError(path, f"{problem[:1].lower()}{problem[1:]}".replace("`", ""))


def _find(raw: bytes | msgspec.Raw, expected: Any, path: tuple[str | int, ...]) -> Iterator[FieldError]:
    try:
        msgspec.json.decode(raw, type=expected)
    except msgspec.ValidationError as error:
        first = read_field_error(str(error), path)
    else:
        return
    is_found = False
    for found in _find_in_parts(raw, expected, path):
        is_found = True
        yield found
    if not is_found:
        yield first


def _find_in_parts(raw: bytes | msgspec.Raw, expected: Any, path: tuple[str | int, ...]) -> Iterator[FieldError]:
    """Nothing where the value has no parts, or is no object or array although it should be."""
    expected = _unwrap(expected)
    origin = typing.get_origin(expected)
    if isinstance(expected, type) and issubclass(expected, msgspec.Struct):
        yield from _find_in_struct(raw, expected, path)
    elif origin is list:
        for number, part in enumerate(_decode(raw, list[msgspec.Raw]) or []):
            yield from _find(part, typing.get_args(expected)[0], (*path, number))
    elif origin is dict:
        for name, part in (_decode(raw, dict[str, msgspec.Raw]) or {}).items():
            yield from _find(part, typing.get_args(expected)[1], (*path, name[:MAX_NAME]))


def _find_in_struct(
    raw: bytes | msgspec.Raw, expected: type[msgspec.Struct], path: tuple[str | int, ...]
) -> Iterator[FieldError]:
    parts = _decode(raw, dict[str, msgspec.Raw])
    if parts is None:
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(expected)}
    for name, field in fields.items():
        if name in parts:
            yield from _find(parts[name], field.type, (*path, name))
        elif field.required:
            yield FieldError((*path, name), "is required")


def _unwrap(expected: Any) -> Any:
    """Without annotations, and without None where the rest is a single type."""
    while True:
        origin = typing.get_origin(expected)
        if origin is Annotated:
            expected = typing.get_args(expected)[0]
            continue
        if origin in (Union, types.UnionType):
            members = [
                member for member in typing.get_args(expected) if member not in (types.NoneType, msgspec.UnsetType)
            ]
            if len(members) == 1:
                expected = members[0]
                continue
        return expected


def _decode(raw: bytes | msgspec.Raw, expected: Any) -> Any:
    try:
        return msgspec.json.decode(raw, type=expected)
    except msgspec.ValidationError:
        return None
