"""Exact sums by tag and span of time."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from kontor.analysis.cashflow.bookings import AGGREGATES, Bookings, Tag
from kontor.analysis.cashflow.spans import (
    TOTAL,
    Cell,
    find_cell,
    name_month,
    name_quarter,
    name_week,
    name_year,
    split_cell,
)
from kontor.analysis.contracts import Contract
from kontor.analysis.records import Record

NOTHING = Decimal("0.00")
Sums = dict[str, Decimal]
_Cells = dict[Cell, Decimal]


def _sum_cells(
    bookings: Bookings, find_tag: Callable[[Record | Contract], str]
) -> tuple[dict[str, _Cells], _Cells, _Cells]:
    """By tag, and of all that came in and all that went out. An amount of zero, and what is saved, is neither."""
    tags: dict[str, _Cells] = {}
    income: _Cells = {}
    expenses: _Cells = {}
    saved = bookings.saved
    for record in bookings.counted:
        name, amount, cell = find_tag(record), record.amount, find_cell(record.day)
        of_tag = tags.get(name)
        if of_tag is None:
            of_tag = tags[name] = {}
        of_tag[cell] = of_tag.get(cell, NOTHING) + amount
        if amount and record.id not in saved:
            side = income if amount > 0 else expenses
            side[cell] = side.get(cell, NOTHING) + amount
    return tags, income, expenses


def _add_up(tags: Iterable[Mapping[Cell, Decimal]], income: _Cells, expenses: _Cells) -> _Cells:
    """Income and expenses together, wherever anything is booked."""
    cells = {cell for of_tag in tags for cell in of_tag}
    return {cell: income.get(cell, NOTHING) + expenses.get(cell, NOTHING) for cell in cells}


def _roll_up(cells: Mapping[Cell, Decimal]) -> Sums:
    """The sums of all spans that have bookings, longest spans first."""
    months: dict[int, Decimal] = {}
    weeks: dict[int, Decimal] = {}
    for cell, amount in cells.items():
        month, week = split_cell(cell)
        months[month] = months.get(month, NOTHING) + amount
        weeks[week] = weeks.get(week, NOTHING) + amount
    sums: Sums = {TOTAL: sum(months.values(), NOTHING)}
    for name_span, parts in ((name_year, months), (name_quarter, months), (name_month, months), (name_week, weeks)):
        for part in sorted(parts):
            span = name_span(part)
            if span is not None:
                sums[span] = sums.get(span, NOTHING) + parts[part]
    return sums


def sum_tags(
    bookings: Bookings, find_tag: Callable[[Record | Contract], str], *, with_aggregates: bool
) -> dict[Tag, Sums]:
    """Sums by tag, aggregates first, the others by name."""
    tags, income, expenses = _sum_cells(bookings, find_tag)
    sums: dict[Tag, Sums] = {}
    if with_aggregates:
        for tag, cells in zip(AGGREGATES, (_add_up(tags.values(), income, expenses), income, expenses), strict=True):
            if cells:
                sums[tag] = _roll_up(cells)
    for name in sorted(tags):
        sums[Tag(name)] = _roll_up(tags[name])
    return sums
