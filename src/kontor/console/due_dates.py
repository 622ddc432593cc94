"""When contracts fall due in the months to come.

The API tells the next payment of a contract. Those after it follow from its period and from the day of the month on
which it was mostly paid; a day on which banks are closed moves to one on which they are open.
"""

from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from kontor.console.contracts import Contract

MONTHS = 12
LAST_DAY = 31
_LATE_IN_MONTH = 28
_LOOKED_AT = 12
_MAX_DUE = 60
_MONTHS_OF = {"MONTH_ONE": 1, "MONTH_TWO": 2, "MONTH_THREE": 3, "MONTH_SIX": 6, "YEAR_ONE": 12, "YEAR_TWO": 24}
_WEEKS_OF = {"WEEK_ONE": 1, "WEEK_TWO": 2, "WEEK_FOUR": 4}
_CLOSED = {(1, 1), (5, 1), (12, 25), (12, 26)}


@dataclass(frozen=True, slots=True)
class Due:
    day: date
    amount: Decimal
    contract: Contract


@dataclass(frozen=True, slots=True)
class Month:
    """A month of the calendar. `first` is its first day."""

    first: date
    dues: Sequence[Due]

    @property
    def costs(self) -> Decimal:
        return sum((due.amount for due in self.dues if due.amount < 0), Decimal(0))

    @property
    def income(self) -> Decimal:
        return sum((due.amount for due in self.dues if due.amount > 0), Decimal(0))


@dataclass(frozen=True, slots=True)
class Calendar:
    months: Sequence[Month]
    rows: Sequence[tuple[Contract, Sequence[Sequence[Due]]]]  # a contract with its dues of each month

    @property
    def largest_costs(self) -> Decimal:
        return max((-month.costs for month in self.months), default=Decimal(0))


def make_calendar(contracts: Sequence[Contract], today: date) -> Calendar:
    """The rest of this month and the eleven after it. What comes seldom stands first: it is forgotten most easily."""
    firsts = [find_month(today, ahead) for ahead in range(MONTHS)]
    until = find_month(today, MONTHS) - timedelta(days=1)
    dues = list_dues(contracts, today, until)
    months = [Month(first, [due for due in dues if _first_of(due.day) == first]) for first in firsts]
    due_ids = {due.contract.id for due in dues}
    rows = [
        (contract, [[due for due in month.dues if due.contract.id == contract.id] for month in months])
        for contract in sorted(
            contracts,
            key=lambda contract: (contract.is_income, -_months_between(contract), contract.amount, contract.name),
        )
        if contract.id in due_ids
    ]
    return Calendar(months, rows)


def list_dues(contracts: Sequence[Contract], after: date, until: date) -> list[Due]:
    """All payments after one day up to another, the next one first."""
    dues = [
        Due(day, contract.amount, contract)
        for contract in contracts
        for day in list_due_days(contract, until)
        if day > after
    ]  # fmt: skip
    return sorted(dues, key=lambda due: (due.day, due.amount, due.contract.name))


def list_due_days(contract: Contract, until: date) -> list[date]:
    if not contract.is_running or contract.next_day is None:
        return []
    last = min(until, contract.last_instalment or until)
    days = [contract.next_day] if contract.next_day <= until else []
    for day in _continue(contract, contract.next_day):
        if day > last or len(days) >= _MAX_DUE:
            break
        days.append(day)
    return days


def _continue(contract: Contract, start: date) -> Iterator[date]:
    """The days after the next payment, without end for a period that is known."""
    if weeks := _WEEKS_OF.get(contract.period):
        while True:
            start += timedelta(weeks=weeks)
            yield _move(start, is_early=contract.is_income)
    if months := _MONTHS_OF.get(contract.period):
        usual = find_usual_day(sorted(contract.development)[-_LOOKED_AT:], start)
        # A payment at the end of a month may have been moved into the next one.
        month = find_month(start, -1 if usual >= _LATE_IN_MONTH and start.day <= 5 else 0)
        while True:
            month = find_month(month, months)
            day = month.replace(day=min(usual, monthrange(month.year, month.month)[1]))
            yield _move(day, is_early=contract.is_income or usual == LAST_DAY)


def find_usual_day(paid: Sequence[date], following: date) -> int:
    """The day of the month; 31 is the last one, whatever the month."""
    days = [paid_on.day for paid_on in paid] or [following.day]
    if sum(day >= _LATE_IN_MONTH for day in days) * 2 > len(days):
        return LAST_DAY
    counts = Counter(days)
    return min(counts, key=lambda day: (-counts[day], day))  # closed banks only make it later


def _move(day: date, *, is_early: bool) -> date:
    while day.weekday() >= 5 or (day.month, day.day) in _CLOSED:
        day += timedelta(days=-1 if is_early else 1)
    return day


def _months_between(contract: Contract) -> int:
    return _MONTHS_OF.get(contract.period, 0)


def _first_of(day: date) -> date:
    return day.replace(day=1)


def find_month(day: date, ahead: int) -> date:
    number = day.year * 12 + day.month - 1 + ahead
    return date(number // 12, number % 12 + 1, 1)
