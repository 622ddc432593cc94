"""Numbers, times and pictures as people read them."""

import base64
import re
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

BERLIN = ZoneInfo("Europe/Berlin")
SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "CHF": "CHF"}
_NUMERIC = re.compile(r"(\[0-9\](\{[0-9,]+\}|[*+?])?)+")
MOST_PICTURE_BYTES = 512 * 1024


def format_amount(amount: Decimal, currency: str | None, language: str) -> str:
    """German `1.234,56 €`, English `€1,234.56`."""
    text = f"{abs(amount):,.2f}"
    sign = "−" if amount < 0 else ""
    symbol = SYMBOLS.get(currency or "EUR", currency or "EUR")
    if language != "de":
        return f"{sign}{symbol}{'' if len(symbol) == 1 else ' '}{text}"
    return f"{sign}{text.translate(str.maketrans(',.', '.,'))} {symbol}"


def format_iban(iban: str) -> str:
    return " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))


def format_bank_code(code: str) -> str:
    return f"{code[:3]} {code[3:6]} {code[6:]}".strip()


def format_date(day: date, language: str) -> str:
    return day.strftime("%-d.%-m.%Y") if language == "de" else day.strftime("%-d %B %Y")


def format_time(moment: datetime, language: str) -> str:
    local = moment.astimezone(BERLIN)
    return local.strftime("%H:%M") if language == "de" else local.strftime("%-I:%M %p")


def is_numeric(pattern: str | None) -> bool:
    """Does a pattern take digits only? Then a phone shows its number keys."""
    return pattern is not None and _NUMERIC.fullmatch(pattern) is not None


def embed_picture(data: bytes | None) -> str | None:
    """A bank's picture as a data URL. What it is, its first bytes say, not the bank; nothing else is shown."""
    if data is None or len(data) > MOST_PICTURE_BYTES:
        return None
    kinds = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))
    kind = next((name for start, name in kinds if data.startswith(start)), None)
    return None if kind is None else f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
