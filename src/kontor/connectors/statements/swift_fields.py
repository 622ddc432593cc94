"""SWIFT messages as a list of fields."""

import re

from kontor.connectors.statements.decoding import check_size, decode_text
from kontor.connectors.statements.results import Limits, StatementError

_FIELD = re.compile(r"\n:([0-9]{2}[A-Z]?):")
_MESSAGE_END = re.compile(r"\n-(?:\}[^\n]*)?[ \t]*(?:\n\{[^\n]*)*(?=\n|$)")


def read_swift_text(data: bytes, limits: Limits) -> str:
    """The text with plain line ends, beginning with one, without the marks between messages."""
    check_size(data, limits)
    text = decode_text(data)
    if "@@" in text and "\n" not in text.strip():
        text = text.replace("@@", "\n")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _MESSAGE_END.sub("", "\n" + text.strip("\n\ufeff\x00 "))


def split_fields(text: str) -> list[str]:
    """What stands before the first field, then tag and content in turn."""
    return _FIELD.split(text)


def fail_at(text: str, offset: int, tag: str, content: str, message: str) -> StatementError:
    found = text.find(f"\n:{tag}:{content}", offset)
    return StatementError(message, line=text.count("\n", 0, found + 1), field=tag)
