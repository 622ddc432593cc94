"""Numbers, times and pictures as people read them."""

import base64
import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

BERLIN = ZoneInfo("Europe/Berlin")
SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "CHF": "CHF"}
_NUMERIC = re.compile(r"(\[0-9\](\{[0-9,]+\}|[*+?])?)+")
MAX_PICTURE_BYTES = 512 * 1024
_DAYS_IN_FULL = {"de": "%-d.%-m.%Y", "en": "%-d %B %Y"}


@dataclass(frozen=True, slots=True)
class Conventions:
    """How a language writes numbers and days."""

    group: str
    decimal: str
    amount: str = "{number}\u00a0{symbol}"
    percent: str = "{number}\u00a0%"
    day: str = "%d.%m.%Y"
    short_day: str = "%d.%m.%y"
    yearless_day: str = "%d.%m"
    time: str = "%H:%M"


NARROW_SPACE = "\u202f"
WORD_JOINER = "\u2060"  # no line ends here
GERMAN = Conventions(".", ",", "{number} {symbol}", "{number} %", yearless_day="%d.%m.")
CONVENTIONS = {
    "de": GERMAN,
    "en": Conventions(",", ".", "{symbol}{number}", "{number}%", "%-d %b %Y", "%-d %b %y", "%-d %b", "%-I:%M %p"),
    "tr": Conventions(".", ",", "{symbol}{number}", "%{number}"),
    "pl": Conventions("\u00a0", ",", percent="{number}%"),
    "uk": Conventions("\u00a0", ",", percent="{number}%"),
    "fr": Conventions(
        NARROW_SPACE, ",", percent=f"{{number}}{NARROW_SPACE}%",
        day="%d/%m/%Y", short_day="%d/%m/%y", yearless_day="%d/%m",
    ),
}  # fmt: skip


def conventions_of(language: str) -> Conventions:
    return CONVENTIONS.get(language, GERMAN)


def format_number(value: Decimal, digits: int, language: str) -> str:
    """Without its sign where it has none: `1.234,56`, `1,234.56`."""
    rules = conventions_of(language)
    return f"{value:,.{digits}f}".translate({ord(","): rules.group, ord("."): rules.decimal})


def format_count(value: int, language: str) -> str:
    return format_number(Decimal(value), 0, language)


def format_amount(amount: Decimal, currency: str | None, language: str) -> str:
    """German `1.234,56 €`, English `€1,234.56`."""
    sign = "−" if amount < 0 else ""
    symbol = SYMBOLS.get(currency or "EUR", currency or "EUR")
    rules = conventions_of(language)
    if rules.amount.startswith("{symbol}"):
        symbol = f"{WORD_JOINER if sign else ''}{symbol}{' ' if len(symbol) > 1 else ''}"
    return sign + rules.amount.format(number=format_number(abs(amount), 2, language), symbol=symbol)


def format_iban(iban: str) -> str:
    return " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))


def format_bank_code(code: str) -> str:
    return f"{code[:3]} {code[3:6]} {code[6:]}".strip()


def format_date(day: date, language: str) -> str:
    if language in _DAYS_IN_FULL:
        return day.strftime(_DAYS_IN_FULL[language])
    return day.strftime(conventions_of(language).day)


def format_time(moment: datetime, language: str) -> str:
    return moment.astimezone(BERLIN).strftime(conventions_of(language).time)


def is_numeric(pattern: str | None) -> bool:
    """Does a pattern take digits only? Then a phone shows its number keys."""
    return pattern is not None and _NUMERIC.fullmatch(pattern) is not None


def embed_picture(data: bytes | None) -> str | None:
    """A bank's picture as a data URL. What it is, its first bytes say, not the bank; nothing else is shown."""
    if data is None or len(data) > MAX_PICTURE_BYTES:
        return None
    kinds = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))
    kind = next((name for start, name in kinds if data.startswith(start)), None)
    return None if kind is None else f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
