"""The calendar of payments: months as numbers, TARGET banking days, Berlin midnights.

A month is one number, `year * 12 + month - 1`, so that months can be counted and compared.
"""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

BERLIN = ZoneInfo("Europe/Berlin")
DAY = timedelta(days=1)
MONTH_NAMES = (
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
)


def number_month(day: date) -> int:
    return day.year * 12 + day.month - 1


def parse_month(text: str) -> int:
    """The number of a month written as `2024-03`."""
    year, month = text.split("-")
    return int(year) * 12 + int(month) - 1


def find_first_day(month: int) -> date:
    return date(month // 12, month % 12 + 1, 1)


def find_last_day(month: int) -> date:
    return find_first_day(month + 1) - DAY


def find_day(month: int, day: int) -> date:
    """That day of the month, or its last one where the month is shorter."""
    if day <= 28:
        return date(month // 12, month % 12 + 1, day)
    return min(find_first_day(month) + (day - 1) * DAY, find_last_day(month))


@lru_cache(maxsize=256)
def find_easter(year: int) -> date:
    """Easter Sunday, after Gauss in Lichtenberg's form (exact for the Gregorian calendar)."""
    century = year // 100
    moon = 15 + (3 * century + 3) // 4 - (8 * century + 13) // 25
    sun = 2 - (3 * century + 3) // 4
    seed = (19 * (year % 19) + moon) % 30
    correction = seed // 29 + (seed // 28 - seed // 29) * ((year % 19) // 11)
    border = 21 + seed - correction
    sunday = 7 - (year + year // 4 + sun) % 7
    return date(year, 3, 1) + (border + 7 - (border - sunday) % 7 - 1) * DAY


@lru_cache(maxsize=256)
def list_bank_holidays(year: int) -> frozenset[date]:
    easter = find_easter(year)
    fixed = ((1, 1), (5, 1), (12, 25), (12, 26))
    return frozenset({date(year, *pair) for pair in fixed} | {easter - 2 * DAY, easter + DAY})


@lru_cache(maxsize=256)
def list_shop_holidays(year: int) -> frozenset[date]:
    """Days on which shops are closed in all of Germany."""
    easter = find_easter(year)
    return list_bank_holidays(year) | {date(year, 10, 3), easter + 39 * DAY, easter + 50 * DAY}


@lru_cache(maxsize=8192)
def is_banking_day(day: date) -> bool:
    return day.weekday() < 5 and day not in list_bank_holidays(day.year)


def is_shop_open(day: date) -> bool:
    return day.weekday() < 6 and day not in list_shop_holidays(day.year)


@lru_cache(maxsize=8192)
def move_to_banking_day(day: date, step: int) -> date:
    """The day itself if banks work then, else the next (`step` 1) or the previous (`step` -1) one on which they do."""
    while not is_banking_day(day):
        day += step * DAY
    return day


@lru_cache(maxsize=8192)
def add_banking_days(day: date, count: int) -> date:
    for _ in range(count):
        day = move_to_banking_day(day + DAY, 1)
    return day


@lru_cache(maxsize=512)
def list_banking_days(month: int) -> tuple[date, ...]:
    first = find_first_day(month)
    days = (find_first_day(month + 1) - first).days
    return tuple(day for day in (first + n * DAY for n in range(days)) if is_banking_day(day))


@lru_cache(maxsize=8192)
def find_midnight(day: date) -> datetime:
    """Midnight in Berlin at the start of the day, as UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=BERLIN).astimezone(UTC)
