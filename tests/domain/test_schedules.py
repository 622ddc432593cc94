"""Days of execution of standing orders."""

import calendar
from datetime import date, timedelta
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.schedules import Period, Schedule, find_day_of_month

DAYS = st.dates(date(2000, 1, 1), date(2100, 12, 31))
SCHEDULES = st.builds(
    Schedule, st.sampled_from(Period), DAYS, day=st.one_of(st.none(), st.integers(1, 31), st.integers(97, 99))
)


def list_first(schedule, count):
    return list(islice(schedule.list_days(), count))


@pytest.mark.parametrize(
    ("schedule", "days"),
    [
        (Schedule(Period.MONTH_ONE, date(2027, 1, 31)), ["2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30"]),
        (Schedule(Period.MONTH_ONE, date(2028, 1, 30)), ["2028-01-30", "2028-02-29", "2028-03-30"]),
        (Schedule(Period.MONTH_ONE, date(2027, 2, 28)), ["2027-02-28", "2027-03-28", "2027-04-28"]),
        (Schedule(Period.MONTH_ONE, date(2027, 2, 28), day=31), ["2027-02-28", "2027-03-31", "2027-04-30"]),
        (Schedule(Period.MONTH_ONE, date(2027, 2, 28), day=99), ["2027-02-28", "2027-03-31", "2027-04-30"]),
        (Schedule(Period.MONTH_ONE, date(2027, 1, 15), day=98), ["2027-01-15", "2027-02-27", "2027-03-30"]),
        (Schedule(Period.MONTH_THREE, date(2026, 11, 30)), ["2026-11-30", "2027-02-28", "2027-05-30"]),
        (Schedule(Period.YEAR_ONE, date(2028, 2, 29)), ["2028-02-29", "2029-02-28", "2030-02-28"]),
        (Schedule(Period.WEEK_TWO, date(2026, 12, 25)), ["2026-12-25", "2027-01-08", "2027-01-22"]),
    ],
)
def test_a_day_that_a_month_does_not_have_is_its_last(schedule, days):
    assert [str(day) for day in list_first(schedule, len(days))] == days


@given(SCHEDULES)
def test_executions_lie_a_whole_period_apart(schedule):
    days = list_first(schedule, 30)
    assert days[0] == schedule.first
    for number, (before, after) in enumerate(pairwise(days)):
        assert before < after
        if schedule.period.weeks:
            assert after - before == timedelta(days=7 * schedule.period.weeks)
        else:
            months = (after.year - before.year) * 12 + after.month - before.month
            assert months == schedule.period.months, number


@given(SCHEDULES)
def test_a_month_is_left_out_by_no_month_end(schedule):
    wanted = schedule.day or schedule.first.day
    for day in list_first(schedule, 30)[1:]:
        if not schedule.period.weeks:
            last = calendar.monthrange(day.year, day.month)[1]
            expected = last - (99 - wanted) if wanted >= 97 else min(wanted, last)
            assert day.day == expected


@given(SCHEDULES, DAYS, st.one_of(st.none(), DAYS))
def test_the_next_execution_is_the_first_that_is_not_over(schedule, today, last):
    limited = Schedule(schedule.period, schedule.first, last, schedule.day)
    found = limited.find_next(today)
    assert limited.is_over(today) is (found is None)
    if found is None:
        assert last is not None
        assert not [day for day in limited.list_days() if day >= today]
    else:
        assert found >= today
        assert last is None or found <= last
        assert [day for day in islice(limited.list_days(), 6000) if today <= day < found] == []


def test_a_schedule_without_an_end_ends_with_the_calendar():
    assert len(list(Schedule(Period.YEAR_ONE, date(9990, 5, 5)).list_days())) == 10
    assert len(list(Schedule(Period.WEEK_ONE, date(9999, 12, 20)).list_days())) == 2


@given(st.integers(1, 9999), st.integers(1, 12), st.integers(1, 31))
def test_every_month_has_the_day_that_was_asked_for_or_its_last(year, month, day):
    assert find_day_of_month(year, month, day) <= find_day_of_month(year, month, 99)
