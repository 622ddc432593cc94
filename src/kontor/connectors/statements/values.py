"""Days, amounts and texts as statement files write them. What is wrong is a `ValueError`, which knows no place yet."""

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache

from kontor.domain.cleaning import CENT, MAX_AMOUNT
from kontor.domain.clocks import BERLIN
from kontor.domain.transactions import FIRST_YEAR, LAST_YEAR

CENTURY_PIVOT = 80  # two-digit years from here on are of the last century
MAX_DIGITS = 24
MAX_TIME_LENGTH = 40
# How far an amount may be from whole cents and still mean them: banks that calculate with binary fractions send
# `94.010000000021`.
NOISE = Decimal("0.000001")
IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
BIC = re.compile(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
SEPA_TAGS = frozenset(
    ("EREF", "KREF", "MREF", "CRED", "DEBT", "COAM", "OAMT", "SVWZ", "ABWA", "ABWE", "IBAN", "BIC", "PURP", "RREF")
)
_SWIFT_AMOUNT = re.compile(r"[0-9]{0,24}[,.]?[0-9]{0,24}")
_NATIONAL_NUMBER = re.compile(r"[0-9]{1,12}")
_BANK_CODE = re.compile(r"[0-9]{8}")
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})")
_ABROAD = re.compile(r"ABW[AE]\+ ?(.+?)(?= ?(?:EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC|PURP)\+|$)")


@lru_cache(maxsize=20_000)
def make_day(year: int, month: int, day: int) -> date:
    """A day of the calendar. Banks date interest to 30 February: that is the month's last day."""
    if not FIRST_YEAR <= year <= LAST_YEAR or not 1 <= month <= 12 or not 1 <= day <= 31:
        raise ValueError("there is no such day")
    return date(year, month, min(day, monthrange(year, month)[1]))


@lru_cache(maxsize=20_000)
def find_midnight(day: date) -> datetime:
    """Midnight in Berlin at the start of the day, as UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=BERLIN).astimezone(UTC)


@lru_cache(maxsize=20_000)
def parse_swift_day(text: str) -> date:
    """`YYMMDD`."""
    year = int(text[:2])
    return make_day(year + (1900 if year >= CENTURY_PIVOT else 2000), int(text[2:4]), int(text[4:6]))


@lru_cache(maxsize=20_000)
def parse_entry_day(text: str, value_day: date) -> date:
    """`MMDD` in the year nearest to the value date: a booking of 2 January may have last year's value."""
    month, day = int(text[:2]), int(text[2:4])
    days = [
        make_day(year, month, day)
        for year in (value_day.year - 1, value_day.year, value_day.year + 1)
        if FIRST_YEAR <= year <= LAST_YEAR
    ]
    return min(days, key=lambda candidate: abs(candidate - value_day))


def parse_iso_day(text: str) -> date:
    """An XML date or time. A time with an offset counts on the day it is in Berlin."""
    return _parse_iso_day(text.strip()[:MAX_TIME_LENGTH])


@lru_cache(maxsize=20_000)
def _parse_iso_day(text: str) -> date:
    if "T" in text and _TIME.fullmatch(text):
        at = datetime.fromisoformat(text)
        if FIRST_YEAR <= at.year <= LAST_YEAR:
            return at.astimezone(BERLIN).date()
    match = _DAY.match(text)
    if match is None:
        raise ValueError("this is no day")
    return make_day(int(match[1]), int(match[2]), int(match[3]))


@lru_cache(maxsize=20_000)
def find_iso_midnight(text: str) -> datetime:
    """Midnight in Berlin at the start of the day that `parse_iso_day` finds."""
    return find_midnight(parse_iso_day(text))


def parse_swift_amount(text: str) -> Decimal:
    """Unsigned, with a comma: `12,5`, `12,`. A point is taken too where a bank writes one."""
    if not _SWIFT_AMOUNT.fullmatch(text) or text in ("", ",", "."):
        raise ValueError("this is no amount")
    return Decimal(text.replace(",", "."))


def drop_noise(amount: Decimal) -> Decimal:
    """The amount in cents if it is within `NOISE` of them, otherwise as it is. What no account can hold is an error."""
    if abs(amount) > MAX_AMOUNT:
        raise ValueError("this amount is too large")
    if amount.same_quantum(CENT):
        return amount
    cents = amount.quantize(CENT, ROUND_HALF_EVEN)
    return cents if abs(amount - cents) <= NOISE else amount


def join_lines(lines: Sequence[str], width: int) -> str:
    """One text of lines that a bank cut at `width`: a full line goes on in the next one, a shorter one ended there.

    SEPA tags begin a line of their own, so a tag ends the line before it, full or not.
    """
    if len(lines) == 1:
        return lines[0].strip()
    pieces, previous = [lines[0]], lines[0]
    width = max(width, *map(len, lines))
    for line in lines[1:]:
        is_cut = len(previous) >= width and not is_tagged(line)
        if not is_cut and not previous.endswith(" ") and not line.startswith(" "):
            pieces.append(" ")
        pieces.append(line)
        previous = line
    return "".join(pieces).strip()


def is_tagged(line: str) -> bool:
    return (line[4:5] == "+" and line[:4] in SEPA_TAGS) or line.startswith("BIC+")


def add_references(purpose: str, end_to_end: str | None, mandate: str | None, creditor_id: str | None) -> str:
    """The purpose with references that stand in fields of their own, under the tags that MT940 gives them."""
    if is_tagged(purpose):
        return purpose
    values = (("EREF", end_to_end), ("MREF", mandate), ("CRED", creditor_id))
    named = [f"{tag}+{value}" for tag, value in values if value and value.upper() != "NOTPROVIDED"]
    if not named:
        return purpose
    return " ".join([*named, *([f"SVWZ+{purpose}"] if purpose else [])])


def find_ultimate_party(purpose: str) -> str | None:
    """The one for whom (`ABWA`) or to whom (`ABWE`) it was paid in truth."""
    if "ABW" not in purpose:
        return None
    match = _ABROAD.search(purpose)
    return match[1].strip() or None if match else None


def add_national_account(purpose: str | None, number: str | None, bank_code: str | None) -> str | None:
    """The purpose with the counterparty's old account number and bank code, where it has those instead of an IBAN.

    No IBAN is made of them: some banks have rules of their own for that, and a wrong IBAN would keep one booking of two
    channels apart.
    """
    words = []
    if number is not None and (found := _find_national(_NATIONAL_NUMBER, number)):
        words.append(f"Kto {found}")
    if bank_code is not None and (found := _find_national(_BANK_CODE, bank_code)):
        words.append(f"BLZ {found}")
    missing = [word for word in words if word.partition(" ")[2] not in (purpose or "")]
    return " ".join([*([purpose] if purpose else []), *missing]) or None


def _find_national(pattern: re.Pattern[str], text: str) -> str | None:
    compact = text.replace(" ", "")
    return compact if pattern.fullmatch(compact) and compact.strip("0") else None


def clean_iban(text: str | None) -> str | None:
    """The IBAN without blanks; None for old account numbers and whatever else stands there."""
    if not text:
        return None
    if IBAN.fullmatch(text):
        return text
    compact = text.replace(" ", "").upper()
    return compact if IBAN.fullmatch(compact) else None


@lru_cache(maxsize=20_000)
def clean_bic(text: str | None) -> str | None:
    if not text:
        return None
    compact = text.strip().upper()
    return compact if BIC.fullmatch(compact) else None
