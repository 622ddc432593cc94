"""Balances prove completeness, and are silent where they prove nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from kontor.domain.balances import find_gap, find_newest_gap, make_span
from kontor.domain.transactions import Transaction

NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)


def booking(day, amount, **facts):
    return Transaction(Decimal(amount), "EUR", NOON + timedelta(day), **facts)


ROWS = [booking(0, "-10.00"), booking(1, "5.00"), booking(2, "-7.50"), booking(3, "1.00")]
SPAN = make_span(Decimal("100.00"), Decimal("88.50"), "EUR", ROWS)


def test_complete_bookings_have_no_gap_in_any_order():
    assert find_gap(SPAN, ROWS[::-1]) is None


@pytest.mark.parametrize("missing", range(4))
def test_what_is_missing_is_told_with_its_amount(missing):
    rows = [row for number, row in enumerate(ROWS) if number != missing]
    gap = find_gap(SPAN, rows)
    assert gap is not None
    assert gap.difference == ROWS[missing].amount


def test_a_booking_that_is_there_twice_between_the_edges_is_told():
    gap = find_gap(SPAN, [*ROWS, ROWS[1]])
    assert gap is not None
    assert gap.difference == Decimal("-5.00")


def test_pending_rows_other_currencies_and_other_days_do_not_count():
    others = [booking(1, "3.00", is_pending=True), replace(booking(1, "3.00"), currency="USD"), booking(9, "3.00")]
    assert find_gap(SPAN, [*ROWS, *others]) is None


def test_more_bookings_on_the_first_or_the_last_day_may_belong_to_the_neighbours():
    assert find_gap(SPAN, [*ROWS, booking(0, "44.00"), booking(3, "55.00")]) is None


def test_a_day_told_in_part_is_right_when_the_whole_day_is():
    """A later report of the day: from the morning's balance to that of now, but only what is new."""
    rows = [booking(0, "-10.00"), booking(0, "4.00")]
    span = make_span(Decimal("100.00"), Decimal("94.00"), "EUR", rows[1:])
    assert find_gap(span, rows) is None


def test_a_bank_that_repeats_its_opening_balance_is_not_believed():
    assert make_span(Decimal("100.00"), Decimal("100.00"), "EUR", ROWS) is None
    assert make_span(Decimal("100.00"), Decimal("90.00"), "EUR", []) is None


def test_fractions_of_a_cent_are_no_gap():
    span = make_span(Decimal("100.000000000021"), Decimal("88.50"), "EUR", ROWS)
    assert find_gap(span, ROWS) is None


def test_of_several_gaps_the_newest_is_told():
    later = make_span(Decimal("88.50"), Decimal("90.50"), "EUR", [booking(5, "1.00")])
    gap = find_newest_gap([SPAN, later], [booking(5, "1.00")])
    assert gap is not None
    assert gap.span == later
