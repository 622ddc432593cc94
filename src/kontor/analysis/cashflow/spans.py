"""Spans of time by their names in the tree of cashflows: `TOTAL_TOTAL`, `2020_Y`, `2020_Q1`, `2020_M01`, `2020_W01`.

Bookings are first summed by cells, the smallest pieces that no span cuts: the days of one week in one month. So every
booking is added up once, and the few cells then make all the spans.
"""

from calendar import monthrange
from datetime import date, timedelta
from functools import lru_cache
from typing import TypeAlias

from kontor.analysis.calendars import number_month
from kontor.analysis.trees import FIRST_YEAR, LAST_YEAR

TOTAL = "TOTAL_TOTAL"
# Longest spans first, each kind in the order of time.
_ORDER = {"T": 0, "Y": 1, "Q": 2, "M": 3, "W": 4}


# A cell is one number: that of the month, then the year and number of the week.
Cell: TypeAlias = int
_MONTH, _WEEK_YEAR = 1_000_000, 64


@lru_cache(maxsize=65536)
def find_cell(day: date) -> Cell:
    week_year, week, _ = day.isocalendar()
    return number_month(day) * _MONTH + week_year * _WEEK_YEAR + week


def split_cell(cell: Cell) -> tuple[int, int]:
    """The numbers of its month and of its week."""
    return divmod(cell, _MONTH)


def _has_year(year: int) -> bool:
    return FIRST_YEAR <= year <= LAST_YEAR


@lru_cache(maxsize=4096)
def name_month(month: int) -> str | None:
    """The span of a numbered month (see `number_month`), if the tree has it."""
    year, index = divmod(month, 12)
    return f"{year}_M{index + 1:02d}" if _has_year(year) else None


@lru_cache(maxsize=4096)
def name_quarter(month: int) -> str | None:
    year, index = divmod(month, 12)
    return f"{year}_Q{index // 3 + 1}" if _has_year(year) else None


@lru_cache(maxsize=4096)
def name_year(month: int) -> str | None:
    return f"{month // 12}_Y" if _has_year(month // 12) else None


@lru_cache(maxsize=4096)
def name_week(week: int) -> str | None:
    year, number = divmod(week, _WEEK_YEAR)
    return f"{year}_W{number:02d}" if _has_year(year) else None


@lru_cache(maxsize=16384)
def list_spans(cell: Cell) -> tuple[str, ...]:
    """The spans that a cell is in. Years that the tree does not have are in the total only."""
    month, week = split_cell(cell)
    names = (name_year(month), name_quarter(month), name_month(month), name_week(week))
    return (TOTAL, *(name for name in names if name is not None))


@lru_cache(maxsize=16384)
def sort_key(span: str) -> tuple[int, str]:
    return (0, "") if span == TOTAL else (_ORDER[span[5]], span)


def find_last_day(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def find_last_day_of_next(day: date) -> date:
    """The last day of the month after; at the end of the calendar the last day there is."""
    last = find_last_day(day)
    return last if last == date.max else find_last_day(last + timedelta(days=1))
