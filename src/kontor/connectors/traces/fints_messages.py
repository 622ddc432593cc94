"""Masking FinTS messages. A table says which elements of which segments stay; all others are masked.

A message is taken apart by its separators alone, so that what a bank does differently stays as it is. In a trace it is
a list of segments as texts; the segments inside of HNVSD are a list of their own.
"""

import re
from typing import Any, TypeAlias

from kontor.connectors.traces.masking import HIDDEN, Mask
from kontor.connectors.traces.payloads import mask_payload

Value: TypeAlias = str | bytes  # binary values have their length before them
Segment: TypeAlias = list[list[Value]]  # elements, and their components; the first element is the segment's head

ENCODING = "latin-1"
ENVELOPE = "HNVSD"
REMARKS = ("HIRMG", "HIRMS")
METHODS = "3920"  # the return code whose parameters are methods
_PART = re.compile(rb"\?(.)|([^?:+@']+)|([:+'])|@([0-9]{1,9})@", re.DOTALL)
_SPECIAL = re.compile(r"([?+:'@])")
_PARAMETERS = re.compile(r"[A-Z]I[A-Z]{3}S|HIBPA|HIKOM|HISHV")
_CHALLENGE = re.compile(r"((?:CHLGUC  [0-9]{4})?)(.*?)((?:CHLGTEXT[0-9]{4})?)([^\x00]*)", re.DOTALL)
_CODE = re.compile(r"urn:[\w:.-]{1,60}|[\w,.:/-]{0,20}", re.ASCII)
_COMMAND = re.compile(r"[A-Z]K[A-Z]{3}")
# What happens to each component of an element: k it stays if it looks like a code or a number, a it is an amount, m it
# is masked, w as m without fixed words, x it is hidden. The last letter goes for all further components. Element 0
# stands for all that are not named.
KEPT_WHOLE, MASKED_WHOLE = {0: "K"}, {0: "m"}
_ACCOUNT, COMMANDS = "mmkkm", "kkkakk"
_RULES: dict[str, dict[int, str]] = {
    "HNHBK": {1: "k", 2: "k", 3: "m", 4: "k", 5: "mk"},
    "HNHBS": {1: "k"},
    "HNVSK": {1: "k", 2: "k", 3: "k", 4: "km", 5: "k", 6: "kkkmk", 7: "kkxk", 8: "k"},
    "HNSHK": {1: "k", 2: "k", 4: "k", 5: "k", 6: "km", 7: "k", 8: "k", 9: "k", 10: "k", 11: "kkxk"},
    "HNSHA": {0: "x", 1: "m", 2: "m"},
    "HKIDN": {1: "k", 2: "x", 3: "m", 4: "k"},
    "HKVVB": {1: "k", 2: "k", 3: "k", 4: "x", 5: "k"},
    "HKSYN": {1: "k"},
    "HIUPA": {1: "x", 2: "k", 3: "k"},
    "HIUPD": {0: COMMANDS, 1: _ACCOUNT, 2: "m", 3: "x", 4: "k", 5: "k", 6: "m", 7: "m", 8: "w", 9: "kakk"},
    "HISPA": {0: "kmkmmkk"},
    "HISAL": {
        1: "m", 2: "w", 3: "k", 4: "kakk", 5: "kakk", 6: "ak", 7: "ak", 8: "ak", 9: "ak", 10: "k", 11: "k"
    },
    "HKKAZ": {2: "k", 3: "k", 4: "k", 5: "k"},
    "HKCAZ": {2: "k", 3: "k", 4: "k", 5: "k", 6: "k"},
    "HICAZ": {2: "k"},
    "HKSAL": {2: "k"},
    "HKKAU": {2: "k"},
    "HIKAU": {1: "k", 2: "k", 3: "k", 4: "k", 5: "k", 6: "k"},
    "HKEKA": {2: "k", 3: "k", 4: "k", 5: "k"},
    "HKEKP": {2: "k", 3: "k", 4: "k"},
    "HIEKA": {0: "x", 1: "k", 2: "k"},
    "HIEKP": {0: "x"},
    "HKTAN": {1: "k", 2: "k", 6: "k", 7: "k"},
    "HITAN": {1: "k", 3: "w", 4: "w", 6: "k"},
    "HKTAB": {1: "k", 2: "k"},
    "HITAB": {0: "kkmmkmmkkkkm", 1: "k"},
}  # fmt: skip


class UnreadableError(ValueError):
    """This is not a FinTS message."""


def mask_message(mask: Mask, data: bytes) -> Any:
    """As a list of segments; a text where the message cannot be taken apart."""
    try:
        segments = split_message(data)
        masked = [_mask_segment(mask, segment) for segment in segments]
    except UnreadableError:
        return mask.mask_text(data.decode(ENCODING))
    return show_message(_note_size(masked))


def show_message(segments: list[Segment]) -> list[Any]:
    """For a trace file."""
    shown: list[Any] = []
    for segment in segments:
        inner = _find_inner(segment)
        if inner is None:
            shown.append(_join_segment(segment).decode(ENCODING))
        else:
            shown.append({"head": _join_segment(segment[:1]).decode(ENCODING), "segments": show_message(inner)})
    return shown


