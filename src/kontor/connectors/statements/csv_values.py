"""Days and numbers as banks write them into CSV. What is wrong is a `ValueError`, which knows no place yet."""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import cache

from kontor.connectors.statements.values import MAX_DIGITS, drop_noise, make_day

MAX_NUMBER_LENGTH = 60
_DAY = re.compile(r"([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4}|[0-9]{2})(?:\s.*)?")
_ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[T ].*)?")
_NUMBER = re.compile(r"([+-]?)([0-9]+(?:[0-9.,' ]*[0-9])?)([+-]?)(?:\s*(?:€|EUR|[A-Z]{3}))?")
_MINUS = str.maketrans({"−": "-", "–": "-", "\xa0": " ", "\u202f": " "})
_SIGNS = {",": ".", ".": ","}


def parse_day(text: str) -> date | None:
    """`31.12.2026`, `31.12.26`, `31/12/2026`, `31-12-2026`, `2026-12-31`, with or without a time.

    Words ("offen") are no day.
    """
    text = text.strip()
    if match := _DAY.fullmatch(text):
        year = int(match[3])
        return make_day(year + 2000 if year < 100 else year, int(match[2]), int(match[1]))
    if match := _ISO_DAY.fullmatch(text):
        return make_day(int(match[1]), int(match[2]), int(match[3]))
    if any(character.isdigit() for character in text):
        raise ValueError("this is no day")
    return None


def is_day(text: str | None) -> bool:
    try:
        return text is not None and parse_day(text) is not None
    except ValueError:
        return False


def parse_number(text: str, decimal: str) -> Decimal:
    """`-1.234,56`, `1.234,56-`, `1 234,56 €`. Between thousands there are three digits, or it is no number."""
    sign, digits = _split_number(text)
    if not _is_written_with(digits, decimal):
        raise ValueError("this is no number")
    for separator in (_SIGNS[decimal], "'", " "):
        digits = digits.replace(separator, "")
    number = drop_noise(Decimal(digits.replace(decimal, ".")))
    return -number if sign == "-" else number


def choose_decimal(texts: Iterable[str], usual: str) -> str:
    """The decimal sign of a column: the usual one of its form, unless every number in it says otherwise.

    `5000.01` cannot be written with a comma for the cents, `1.234` can, and is never taken for a sign of anything else.
    A column that mixes both ways is read in the usual one: its other numbers are none.
    """
    numbers = []
    for text in texts:
        try:
            numbers.append(_split_number(text)[1])
        except ValueError:
            continue
    other_sign = _SIGNS[usual]
    misfits = [number for number in numbers if not _is_written_with(number, usual)]
    return other_sign if misfits and all(_is_written_with(number, other_sign) for number in numbers) else usual


def _split_number(text: str) -> tuple[str, str]:
    """Its sign, wherever it stands, and its digits with what separates them."""
    match = None if len(text) > MAX_NUMBER_LENGTH else _NUMBER.fullmatch(text.translate(_MINUS).strip())
    if match is None or len(match[2]) > MAX_DIGITS:
        raise ValueError("this is no number")
    return ("-" if "-" in (match[1], match[3]) else "+"), match[2]


def _is_written_with(digits: str, decimal: str) -> bool:
    """With this decimal sign, and with no other as well: `1,234` may mean a thousand, or one and a bit."""
    pattern, ambiguous = _compile_number(decimal)
    return pattern.fullmatch(digits) is not None and ambiguous.fullmatch(digits) is None


@cache
def _compile_number(decimal: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    mark, separators = re.escape(decimal), re.escape(_SIGNS[decimal]) + "' "
    whole = rf"(?:[0-9]+|[0-9]{{1,3}}([{separators}])[0-9]{{3}}(?:\1[0-9]{{3}})*)"
    return re.compile(rf"{whole}(?:{mark}[0-9]+)?"), re.compile(rf"[1-9][0-9]{{0,2}}{mark}[0-9]{{3}}")
