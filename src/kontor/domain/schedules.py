"""When a standing order is executed, and what a customer wants to be done with it."""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from itertools import count
from uuid import UUID

MONTHS_OF_YEAR, DAYS_OF_WEEK = 12, 7
# Days of a month that banks count from its end: the last one, the one before, and the one before that.
LAST_DAY, FIRST_FROM_END = 99, 97


class Period(StrEnum):
    MONTH_ONE = "MONTH_ONE"
    MONTH_TWO = "MONTH_TWO"
    MONTH_THREE = "MONTH_THREE"
    MONTH_SIX = "MONTH_SIX"
    YEAR_ONE = "YEAR_ONE"
    WEEK_ONE = "WEEK_ONE"
    WEEK_TWO = "WEEK_TWO"

    @property
    def months(self) -> int:
        """0 for weeks."""
        return _MONTHS.get(self, 0)

    @property
    def weeks(self) -> int:
        """0 for months."""
        return _WEEKS.get(self, 0)


_MONTHS = {
    Period.MONTH_ONE: 1,
    Period.MONTH_TWO: 2,
    Period.MONTH_THREE: 3,
    Period.MONTH_SIX: 6,
    Period.YEAR_ONE: 12,
}
_WEEKS = {Period.WEEK_ONE: 1, Period.WEEK_TWO: 2}


@dataclass(frozen=True, slots=True)
class Schedule:
    """`day` is the day of the month from the second execution on, where it is not that of the first.

    A day that a month does not have is the month's last. A day on which banks are closed is the bank's to move:
    these are the days that were ordered.
    """

    period: Period
    first: date
    last: date | None = None
    day: int | None = None

    def list_days(self) -> Iterator[date]:
        """All days of execution, in their order; without an end where the order has none."""
        for number in count():
            day = self._find_day(number)
            if day is None or (self.last is not None and day > self.last):
                return
            yield day

    def find_next(self, today: date) -> date | None:
        """The next day of execution, today included."""
        return next((day for day in self.list_days() if day >= today), None)

    def is_over(self, today: date) -> bool:
        return self.find_next(today) is None

    def _find_day(self, number: int) -> date | None:
        """None beyond the end of the calendar."""
        try:
            if self.period.weeks:
                return self.first + timedelta(days=DAYS_OF_WEEK * self.period.weeks * number)
            months = self.first.month - 1 + self.period.months * number
            wanted = self.first.day if number == 0 or self.day is None else self.day
            return find_day_of_month(self.first.year + months // MONTHS_OF_YEAR, months % MONTHS_OF_YEAR + 1, wanted)
        except (OverflowError, ValueError):
            return None


def find_day_of_month(year: int, month: int, day: int) -> date:
    last = calendar.monthrange(year, month)[1]
    if day >= FIRST_FROM_END:
        return date(year, month, last - (LAST_DAY - day))
    return date(year, month, min(day, last))


class StandingAction(StrEnum):
    CREATE = "CREATE"
    CHANGE = "CHANGE"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class StandingInstruction:
    """Create, change or delete a standing order. `schedule` is the new one; of a deletion, that of the order.

    `key` is the bank's name of the order that is changed or deleted, `order_id` ours.
    """

    action: StandingAction
    schedule: Schedule
    key: str | None = None
    order_id: UUID | None = None
