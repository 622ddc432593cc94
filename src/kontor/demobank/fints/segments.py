"""The wire format: segments of elements, elements of groups, with `?` before a character that is meant literally.

`HKSAL:3:7+DE89…:KONTDEFF+N'` is the segment HKSAL, number 3, version 7, with two elements. Binary values carry their
length: `@5@hello`. Text is ISO 8859-1.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from decimal import Decimal
from typing import TypeAlias

Value: TypeAlias = str | bytes
Group: TypeAlias = tuple[Value, ...]
Writable: TypeAlias = str | bytes | int | Decimal | date | time | bool | None

CHARSET = "iso-8859-1"
MAX_SEGMENTS = 200
MAX_VALUES = 5_000  # of a whole message
_MARKS = re.compile(rb"[?:+']")
_LENGTH = re.compile(rb"@([0-9]{1,9})@")
_SPECIAL = re.compile(r"[?:+'@]")
_CODE = re.compile(r"[A-Z]{5,6}")
_DAY = re.compile(r"[0-9]{8}")
_AMOUNT = re.compile(r"[0-9]{1,15},[0-9]{0,2}")


class WireError(Exception):
    """What was sent is no FinTS. `code` is the answer's."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Segment:
    """`reference` is the number of the segment that this one answers."""

    code: str
    version: int
    elements: tuple[Group, ...] = ()
    number: int = 0
    reference: int | None = None

    def read(self, element: int, place: int = 0) -> str:
        """A value as text; empty if it is not there. Elements count from 1, as the specification does."""
        value = self._find(element, place)
        return value.decode(CHARSET) if isinstance(value, bytes) else value

    def read_binary(self, element: int, place: int = 0) -> bytes:
        value = self._find(element, place)
        return value if isinstance(value, bytes) else value.encode(CHARSET)

    def read_group(self, element: int) -> tuple[str, ...]:
        """All values of an element as texts."""
        if not 0 < element <= len(self.elements):
            return ()
        return tuple(
            value.decode(CHARSET) if isinstance(value, bytes) else value for value in self.elements[element - 1]
        )

    def read_day(self, element: int) -> date | None:
        text = self.read(element)
        return parse_day(text) if text else None

    def read_amount(self, element: int) -> Decimal | None:
        text = self.read(element)
        if not text:
            return None
        if not _AMOUNT.fullmatch(text):
            raise WireError("9120", f"{self.code}: {text!r} is no amount")
        return Decimal(text.replace(",", ".") + "0")

    def _find(self, element: int, place: int) -> Value:
        if not 0 < element <= len(self.elements) or place >= len(self.elements[element - 1]):
            return ""
        return self.elements[element - 1][place]


def parse_day(text: str) -> date:
    try:
        if not _DAY.fullmatch(text):
            raise ValueError
        return date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError:
        raise WireError("9120", f"{text!r} is no date") from None


def make_segment(code: str, version: int, *elements: Writable | Sequence[Writable]) -> Segment:
    """A segment from plain values; a sequence is a group. Numbers are given when a message is put together."""
    groups = (element if isinstance(element, tuple | list) else (element,) for element in elements)
    return Segment(code, version, tuple(tuple(write_value(value) for value in group) for group in groups))


def write_value(value: Writable) -> Value:
    match value:
        case bytes() | str():
            return value
        case None:
            return ""
        case bool():
            return "J" if value else "N"
        case Decimal():
            return write_amount(value)
        case date():
            return f"{value:%Y%m%d}"
        case time():
            return f"{value:%H%M%S}"
    return str(value)


def write_amount(amount: Decimal) -> str:
    """Without a sign and without zeros at its end: `12,5`, `3,`."""
    text = f"{abs(amount):f}"
    if "." not in text:
        return f"{text},"
    return text.rstrip("0").replace(".", ",")


def write_segments(segments: Iterable[Segment]) -> bytes:
    return b"".join(map(write_segment, segments))


def write_segment(segment: Segment) -> bytes:
    head = f"{segment.code}:{segment.number}:{segment.version}"
    if segment.reference is not None:
        head += f":{segment.reference}"
    elements = [_write_group(group) for group in segment.elements]
    while elements and not elements[-1]:
        elements.pop()
    return b"+".join([head.encode(CHARSET), *elements]) + b"'"


def _write_group(group: Group) -> bytes:
    values = [_write_one(value) for value in group]
    while values and not values[-1]:
        values.pop()
    return b":".join(values)


def _write_one(value: Value) -> bytes:
    if isinstance(value, bytes):
        return b"@%d@%b" % (len(value), value) if value else b""
    return _SPECIAL.sub(lambda match: f"?{match[0]}", value).encode(CHARSET, "replace")


def number_segments(segments: Iterable[Segment], first: int) -> list[Segment]:
    return [replace(segment, number=number) for number, segment in enumerate(segments, first)]


# Reading


def parse_segments(data: bytes) -> list[Segment]:
    """All segments, in one pass over the bytes."""
    segments: list[Segment] = []
    reader = _Reader(data)
    while reader.position < len(data):
        segments.append(_make_read_segment(reader.read_segment()))
        if len(segments) > MAX_SEGMENTS:
            raise WireError("9110", "too many segments")
    return segments


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self._values = 0

    def read_segment(self) -> list[list[Value]]:
        elements: list[list[Value]] = [[]]
        while True:
            value, mark = self._read_value()
            elements[-1].append(value)
            if mark == b"'":
                return elements
            if mark == b"+":
                elements.append([])

    def _read_value(self) -> tuple[Value, bytes]:
        """A value and the mark that ends it."""
        self._values += 1
        if self._values > MAX_VALUES:
            raise WireError("9110", "too many values")
        if self.data[self.position : self.position + 1] == b"@":
            return self._read_binary()
        text = bytearray()
        while True:
            match = _MARKS.search(self.data, self.position)
            if match is None:
                raise WireError("9110", "a segment has no end")
            text += self.data[self.position : match.start()]
            self.position = match.end()
            if match[0] != b"?":
                return text.decode(CHARSET), match[0]
            if self.position >= len(self.data):
                raise WireError("9110", "nothing follows an escape")
            text.append(self.data[self.position])
            self.position += 1

    def _read_binary(self) -> tuple[bytes, bytes]:
        match = _LENGTH.match(self.data, self.position)
        if match is None:
            raise WireError("9110", "a binary value has no length")
        start, end = match.end(), match.end() + int(match[1])
        mark = self.data[end : end + 1]
        if end >= len(self.data) or mark not in (b":", b"+", b"'"):
            raise WireError("9110", "a binary value is not as long as it says")
        self.position = end + 1
        return self.data[start:end], mark


def _make_read_segment(elements: list[list[Value]]) -> Segment:
    head = elements[0]
    if not 3 <= len(head) <= 4 or not all(isinstance(value, str) for value in head):
        raise WireError("9110", "a segment has no proper head")
    code, *numbers = (str(value) for value in head)
    if not _CODE.fullmatch(code) or not all(
        number.isascii() and number.isdigit() and len(number) <= 3 for number in numbers
    ):
        raise WireError("9110", "a segment has no proper head")
    reference = int(numbers[2]) if len(numbers) > 2 else None
    body = tuple(tuple(group) for group in elements[1:])
    return Segment(code, int(numbers[1]), body, int(numbers[0]), reference)
