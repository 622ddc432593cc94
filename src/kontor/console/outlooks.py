"""The outlook: how the money on everyday accounts will change day by day, up to the end of next month.

It starts with the balances of the accounts. Contracts fall due on their days. What else is usual is spread evenly over
the days of a stretch: until the next salary it is the API's disposable money that tells it, otherwise the predicted
cashflow of a month, less its contracts. Money that is put aside stands apart from money that is spent.
"""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from kontor.console.accesses import Product
from kontor.console.cashflows import Flow, find_aggregates
from kontor.console.contracts import Contract
from kontor.console.due_dates import Due, list_dues

CURRENCY = "EUR"
INVESTMENT = "BANKFINANCE_INVESTMENT"
GROUPS = ("income", "costs", "savings", "usual")
_DAY = timedelta(days=1)
_CENT = Decimal("0.01")
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Row:
    """What changes the balance. Without a day it is spread over its stretch, and `key` names its text."""

    amount: Decimal
    day: date | None = None
    contract: Contract | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Days from `first` to `last`. What it ends with is what it starts with and all rows, to the cent."""

    first: date
    last: date
    start: Decimal
    groups: Mapping[str, Sequence[Row]]

    @property
    def end(self) -> Decimal:
        return self.start + sum((self.sum_group(name) for name in self.groups), _NOTHING)

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def sum_group(self, name: str) -> Decimal:
        return sum((row.amount for row in self.groups[name]), _NOTHING)

    def list_rows(self) -> list[Row]:
        return [row for rows in self.groups.values() for row in rows]


@dataclass(frozen=True, slots=True)
class Point:
    """The balance at the end of a day, and what is due on it."""

    day: date
    balance: Decimal
    rows: Sequence[Row] = ()


@dataclass(frozen=True, slots=True)
class Outlook:
    """`payday` is that of the next salary, or of the largest regular income where there is none."""

    accounts: Sequence[Product]
    start: Decimal
    payday: date | None
    stretches: Sequence[Stretch]
    points: Sequence[Point]
    has_usual: bool  # False while too little is known to tell what is usual

    @property
    def lowest(self) -> Point:
        return min(self.points, key=lambda point: (point.balance, point.day))

    @property
    def turns(self) -> list[Point]:
        """Days on which something is due, the first and the last one, and the lowest."""
        ends = (self.points[0], self.points[-1], self.lowest)
        return [point for point in self.points if point.rows or point in ends]

    @property
    def before_payday(self) -> Sequence[Point]:
        """From today to the day before the payday; to the end where none is known."""
        return [point for point in self.points if self.payday is None or point.day < self.payday] or self.points[:1]

    @property
    def lowest_before_payday(self) -> Point:
        return min(self.before_payday, key=lambda point: (point.balance, point.day))


def choose_everyday(products: Sequence[Product]) -> list[Product]:
    """The accounts that money is spent from: in euros, since nothing is converted."""
    return [
        product
        for product in products
        if product.is_everyday and product.currency == CURRENCY and product.balance is not None
    ]


def make_outlook(
    products: Sequence[Product],
    contracts: Sequence[Contract],
    disposable: Mapping[str, Any] | None,
    flows: Sequence[Flow],
    today: date,
) -> Outlook | None:
    """None where no everyday account is known. `flows` are without savings."""
    accounts = choose_everyday(products)
    if not accounts:
        return None
    start = sum((product.balance or _NOTHING for product in accounts), _NOTHING)
    salary = None if disposable is None else date.fromisoformat(disposable["dateSalaryNext"])
    until = max(_end_of_month(_end_of_month(today) + _DAY), salary or today)
    dues = list_dues(contracts, today, until)
    payday = salary or _find_payday(dues)
    months = _Months(flows, contracts, today)
    stretches: list[Stretch] = []
    for first, last, spread in _split(disposable, salary, today, until, dues, months):
        before = stretches[-1].end if stretches else start
        stretches.append(Stretch(first, last, before, _group(dues, first, last, spread)))
    return Outlook(
        accounts,
        start,
        payday,
        stretches,
        _list_points(today, start, stretches),
        has_usual=months.is_known or disposable is not None,
    )


def _split(
    disposable: Mapping[str, Any] | None,
    salary: date | None,
    today: date,
    until: date,
    dues: Sequence[Due],
    months: "_Months",
) -> list[tuple[date, date, list[Row]]]:
    """First and last day of each stretch, with what is spread over it."""
    tomorrow = today + _DAY
    if disposable is not None and salary is not None:
        beyond = (max(salary, tomorrow), until, months.list_usual(until, (until - max(salary, tomorrow)).days + 1))
        if salary <= tomorrow:
            return [beyond]
        eve = salary - _DAY
        listed = sum((due.amount for due in dues if due.day <= eve), _NOTHING)
        further = Decimal(disposable["amountExpectedFixedCashflow"]) - listed
        rows = [Row(Decimal(disposable["amountExpectedFlexCashflow"]), key="usual"), Row(further, key="further")]
        return [(tomorrow, eve, [row for row in rows if row.amount]), beyond]
    end = _end_of_month(today)
    beyond = (end + _DAY, until, months.list_usual(until, (until - end).days))
    return [beyond] if end == today else [(tomorrow, end, months.list_usual(end, (end - today).days)), beyond]


class _Months:
    """What is predicted of a month beyond its contracts: further income, and what is usually spent."""

    def __init__(self, flows: Sequence[Flow], contracts: Sequence[Contract], today: date) -> None:
        self._aggregates = find_aggregates(flows)
        self._contracts = [contract for contract in contracts if not is_put_aside(contract)]
        self._today = today

    @property
    def is_known(self) -> bool:
        return self._aggregates is not None and bool(self._aggregates.net.expected)

    def list_usual(self, last: date, days: int) -> list[Row]:
        """Of so many days of the month that a day is in."""
        if self._aggregates is None:
            return []
        name = f"{last.year}_M{last.month:02}"
        first = max(last.replace(day=1), self._today + _DAY)
        dues = list_dues(self._contracts, first - _DAY, _end_of_month(last))
        whole = (_end_of_month(last) - first).days + 1
        rows = []
        for key, flow, sign in (("other_income", self._aggregates.income, 1), ("usual", self._aggregates.expenses, -1)):
            expected = flow.expected.get(name)
            if expected is None:
                continue
            due = sum((due.amount for due in dues if due.amount * sign > 0), _NOTHING)
            rest = expected.amount - flow.booked.get(name, _NOTHING) - due
            if rest * sign > 0:
                rows.append(Row((rest * days / whole).quantize(_CENT), key=key))
        return rows


def is_put_aside(contract: Contract) -> bool:
    return contract.is_saving or contract.category == INVESTMENT


def _group(dues: Sequence[Due], first: date, last: date, spread: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {name: [] for name in GROUPS}
    for due in dues:
        if first <= due.day <= last:
            name = "savings" if is_put_aside(due.contract) else "income" if due.amount > 0 else "costs"
            groups[name].append(Row(due.amount, due.day, due.contract))
    for row in spread:
        name = {"other_income": "income", "further": "costs"}.get(row.key, "usual")
        groups[name].append(row)
    return groups


def _find_payday(dues: Sequence[Due]) -> date | None:
    incomes = [due for due in dues if due.amount > 0 and not is_put_aside(due.contract)]
    largest = max((due.amount for due in incomes), default=None)
    return next((due.day for due in incomes if due.amount == largest), None)


def _list_points(today: date, start: Decimal, stretches: Sequence[Stretch]) -> list[Point]:
    points = [Point(today, start)]
    for stretch in stretches:
        rows = stretch.list_rows()
        spread = sum((row.amount for row in rows if row.day is None), _NOTHING)
        for passed in range(1, stretch.days + 1):
            day = stretch.first + (passed - 1) * _DAY
            dated = sum((row.amount for row in rows if row.day is not None and row.day <= day), _NOTHING)
            usual = (spread * passed / stretch.days).quantize(_CENT)
            due = [row for row in rows if row.day == day]
            points.append(Point(day, stretch.start + dated + usual, due))
    return points


def _end_of_month(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])