def read_message(shown: Any) -> bytes:
    """The message of a trace file, as it is sent."""
    if isinstance(shown, str):
        return shown.encode(ENCODING)
    parts = []
    for segment in shown:
        if isinstance(segment, str):
            parts.append(segment.encode(ENCODING) + b"'")
        else:
            inner = read_message(segment["segments"])
            parts.append(b"%s+@%d@%s'" % (segment["head"].encode(ENCODING), len(inner), inner))
    return b"".join(parts)


def list_kinds(shown: Any) -> list[str]:
    """Kinds and versions of all segments."""
    kinds = []
    for segment in shown if isinstance(shown, list) else []:
        head = segment if isinstance(segment, str) else segment["head"]
        kind, _, version = head.partition("+")[0].split(":")[:3]
        kinds.append(f"{kind}{version}")
        if not isinstance(segment, str):
            kinds += list_kinds(segment["segments"])
    return kinds


# Taking apart and putting together


def split_message(data: bytes) -> list[Segment]:
    segments: list[Segment] = []
    segment: Segment = [[]]
    value: Value = ""
    place = 0
    while place < len(data):
        found = _PART.match(data, place)
        if found is None:
            raise UnreadableError
        place = found.end()
        escaped, plain, separator, size = found.groups()
        if size is not None:
            if place + int(size) > len(data):
                raise UnreadableError
            value, place = data[place : place + int(size)], place + int(size)
        elif separator is None:
            if isinstance(value, bytes):
                raise UnreadableError
            value += (escaped or plain).decode(ENCODING)
        else:
            segment[-1].append(value)
            value = ""
            if separator == b"+":
                segment.append([])
            elif separator == b"'":
                segments.append(segment)
                segment = [[]]
    if value or segment != [[]] or not segments:
        raise UnreadableError
    return segments


def join_message(segments: list[Segment]) -> bytes:
    return b"".join(_join_segment(segment) + b"'" for segment in segments)


def _join_segment(segment: Segment) -> bytes:
    return b"+".join(b":".join(_join_value(value) for value in element) for element in segment)


def _join_value(value: Value) -> bytes:
    if isinstance(value, bytes):
        return b"@%d@%s" % (len(value), value)
    return _SPECIAL.sub(r"?\1", value).encode(ENCODING)


def _find_inner(segment: Segment) -> list[Segment] | None:
    """The segments inside of the envelope, which has one binary element."""
    if segment[0][0] != ENVELOPE or len(segment) != 2 or len(segment[1]) != 1 or not isinstance(segment[1][0], bytes):
        return None
    try:
        return split_message(segment[1][0])
    except UnreadableError:
        return None


def _note_size(segments: list[Segment]) -> list[Segment]:
    """The size of the whole message stands in its head, in twelve digits."""
    first = segments[0]
    if first[0][0] == "HNHBK" and len(first) > 1:
        first[1] = ["0" * 12]
        first[1] = [f"{len(join_message(segments)):012}"]
    return segments


# Masking


def _mask_segment(mask: Mask, segment: Segment) -> Segment:
    head = segment[0]
    kind = head[0] if isinstance(head[0], str) else ""
    if not all(isinstance(value, str) and re.fullmatch(r"[A-Z]{0,6}[0-9]{0,4}", value) for value in head):
        return [[_mask_value(mask, "m", value) for value in element] for element in segment]
    inner = _find_inner(segment)
    if inner is not None:
        return [head, [join_message([_mask_segment(mask, part) for part in inner])]]
    if kind in REMARKS:
        return [head, *(_mask_remark(mask, element) for element in segment[1:])]
    rules = KEPT_WHOLE if _PARAMETERS.fullmatch(kind) else _RULES.get(kind, MASKED_WHOLE)
    masked = [
        _mask_element(mask, rules.get(number, rules.get(0, "m")), element)
        for number, element in enumerate(segment[1:], start=1)
    ]
    return [head, *masked]


def _mask_element(mask: Mask, rule: str, element: list[Value]) -> list[Value]:
    if rule == COMMANDS and not (isinstance(element[0], str) and _COMMAND.fullmatch(element[0])):
        rule = "m"  # a bank's own extension
    letters = rule.ljust(len(element), rule[-1])
    return [_mask_value(mask, letter, value) for letter, value in zip(letters, element, strict=False)]


def _mask_remark(mask: Mask, element: list[Value]) -> list[Value]:
    """A return code: code, the element that it speaks of, text, parameters."""
    return _mask_element(mask, "kkwk" if element[0] == METHODS else "kkwm", element)


def _mask_value(mask: Mask, letter: str, value: Value) -> Value:
    is_code = letter == "k" and isinstance(value, str) and _CODE.fullmatch(value)
    if not value or letter == "K" or is_code:
        return value
    if letter == "x":
        return HIDDEN
    if isinstance(value, bytes):
        return _mask_binary(mask, value)
    if letter == "a":
        return mask.scale(value)
    if letter == "w" and (found := _CHALLENGE.fullmatch(value)):
        return "".join(
            part if place % 2 == 0 else mask.mask_text(part, keeps_words=True)
            for place, part in enumerate(found.groups())
        )
    return mask.mask_text(value)


def _mask_binary(mask: Mask, value: bytes) -> bytes:
    """An image of a challenge shows the order: nothing but its kind and its size stay."""
    size = int.from_bytes(value[:2])
    if value[2:8] == b"image/" and len(value) >= 4 + size:
        return value[: 4 + size] + bytes(len(value) - 4 - size)
    return mask_payload(mask, value)
