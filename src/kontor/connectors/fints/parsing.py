"""python-fints reads a message in half the time when some of its steps are replaced. The result is the same.

For every segment it compares the names of all its two hundred classes; it renders each inner message again only to
compare its length with a limit that no such field has; for every token it copies the rest of the message; it fills a
list with up to 999 empty values and looks at all of them to find the last one; and it reads the parameters of a bank
anew for each of its customers, which takes ten times as long as finding them among those already read. It still needs
microseconds for a byte of a segment, so that a bank could keep a thread busy for minutes: the size of what is not
binary is limited.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from fints.fields import SegmentSequenceField
from fints.formals import SegmentHeader
from fints.parser import FinTS3Parser, FinTS3Serializer, Token
from fints.segments.base import FinTS3Segment
from fints.types import Container, ValueList

# Parameters of banks have a twentieth of it. Statements, pictures and pain documents are binary.
MAX_STRUCTURE_BYTES = 1_000_000
_BINARY = re.compile(rb"(?<!\?)@(\d{1,9})@")
_ENVELOPE = re.compile(rb"HNVSD:\d{1,3}:\d{1,3}\+$")
_TOKEN = re.compile(rb"\?(.)|([^?:+@']+)|([+:'])|@([0-9]+)@", re.DOTALL)
_TEXT, _SIGN = 2, 3  # groups
_SIGNS = {b"+": Token.PLUS, b":": Token.COLON, b"'": Token.APOSTROPHE}
# Larger parameters are read each time: what a bank sends must not fill the memory. Empty parts count as well.
_MAX_KEPT_SIZE = 4_000


def measure_structure(message: bytes) -> int:
    """Bytes that the parser looks at one by one: all but binary data. The envelope's data are segments themselves."""
    size = position = 0
    while match := _BINARY.search(message, position):
        size += match.end() - position
        is_envelope = _ENVELOPE.search(message, max(0, match.start() - 16), match.start()) is not None
        position = match.end() + (0 if is_envelope else int(match[1]))
    return size + max(0, len(message) - position)


def _list_tokens(data: bytes, start: int, end: int) -> Iterator[tuple[Token, Any]]:
    """Tokens with their contents. Texts with escaped signs come in several pieces and are one token."""
    position, text, is_value = start, [], False
    while position < end:
        found = _TOKEN.match(data, position, end)
        if found is None or found.lastindex is None:
            raise ValueError
        position, kind = found.end(), found.lastindex
        if kind <= _TEXT:
            text.append(found[kind])
            continue
        if text:
            if is_value:
                raise ValueError
            yield Token.CHAR, b"".join(text).decode("iso-8859-1")
            text, is_value = [], True
        if kind == _SIGN:
            yield _SIGNS[found[kind]], found[kind]
            is_value = False
            continue
        if is_value:
            raise ValueError
        size = int(found[kind])
        yield Token.BINARY, data[position : position + size]
        position, is_value = position + size, True
    if text:
        if is_value:
            raise ValueError
        yield Token.CHAR, b"".join(text).decode("iso-8859-1")


def split_segments(data: bytes, start: int = 0, end: int | None = None) -> list[list[Any]]:
    """Segments as lists of elements; an element of several parts is a list. ValueError as the library raises it."""
    segments: list[list[Any]] = []
    segment: list[Any] = []
    parts: list[Any] = []
    value, is_open = None, False

    def close() -> None:
        if parts and value:
            parts.append(value)
        segment.append(parts or value)

    for token, content in _list_tokens(data, start, end or len(data)):
        if token is Token.COLON:
            parts.append(value)
            value, is_open = None, True
        elif token is Token.PLUS:
            close()
            parts, value, is_open = [], None, False
        elif token is Token.APOSTROPHE:
            if is_open:
                close()
            segments.append(segment)
            segment, parts, value, is_open = [], [], None, False
        else:
            value, is_open = content, True
    if segment or is_open:
        raise ValueError
    return segments


def find_class(segment: Any) -> Any:
    header = SegmentHeader.naive_parse(segment[0])
    return _find_class(header.type, header.version)


@lru_cache(maxsize=1024)  # the name and the version are the bank's
def _find_class(name: str, version: int) -> Any:
    found = FinTS3Segment
    for candidate in FinTS3Segment._all_subclasses():
        if name == candidate.TYPE and version == candidate.VERSION:
            found = candidate
    return found


def is_parameter(segment: Any) -> bool:
    return _names_parameter(segment.header.type)


def _names_parameter(name: Any) -> bool:
    return isinstance(name, str) and len(name) == 6 and name[1] == "I" and name[5] == "S"


def _make_key(segment: list[Any]) -> tuple[Any, ...] | None:
    """Of the parameters of a business; None for other segments, and for large ones."""
    header = segment[0] if segment else None
    if not isinstance(header, list) or not _names_parameter(header[0]):
        return None
    parts = (part for each in segment for part in (each if isinstance(each, list) else [each]))
    if sum(1 + len(part or "") for part in parts) > _MAX_KEPT_SIZE:
        return None
    return tuple(tuple(each) if isinstance(each, list) else each for each in segment)


_parse_segment = FinTS3Parser.parse_segment
_received: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()


def _parse(parser: FinTS3Parser, segment: list[Any]) -> Any:
    parsed = _parse_segment(parser, segment)
    _drop_empty_ends(parsed)
    return parsed


@lru_cache(maxsize=256)
def _parse_parameter(key: tuple[Any, ...]) -> Any:
    return _parse(FinTS3Parser(), [list(each) if isinstance(each, tuple) else each for each in key])


def parse_segment(parser: FinTS3Parser, segment: list[Any]) -> Any:
    """A bank's parameters are the same for all its customers, and nobody changes what was read."""
    key = _make_key(segment)
    parsed = _parse(parser, segment) if key is None else _parse_parameter(key)
    if is_parameter(parsed) or parsed.header.type == "HIUPD":
        _received[parsed] = segment
    return parsed


def write_segment(segment: Any) -> bytes:
    """As the bank has sent it, where it is known: the library takes milliseconds to put one together."""
    elements = _received.get(segment)
    if elements is None:
        return bytes(FinTS3Serializer().serialize_message(segment))
    return bytes(FinTS3Serializer.implode_segments([elements]))


def _find_length(values: ValueList) -> int:
    """Without the empty values at the end."""
    return next((place for place in range(len(values._data), 0, -1) if not _is_empty(values._data[place - 1])), 0)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, Container) and bool(value.is_unset()))


def list_values(values: ValueList) -> list[Any]:
    """What the bank has sent, where the library would create all 999 values that a list may have."""
    return list(values._data[: _find_length(values)])


def _drop_empty_ends(container: Container) -> None:
    """Of all lists. Only before others know the segment: threads share a bank's parameters."""
    for value in container._values.values():
        if isinstance(value, ValueList):
            del value._data[_find_length(value) :]
        for inner in value._data if isinstance(value, ValueList) else [value]:
            if isinstance(inner, Container):
                _drop_empty_ends(inner)


def patch_fints_parser() -> None:
    ValueList._get_minimal_true_length = _find_length
    FinTS3Parser.explode_segments = staticmethod(split_segments)
    FinTS3Parser.parse_segment = parse_segment
    FinTS3Segment.find_subclass = staticmethod(find_class)
    SegmentSequenceField._check_value = _accept


def _accept(field: Any, value: Any) -> None:
    """Every inner message is well formed: it was parsed, or made of segments."""
