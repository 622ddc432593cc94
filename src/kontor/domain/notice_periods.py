"""Periods of notice, as ISO 8601 writes them: P3M, P2W, P1Y6M."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from kontor.domain.errors import InvalidError

EXPECTED = "expected an ISO 8601 period of years, months, weeks and days, such as P3M, of at most ten years"
MAX_MONTHS, MAX_DAYS = 120, 3660
_PERIOD = re.compile(r"P(?=[0-9])(?:([0-9]{1,4})Y)?(?:([0-9]{1,4})M)?(?:([0-9]{1,4})W)?(?:([0-9]{1,4})D)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class NoticePeriod:
    months: int
    days: int


def read_period(text: str, field: str) -> NoticePeriod:
    match = _PERIOD.fullmatch(text)
    if match is None:
        raise InvalidError(EXPECTED, field)
    years, months, weeks, days = (int(number or 0) for number in match.groups())
    period = NoticePeriod(12 * years + months, 7 * weeks + days)
    if period.months > MAX_MONTHS or period.days > MAX_DAYS:
        raise InvalidError(EXPECTED, field)
    return period


def move_by_months(day: date, months: int) -> date:
    """The same day of another month, or its last one where that month is shorter."""
    year, index = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, index + 1, min(day.day, monthrange(year, index + 1)[1]))


def subtract_period(day: date, period: NoticePeriod) -> date:
    return move_by_months(day, -period.months) - timedelta(days=period.days)
