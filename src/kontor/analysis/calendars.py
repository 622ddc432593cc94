"""German banking days: the TARGET calendar of the European Central Bank, as numbers of days for quick counting.

Working days, which have the public holidays of Germany, are for deadlines of the law.
"""

from calendar import monthrange
from datetime import date, timedelta
from functools import lru_cache

import holidays

DAY = timedelta(days=1)
# Saturday and Sunday, as `date.toordinal() % 7` tells them.
_SATURDAY, _SUNDAY = 6, 0
_FIRST_YEAR, _LAST_YEAR = 2000, 2200


@lru_cache(maxsize=256)
def list_bank_holidays(year: int) -> frozenset[date]:
    """Days without settlement besides weekends. Years that no account has ever seen have none."""
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return frozenset()
    return frozenset(holidays.financial_holidays("ECB", years=year))


@lru_cache(maxsize=256)
def list_public_holidays(year: int) -> frozenset[date]:
    """Of all German states alike."""
    return frozenset(holidays.country_holidays("DE", years=year))


def is_working_day(day: date) -> bool:
    """In Germany, whichever the state."""
    return day.toordinal() % 7 not in (_SATURDAY, _SUNDAY) and day not in list_public_holidays(day.year)


@lru_cache(maxsize=16384)
def is_banking_day(day: date) -> bool:
    return day.toordinal() % 7 not in (_SATURDAY, _SUNDAY) and day not in list_bank_holidays(day.year)


@lru_cache(maxsize=16384)
def move_to_banking_day(day: date, step: int = 1) -> date:
    """The day itself if banks work then, else the next (`step` 1) or the previous (`step` -1) one on which they do."""
    try:
        while not is_banking_day(day):
            day += step * DAY
    except OverflowError:  # the calendar itself ends here
        return day
    return day


def number_month(day: date) -> int:
    """A month as one number, so that months can be counted and compared."""
    return day.year * 12 + day.month - 1


@lru_cache(maxsize=4096)
def find_day(month: int, day: int) -> date:
    """That day of the numbered month, or its last one where the month is shorter."""
    year, index = divmod(month, 12)
    year = min(max(year, date.min.year), date.max.year)
    return date(year, index + 1, min(day, monthrange(year, index + 1)[1]))
