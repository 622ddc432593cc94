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
from kontor.analysis.trees import FIRST_YEAR, LAST_YEAR

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
        if amount and record.key not in saved:
            side = income if amount > 0 else expenses
            side[cell] = side.get(cell, NOTHING) + amount
    return tags, income, expenses


def _roll_up(cells: Mapping[Cell, Decimal], gaps: Iterable[int] = ()) -> Sums:
    """The sums of all spans that have bookings, longest spans first; `gaps` are further months, which have none."""
    months: dict[int, Decimal] = dict.fromkeys(gaps, NOTHING)
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


def _sum_aggregates(tags: Iterable[Mapping[Cell, Decimal]], income: _Cells, expenses: _Cells) -> dict[Tag, Sums]:
    """Each has every span in which anything is booked, and every month from the first to the last."""
    nothing = dict.fromkeys((cell for of_tag in tags for cell in of_tag), NOTHING)
    if not nothing:
        return {}
    months = [split_cell(cell)[0] for cell in nothing]
    gaps = range(max(min(months), 12 * FIRST_YEAR), min(max(months), 12 * LAST_YEAR + 11) + 1)
    net = {cell: income.get(cell, NOTHING) + expenses.get(cell, NOTHING) for cell in nothing}
    of_aggregates = zip(AGGREGATES, (net, nothing | income, nothing | expenses), strict=True)
    return {tag: _roll_up(cells, gaps) for tag, cells in of_aggregates}


def sum_tags(
    bookings: Bookings, find_tag: Callable[[Record | Contract], str], *, with_aggregates: bool
) -> dict[Tag, Sums]:
    """Sums by tag, aggregates first, the others by name."""
    tags, income, expenses = _sum_cells(bookings, find_tag)
    sums = _sum_aggregates(tags.values(), income, expenses) if with_aggregates else {}
    for name in sorted(tags):
        sums[Tag(name)] = _roll_up(tags[name])
    return sums
