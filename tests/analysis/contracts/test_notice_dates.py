"""Until when notice must be given, also after the term has renewed."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_contract_ids import make_contract

from kontor.analysis.contracts import Status, find_notice_date
from kontor.analysis.contracts.periods import BY_NAME
from kontor.domain.contracts import ContractSettings
from kontor.domain.notice_periods import read_period, subtract_period
from many_examples import many_examples

TODAY = date(2026, 11, 15)


def find(end, notice="P3M", today=TODAY, **facts):
    settings = ContractSettings(notice_period=notice, minimum_term_end=end)
    return find_notice_date(replace(make_contract("a"), **facts), settings, today)


def test_it_is_the_end_of_the_minimum_term_less_the_period():
    assert find(date(2027, 5, 31)) == date(2027, 2, 28)


def test_on_its_last_day_notice_can_be_given():
    assert find(date(2027, 2, 15)) == TODAY


@pytest.mark.parametrize(
    ("period", "category", "expected"),
    [
        ("MONTH_ONE", "BILLS_MOBILE", date(2026, 11, 28)),
        ("MONTH_THREE", "BILLS_POWER", date(2026, 11, 28)),
        ("YEAR_ONE", "RECREATION_SPORTS", date(2027, 2, 28)),
        ("MONTH_ONE", "INSURANCE_HOME", date(2027, 2, 28)),
        ("WEEK_FOUR", "RECREATION_SPORTS", date(2026, 12, 7)),
    ],
)
def test_a_term_that_has_renewed_has_the_next_one_by_what_it_renews_by(period, category, expected):
    assert find(date(2026, 5, 31), "P3M", period=period, category=category) == expected


def test_what_is_no_longer_paid_does_not_renew():
    assert find(date(2026, 5, 31), status=Status.INACTIVE) == date(2026, 2, 28)


def test_without_an_end_or_a_period_there_is_none():
    for settings in (ContractSettings(notice_period="P3M"), ContractSettings(minimum_term_end=TODAY)):
        assert find_notice_date(make_contract("a"), settings, TODAY) is None


@many_examples(200)
@given(
    st.dates(date(1950, 1, 1), date(2100, 1, 1)),
    st.sampled_from(("P0D", "P1M", "P3M", "P6W", "P1Y", "P10Y")),
    st.sampled_from(sorted(BY_NAME)),
)
def test_it_is_never_over_and_no_further_away_than_the_term_renews(end, text, period):
    found = find(end, text, period=period)
    first = subtract_period(end, read_period(text, "noticePeriod"))
    assert found >= TODAY
    assert found == first or found < TODAY + timedelta(days=BY_NAME[period].days + 4)
