"""Balances prove completeness: opening balance and bookings must give the closing balance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Literal, TypeAlias

from kontor.domain.transactions import Transaction, find_day

CENT = Decimal("0.01")
# The ends of days, weeks or months at which balances are listed.
Interval: TypeAlias = Literal["day", "week", "month"]


@dataclass(frozen=True, slots=True)
class DayTotal:
    """Final bookings of a day in one currency: how many, and their sum."""

    day: date
    count: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class BalanceSpan:
    """What a source says about a time: a balance before it and one after it. Both are of booked money.

    `first` and `last` are the source's own bookings of the first and of the last day. These days may be told in part
    only, since a statement may begin or end at noon; the days between are whole.
    """

    opening: Decimal
    closing: Decimal
    currency: str
    first: DayTotal
    last: DayTotal


@dataclass(frozen=True, slots=True)
class BalanceGap:
    """A span whose bookings, as they are stored, do not give the closing balance. `difference` is what is missing."""

    span: BalanceSpan
    difference: Decimal


def sum_days(rows: Iterable[Transaction], currency: str) -> dict[date, DayTotal]:
    totals: dict[date, DayTotal] = {}
    for row in rows:
        day = find_day(row)
        if day is not None and not row.is_pending and row.currency == currency:
            before = totals.get(day) or DayTotal(day, 0, Decimal(0))
            totals[day] = DayTotal(day, before.count + 1, before.amount + row.amount)
    return totals


def make_span(opening: Decimal, closing: Decimal, currency: str, rows: Iterable[Transaction]) -> BalanceSpan | None:
    """The span of a source's own bookings. None where it has none, or where its balances are not to be trusted.

    Some banks repeat the opening balance as the closing one, whatever was booked.
    """
    totals = sum_days(rows, currency)
    booked = sum((total.amount for total in totals.values()), Decimal(0))
    if not totals or (opening == closing and booked):
        return None
    return BalanceSpan(opening, closing, currency, totals[min(totals)], totals[max(totals)])


def find_gap(span: BalanceSpan, stored: Sequence[Transaction]) -> BalanceGap | None:
    """Do the stored bookings give the closing balance? `stored` holds all of the span's days.

    On the first and the last day more may be stored than the source told of them; then both readings are tried.
    """
    totals = sum_days(stored, span.currency)
    inside = sum((total.amount for day, total in totals.items() if span.first.day < day < span.last.day), Decimal(0))
    edges = [span.first] if span.first.day == span.last.day else [span.first, span.last]
    missing = [
        span.closing - span.opening - inside - sum(amounts, Decimal(0))
        for amounts in product(*(_list_readings(edge, totals.get(edge.day)) for edge in edges))
    ]
    difference = min(missing, key=abs).quantize(CENT)  # some banks send balances with fractions of a cent
    return BalanceGap(span, difference) if difference else None


def _list_readings(told: DayTotal, stored: DayTotal | None) -> list[Decimal]:
    if stored is None:
        return [Decimal(0)]
    return [stored.amount, told.amount] if stored.count > told.count else [stored.amount]


def find_newest_gap(spans: Iterable[BalanceSpan], stored: Sequence[Transaction]) -> BalanceGap | None:
    """The newest gap: what is wrong now matters more than what was wrong before."""
    gaps = (find_gap(span, stored) for span in sorted(spans, key=lambda span: span.last.day, reverse=True))
    return next((gap for gap in gaps if gap is not None), None)
