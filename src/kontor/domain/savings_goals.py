"""Savings goals: an amount that a user wants to have, perhaps by some day, perhaps on some products."""

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import Enum
from uuid import UUID

MAX_GOALS = 100
MAX_PRODUCTS = 100
_CENT, _TENTH = Decimal("0.01"), Decimal("0.1")
_MAX_MONTHS = 1200  # what takes longer is not foreseen


class GoalStatus(Enum):
    OPEN = "OPEN"
    REACHED = "REACHED"


@dataclass(frozen=True, slots=True)
class SavingsGoal:
    """`saved` is what the user says where no product is named."""

    id: UUID
    name: str
    target: Decimal
    target_date: date | None = None
    products: tuple[UUID, ...] = ()
    saved: Decimal = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class GoalProgress:
    """How far a goal is. `progress` is in percent, `rate` what is to be saved a month until the target date."""

    saved: Decimal
    progress: Decimal
    status: GoalStatus
    rate: Decimal | None
    expected_on: date | None


def measure_progress(goal: SavingsGoal, saved: Decimal, monthly: Decimal | None, today: date) -> GoalProgress:
    """`monthly` is what has been saved in a usual month; None where that is not known."""
    missing = goal.target - saved
    is_reached = missing <= 0
    return GoalProgress(
        saved=saved,
        progress=(saved / goal.target * 100).quantize(_TENTH, ROUND_FLOOR),
        status=GoalStatus.REACHED if is_reached else GoalStatus.OPEN,
        rate=None if is_reached else find_rate(missing, goal.target_date, today),
        expected_on=None if is_reached or monthly is None else expect_day(missing, monthly, today),
    )


def find_rate(missing: Decimal, target_date: date | None, today: date) -> Decimal | None:
    """Rounded up, so that so many rates are enough. None without a target date, or after it."""
    if target_date is None or target_date < today:
        return None
    months = max(1, count_months(today, target_date))
    return (missing / months).quantize(_CENT, ROUND_CEILING)


def count_months(begin: date, end: date) -> int:
    """Whole months between two days."""
    months = 12 * (end.year - begin.year) + end.month - begin.month
    return months if end.day >= begin.day else months - 1


def expect_day(missing: Decimal, monthly: Decimal, today: date) -> date | None:
    """The day on which the goal is reached at this pace, in whole months from today; None where it leads nowhere."""
    if monthly <= 0 or missing > monthly * _MAX_MONTHS:
        return None
    months = int((missing / monthly).to_integral_value(ROUND_CEILING))
    return add_months(today, months)


def add_months(day: date, months: int) -> date | None:
    """The same day of a later month, or its last one where the month is shorter; None after the end of the calendar."""
    year, index = divmod(12 * day.year + day.month - 1 + months, 12)
    if year > date.max.year:
        return None
    for number in range(day.day, 27, -1):
        try:
            return date(year, index + 1, number)
        except ValueError:
            continue
    return date(year, index + 1, min(day.day, 28))
