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
_DAY_FORMAT = re.compile(r"(dd|mm|yyyy|yy)([./-]?)(dd|mm|yyyy|yy)\2(dd|mm|yyyy|yy)")
_DAY_PARTS = {"d": "day", "m": "month", "y": "year"}


def compile_day_format(text: str) -> re.Pattern[str]:
    """What days look like that are written as `dd.mm.yyyy`, `mm/dd/yy` or `yyyymmdd` say, with or without a time."""
    match = _DAY_FORMAT.fullmatch(text)
    parts = [] if match is None else [match[1], match[3], match[4]]
    if match is None or {part[0] for part in parts} != set(_DAY_PARTS):
        raise ValueError("expected dd, mm and yyyy or yy once each, with . / - or nothing between them")
    separator = re.escape(match[2])
    shortest = 1 if separator else 2
    digits = {"dd": f"{shortest},2", "mm": f"{shortest},2", "yy": "2", "yyyy": "4"}
    groups = [f"(?P<{_DAY_PARTS[part[0]]}>[0-9]{{{digits[part]}}})" for part in parts]
    return re.compile(separator.join(groups) + r"(?:[T ,].*)?")


def parse_day(text: str, written: re.Pattern[str] | None = None) -> date | None:
    """In the form's own way (`compile_day_format`), else in any that says for itself which number is the month.

    These are `31.12.2026`, `31.12.26`, `31/12/2026`, `31-12-2026`, `2026-12-31`, with or without a time. Words
    ("offen") are no day.
    """
    text = text.strip()
    if written is not None:
        return _parse_written(text, written)
    if match := _DAY.fullmatch(text):
        year = int(match[3])
        return make_day(year + 2000 if year < 100 else year, int(match[2]), int(match[1]))
    if match := _ISO_DAY.fullmatch(text):
        return make_day(int(match[1]), int(match[2]), int(match[3]))
    _refuse_digits(text)
    return None


def _parse_written(text: str, written: re.Pattern[str]) -> date | None:
    match = written.fullmatch(text)
    if match is None:
        _refuse_digits(text)
        return None
    year = int(match["year"])
    return make_day(year + 2000 if year < 100 else year, int(match["month"]), int(match["day"]))


def _refuse_digits(text: str) -> None:
    if any(character.isdigit() for character in text):
        raise ValueError("this is no day")


def is_day(text: str | None, written: re.Pattern[str] | None = None) -> bool:
    try:
        return text is not None and parse_day(text, written) is not None
    except ValueError:
        return False


def is_number(text: str) -> bool:
    try:
        return bool(_split_number(text))
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
