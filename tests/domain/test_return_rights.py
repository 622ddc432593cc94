"""Until when a direct debit can be returned. The rules are those of §§ 187, 188, 675x and 676b BGB."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.debit_returns import BookedScheme, ReturnGround, ReturnRight, add_months, find_rights

DAYS = st.dates(date(2000, 1, 1), date(2100, 1, 1))


def test_a_core_debit_has_eight_weeks_without_a_reason_and_thirteen_months_if_unauthorised():
    day = date(2026, 11, 2)
    assert find_rights(BookedScheme.CORE, day, day) == (
        ReturnRight(ReturnGround.WITHOUT_REASON, date(2026, 12, 28)),
        ReturnRight(ReturnGround.UNAUTHORISED, date(2027, 12, 2)),
    )


def test_a_b2b_debit_has_no_return_without_a_reason():
    day = date(2026, 11, 2)
    assert [right.ground for right in find_rights(BookedScheme.B2B, day, day)] == [ReturnGround.UNAUTHORISED]


@pytest.mark.parametrize(
    ("day", "end"),
    [
        (date(2026, 1, 31), date(2027, 2, 28)),
        (date(2027, 1, 31), date(2028, 2, 29)),
        (date(2026, 12, 1), date(2028, 1, 1)),
    ],
)
def test_thirteen_months_end_on_the_same_day_or_the_last_of_the_month(day, end):
    assert add_months(day, 13) == end


@given(DAYS, st.integers(min_value=0, max_value=500), st.sampled_from(BookedScheme))
def test_a_right_is_shown_up_to_its_last_day_and_no_longer(day, passed, scheme):
    today = day + timedelta(days=passed)
    rights = {right.ground: right.until for right in find_rights(scheme, day, today)}
    assert all(until >= today for until in rights.values())
    assert (ReturnGround.WITHOUT_REASON in rights) is (passed <= 56 and scheme is not BookedScheme.B2B)
    assert (ReturnGround.UNAUTHORISED in rights) is (today <= add_months(day, 13))
