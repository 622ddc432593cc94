"""Completeness of an account, month by month: balances, what was booked between them, and what is missing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum

from kontor.domain.balances import BalanceGap
from kontor.domain.stored_products import StoredProduct

_DAY = timedelta(days=1)


class GapKind(StrEnum):
    """`NO_BALANCE`: the bank tells none, so that nothing can be reckoned."""

    BEFORE_FIRST_BOOKING = "BEFORE_FIRST_BOOKING"
    BALANCE_MISMATCH = "BALANCE_MISMATCH"
    NOT_YET_READ = "NOT_YET_READ"
    NO_BALANCE = "NO_BALANCE"


@dataclass(frozen=True, slots=True)
class Gap:
    """Days of a month about which something is not known. `difference`: what the bookings lack."""

    kind: GapKind
    first: date
    last: date
    difference: Decimal | None = None


@dataclass(frozen=True, slots=True)
class MonthSums:
    """Final bookings of a month in the account's currency. `known` is the sum up to the day of the known balance."""

    count: int
    credits: Decimal
    debits: Decimal
    known: Decimal
    first_day: date


@dataclass(frozen=True, slots=True)
class Source:
    """What months are reckoned from: the known balance, the day on which the bank was last read, and its newest gap."""

    balance: Decimal | None
    read_on: date
    gap: BalanceGap | None


@dataclass(frozen=True, slots=True)
class AccountMonth:
    """`first` is the first day. Balances are those before it and at the end of its last day; debits are negative."""

    first: date
    opening: Decimal | None
    count: int
    credits: Decimal
    debits: Decimal
    closing: Decimal | None
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class CompletenessStatement:
    """Of one account. `other_currencies` are those of bookings that no month contains."""

    stored: StoredProduct
    source: Source
    currency: str
    months: tuple[AccountMonth, ...]
    other_currencies: tuple[str, ...]


def state_months(source: Source, sums: Mapping[date, MonthSums]) -> list[AccountMonth]:
    """From the month of the first booking to that of the last one, or to the one in which the bank was read.

    `sums` are by the first day of their month. Balances are reckoned from the known one, so that a month's opening
    balance and its bookings always give the closing one: a gap shows where the bank's own balances disagree.
    """
    if not sums:
        return []
    first_booking = min(month.first_day for month in sums.values())
    before = None if source.balance is None else source.balance - sum((s.known for s in sums.values()), Decimal(0))
    months = []
    for first in _list_months(min(sums), max(*sums, source.read_on)):
        found = sums.get(first) or MonthSums(0, Decimal("0.00"), Decimal("0.00"), Decimal(0), first)
        after = None if before is None else before + found.credits + found.debits
        gaps = tuple(_list_gaps(source, first, first_booking))
        months.append(AccountMonth(first, before, found.count, found.credits, found.debits, after, gaps))
        before = after
    return months


def _list_months(first: date, last: date) -> Iterable[date]:
    while first <= last:
        yield first
        first = _find_next_month(first)


def _find_next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def _list_gaps(source: Source, first: date, first_booking: date) -> Iterable[Gap]:
    last = _find_next_month(first) - _DAY
    if first < first_booking:
        yield Gap(GapKind.BEFORE_FIRST_BOOKING, first, first_booking - _DAY)
    if source.gap is not None:
        begin, end = max(first, source.gap.span.first.day), min(last, source.gap.span.last.day)
        if begin <= end:
            yield Gap(GapKind.BALANCE_MISMATCH, begin, end, source.gap.difference)
    if source.read_on <= last:  # the day itself was not over
        yield Gap(GapKind.NOT_YET_READ, max(first, source.read_on), last)
    if source.balance is None:
        yield Gap(GapKind.NO_BALANCE, first, last)
