"""What predictions are made from: the previous complete months without contracts, and what contracts will pay.

All money here is in whole cents: these numbers are counted and compared, and only their estimates are rounded.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from kontor.analysis.calendars import find_day, number_month
from kontor.analysis.cashflow.bookings import AGGREGATES, Bookings, Tag
from kontor.analysis.cashflow.spans import find_last_day, find_last_day_of_next
from kontor.analysis.contracts import Contract, forecast_payments
from kontor.analysis.records import Account, Record

CYCLES = 12
MIN_CYCLES = 2
# Data that begins in the first days of a month tells the whole month.
_LATEST_FIRST_DAY = 5
_VARIES_OVER = 6
# What is later than this has mostly ended, or was left out.
_LATE_DAYS = 7
NET, INCOME, EXPENSES = AGGREGATES


@dataclass(frozen=True, slots=True)
class Window:
    """Months by number. `months` are the previous complete ones, the latest first; `known_days` of the current month
    have been told by the banks."""

    current: int
    months: tuple[int, ...]
    known_days: int
    last_day: date
    last_day_of_next: date


class Payment(NamedTuple):
    """A payment to come, and the contract's latest one, which tells of it."""

    day: date
    cents: int
    latest_id: str


@dataclass(slots=True)
class History:
    """Of one tag, in cents. `rests` is what came after the known days in the previous months, `wholes` all of each of
    them; both without what contracts pay. `due` and `due_next` are payments still to come this month and next month,
    `surprises` how far such payments were from what was expected, month by month."""

    rests: list[int]
    wholes: list[int]
    surprises: list[int]
    surprises_next: list[int]
    booked_regular: int = 0
    booked_irregular: int = 0
    due: int = 0
    due_next: int = 0
    payments: list[Payment] = field(default_factory=list)

    def add(self, months_ago: int | None, cents: int, *, is_regular: bool, is_rest: bool) -> None:
        """A booking of the current month (`months_ago` is None) or of a previous one."""
        if months_ago is None:
            if is_regular:
                self.booked_regular += cents
            else:
                self.booked_irregular += cents
        elif not is_regular:
            self.wholes[months_ago] += cents
            if is_rest:
                self.rests[months_ago] += cents


def open_window(records: Sequence[Record], accounts: Sequence[Account], today: date) -> Window | None:
    """The months to look at, or nothing where too little is known."""
    if not records or today.year >= date.max.year:
        return None
    told = [account.data_until for account in accounts if account.data_until is not None]
    known_until = min(today, max(max(told), max(record.day for record in records))) if told else today
    first = min(record.day for record in records)
    first_month = number_month(first) + (0 if first.day <= _LATEST_FIRST_DAY else 1)
    current, last = number_month(today), number_month(known_until) - 1
    months = tuple(range(last, max(last - CYCLES, first_month - 1), -1))
    if len(months) < MIN_CYCLES:
        return None
    known_days = known_until.day if number_month(known_until) == current else 0
    return Window(current, months, known_days, find_last_day(today), find_last_day_of_next(today))


def to_cents(amount: Decimal) -> int:
    return int(amount * 100)


def list_tags(name: str, sign: int, *, with_aggregates: bool) -> Iterator[Tag]:
    yield Tag(name)
    if with_aggregates:
        yield NET
        if sign:
            yield INCOME if sign > 0 else EXPENSES


def list_due(contract: Contract, today: date, until: date) -> list[tuple[date, int]]:
    """Payments to come. One that is a little late is still expected, on the next day."""
    if contract.amount_next is None or contract.date_next is None:
        return []
    due = [(day, to_cents(amount)) for day, amount in forecast_payments(contract, until)]
    schedule = contract.schedule
    late = None if schedule is None else schedule.find_next(max(schedule.base, contract.date_latest))
    if late is not None and late <= today < until and (today - late).days <= _LATE_DAYS:
        due.insert(0, (today + timedelta(days=1), to_cents(contract.amount_next)))
    return due


def list_surprises(contract: Contract) -> list[int]:
    """By how much each payment differed from what the ones before it led to expect, the latest first."""
    amounts = [to_cents(amount) for _, amount in sorted(contract.cost_development_regular.items())]
    if contract.amount_next == contract.amount_latest:
        return [later - earlier for earlier, later in reversed(list(pairwise(amounts)))]
    surprises = []
    for place in range(len(amounts) - 1, 2, -1):
        before = amounts[max(0, place - _VARIES_OVER) : place]
        surprises.append(amounts[place] - round(sum(before) / len(before)))
    return surprises


class Histories:
    """Histories by tag, filled in two passes: over the bookings, then over the contracts."""

    def __init__(self, window: Window, *, with_aggregates: bool) -> None:
        self.window = window
        self.by_tag: dict[Tag, History] = {}
        self._with_aggregates = with_aggregates

    def _find(self, tag: Tag) -> History:
        history = self.by_tag.get(tag)
        if history is None:
            count = len(self.window.months)
            history = self.by_tag[tag] = History([0] * count, [0] * count, [0] * count, [0] * count)
        return history

    def add_bookings(
        self, bookings: Bookings, find_tag: Callable[[Record | Contract], str], regular_ids: set[str]
    ) -> None:
        window = self.window
        newest, oldest = window.months[0], window.months[-1]
        begin = find_day(oldest, 1)
        known: dict[tuple[str, int, bool], list[History]] = {}
        for record in bookings.counted:
            if record.day < begin:
                continue
            month = number_month(record.day)
            if newest < month < window.current:
                continue
            cents = to_cents(record.amount)
            name, sign, is_saved = find_tag(record), (cents > 0) - (cents < 0), record.key in bookings.saved
            histories = known.get((name, sign, is_saved))
            if histories is None:
                tags = list_tags(name, sign, with_aggregates=self._with_aggregates and not is_saved)
                histories = known[name, sign, is_saved] = [self._find(tag) for tag in tags]
            is_regular, is_rest = record.id in regular_ids, record.day.day > window.known_days
            for history in histories:
                history.add(newest - month if month <= newest else None, cents, is_regular=is_regular, is_rest=is_rest)

    def add_contracts(
        self,
        contracts: Iterable[Contract],
        bookings: Bookings,
        find_tag: Callable[[Record | Contract], str],
        today: date,
    ) -> None:
        window = self.window
        for contract in contracts:
            due = list_due(contract, today, window.last_day_of_next)
            if not due:
                continue
            now = [cents for day, cents in due if day <= window.last_day]
            later = [cents for day, cents in due if day > window.last_day]
            surprises = list_surprises(contract)
            latest_id = contract.transaction_ids_regular[-1]
            with_aggregates = self._with_aggregates and latest_id not in bookings.saved
            for tag in list_tags(find_tag(contract), due[0][1], with_aggregates=with_aggregates):
                history = self._find(tag)
                history.due += sum(now)
                history.due_next += sum(later)
                history.payments += [Payment(day, cents, latest_id) for day, cents in due]
                _spread(surprises, len(now), history.surprises)
                _spread(surprises, len(later), history.surprises_next)


def _spread(found: Sequence[int], payments: int, surprises: list[int]) -> None:
    """Add to each month what so many payments in a row were off; where there are too few, they come again."""
    if not payments or not any(found):
        return
    for place in range(len(surprises)):
        for number in range(place * payments, (place + 1) * payments):
            surprises[place] += found[number % len(found)]
