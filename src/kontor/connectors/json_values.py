"""Amounts, days and times as banks send them in JSON."""

import re
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation

import msgspec

from kontor.connectors.statements.values import drop_noise
from kontor.domain.clocks import BERLIN

CURRENCY = re.compile("[A-Z]{3}")
_MONEY = re.compile(r"[+-]?[0-9]{1,14}(\.[0-9]{1,30})?")


def read_money(raw: msgspec.Raw) -> Decimal | None:
    """An amount as it was sent: a text, or a number, of which every digit counts."""
    sent = bytes(raw)
    try:
        return read_amount(msgspec.json.decode(sent, type=str) if sent.startswith(b'"') else sent.decode())
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_amount(text: str) -> Decimal | None:
    try:
        return drop_noise(Decimal(text)) if _MONEY.fullmatch(text) else None
    except InvalidOperation:
        return None


def read_day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        return None


def find_midnight(text: str | None) -> datetime | None:
    """Midnight in Berlin at the start of the day, as UTC."""
    day = read_day(text)
    if day is None or not 1900 <= day.year <= 2200:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=BERLIN).astimezone(UTC)


def read_time(text: str | None) -> datetime | None:
    try:
        at = None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None
    if at is None or not 1900 <= at.year <= 2200:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
