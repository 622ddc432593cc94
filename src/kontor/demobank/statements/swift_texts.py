"""Texts and amounts as SWIFT messages carry them."""

import re
from datetime import date
from decimal import Decimal

LINE_END = "\r\n"
_SPACES = re.compile(r"[\x00-\x20\x7f-\xa0]")
_SUBSTITUTES = str.maketrans(
    {"€": "EUR", "–": "-", "—": "-", "„": '"', "“": '"', "”": '"', "’": "'", "‘": "'", "…": "..."}
)


def make_swift_text(text: str) -> str:
    """Latin-1 in one line. A question mark would begin a subfield, so it becomes a full stop."""
    plain = _SPACES.sub(" ", text.translate(_SUBSTITUTES)).replace("?", ".")
    return plain.encode("latin-1", "replace").decode("latin-1").replace("?", ".")


def cut_text(text: str, width: int, count: int) -> list[str]:
    """Pieces of `width` characters, at most `count` of them; the rest has no room in the format."""
    return [text[start : start + width] for start in range(0, min(len(text), width * count), width)]


def write_number(number: Decimal) -> str:
    """Unsigned, with the decimal comma that SWIFT always wants: `12,5` and `12,`."""
    text = f"{abs(number):f}"
    whole, _, cents = text.partition(".")
    return f"{whole},{cents}"


def write_short_date(day: date) -> str:
    return day.strftime("%y%m%d")
