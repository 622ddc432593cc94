"""SWIFT messages as a list of fields."""

import re

from kontor.connectors.statements.decoding import check_size, decode_text
from kontor.connectors.statements.results import Limits, StatementError

_FIELD = re.compile(r"\n:([0-9]{2}[A-Z]?):")
_MESSAGE_END = re.compile(r"\n-(?:\}[^\n]*)?[ \t]*(?:\n\{[^\n]*)*(?=\n|$)")


def read_swift_text(data: bytes, limits: Limits) -> str:
    """The text with plain line ends, beginning with one, without the marks between messages."""
    check_size(data, limits)
    return _MESSAGE_END.sub("", "\n" + _decode_lines(data).strip("\n\ufeff\x00 "))


def _decode_lines(data: bytes) -> str:
    text = decode_text(data)
    if "@@" in text and "\n" not in text.strip():
        text = text.replace("@@", "\n")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def split_fields(text: str) -> list[str]:
    """What stands before the first field, then tag and content in turn."""
    return _FIELD.split(text)


class LineNumbers:
    """Where fields stand in a file. They are looked for in their order, so that all of them cost one pass."""

    def __init__(self, data: bytes) -> None:
        self._text = "\n" + _decode_lines(data)
        self._place = 0
        self._line = 0

    def find(self, tag: str, content: str) -> int:
        first_line = content.partition("\n")[0]
        start = self._text.find(f"\n:{tag}:{first_line}", self._place)
        if start >= 0:
            self._line += self._text.count("\n", self._place, start + 1)
            self._place = start + 1
        return max(self._line, 1)


def fail_at(text: str, offset: int, tag: str, content: str, message: str) -> StatementError:
    start = text.find(f"\n:{tag}:{content}", offset)
    return StatementError(message, line=text.count("\n", 0, start + 1), field=tag)
