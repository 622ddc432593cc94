"""Bookings in the order of their days, so that a stretch of time is found without looking at all the others."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from datetime import date
from operator import attrgetter

from kontor.analysis.records import Record

_read_day = attrgetter("day")


class OrderedRecords(list[Record]):
    """Made by `order_records`, and not changed afterwards: several analyses share them."""


def order_records(records: Iterable[Record]) -> OrderedRecords:
    """Those with an amount that can be compared. The order within a day stays as it was."""
    if isinstance(records, OrderedRecords):
        return records
    return OrderedRecords(sorted([record for record in records if record.amount.is_finite()], key=_read_day))


def select_days(ordered: Sequence[Record], begin: date, until: date) -> Sequence[Record]:
    """Those from `begin` up to and including `until`, of bookings in order."""
    return ordered[bisect_left(ordered, begin, key=_read_day) : bisect_right(ordered, until, key=_read_day)]
