"""Deadlines of reports on incidents: article 5 of Delegated Regulation (EU) 2025/301, by its paragraphs.

The examples are computed by hand from the wording of the article; holidays are those of the package `holidays`.
"""

from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given
from hypothesis import strategies as st

from kontor.analysis.calendars import is_working_day
from kontor.domain.clocks import BERLIN
from kontor.domain.incident_figures import IncidentFigures, ProviderFailures
from kontor.domain.incidents import Incident, Report, add_month, find_deadlines, find_extended_deadline

MONDAY = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)
TIMES = st.integers(0, 10 * 366 * 24 * 60).map(lambda minutes: MONDAY + timedelta(minutes=minutes))
SPANS = st.timedeltas(timedelta(0), timedelta(days=60))


def due(incident, report):
    return next(deadline for deadline in find_deadlines(incident, is_working_day) if deadline.report is report)


@pytest.mark.parametrize(
    ("classified_after", "due_after"),
    [
        (timedelta(hours=1), timedelta(hours=5)),  # 5(1)(a): 4 hours after the classification
        (timedelta(hours=20), timedelta(hours=24)),
        (timedelta(hours=22), timedelta(hours=24)),  # 5(1)(a): at most 24 hours after becoming aware
        (timedelta(hours=24), timedelta(hours=24)),
        (timedelta(hours=24, minutes=1), timedelta(hours=28, minutes=1)),  # 5(2): classified later
        (timedelta(days=9), timedelta(days=9, hours=4)),
    ],
)
def test_the_initial_notification_is_due_by_the_first_and_second_paragraph(classified_after, due_after):
    incident = Incident(1, "x", MONDAY, classified_at=MONDAY + classified_after, is_major=True)
    assert due(incident, Report.INITIAL).due_at == MONDAY + due_after


def test_before_the_classification_the_clock_runs_from_awareness():
    assert due(Incident(1, "x", MONDAY), Report.INITIAL).due_at == MONDAY + timedelta(hours=24)


def test_the_intermediate_report_runs_from_the_initial_notification_and_not_from_the_classification():
    """Article 5(1)(b)."""
    incident = Incident(1, "x", MONDAY, classified_at=MONDAY, is_major=True)
    assert due(incident, Report.INTERMEDIATE).due_at is None
    told = Incident(1, "x", MONDAY, classified_at=MONDAY, is_major=True, initial_at=MONDAY + timedelta(hours=3))
    assert due(told, Report.INTERMEDIATE).due_at == MONDAY + timedelta(hours=75)


@pytest.mark.parametrize(
    ("latest", "due_at"),
    [
        (datetime(2026, 11, 20, 9, 0, tzinfo=UTC), datetime(2026, 12, 20, 9, 0, tzinfo=UTC)),
        (datetime(2027, 1, 31, 9, 0, tzinfo=UTC), datetime(2027, 2, 28, 9, 0, tzinfo=UTC)),
        # Summer time begins in between: the same hour in Berlin.
        (datetime(2027, 3, 10, 9, 0, tzinfo=UTC), datetime(2027, 4, 10, 8, 0, tzinfo=UTC)),
    ],
)
def test_the_final_report_is_due_a_month_after_the_latest_intermediate_report(latest, due_at):
    """Article 5(1)(c)."""
    incident = Incident(1, "x", MONDAY, classified_at=MONDAY, is_major=True, initial_at=MONDAY, intermediate_at=latest)
    assert due(incident, Report.FINAL).due_at == due_at


@pytest.mark.parametrize(
    ("due_at", "until"),
    [
        (datetime(2026, 11, 20, 22, 59, tzinfo=UTC), None),  # Friday, 23:59 in Berlin
        (datetime(2026, 11, 20, 23, 1, tzinfo=UTC), datetime(2026, 11, 23, 11, tzinfo=UTC)),  # Saturday, 00:01 there
        (datetime(2026, 11, 22, 15, tzinfo=UTC), datetime(2026, 11, 23, 11, tzinfo=UTC)),  # Sunday
        (datetime(2026, 12, 25, 15, tzinfo=UTC), datetime(2026, 12, 28, 11, tzinfo=UTC)),  # Christmas Day, a Friday
        (datetime(2027, 3, 26, 9, tzinfo=UTC), datetime(2027, 3, 30, 10, tzinfo=UTC)),  # Good Friday to Easter Tuesday
        (datetime(2026, 10, 31, 9, tzinfo=UTC), datetime(2026, 11, 2, 11, tzinfo=UTC)),
    ],
)
def test_on_weekends_and_holidays_there_is_relief_until_noon_of_the_next_working_day(due_at, until):
    """Article 5(4)."""
    assert find_extended_deadline(due_at, is_working_day) == until


def test_holidays_of_some_states_only_give_no_relief():
    assert is_working_day(date(2026, 1, 6))  # Epiphany, in three of sixteen states
    assert not is_working_day(date(2026, 10, 3))


def test_what_is_not_major_has_no_deadlines():
    assert find_deadlines(Incident(1, "x", MONDAY, classified_at=MONDAY, is_major=False), is_working_day) == []


@given(aware=TIMES, until_classified=SPANS)
def test_the_initial_notification_is_never_later_than_four_hours_after_the_classification(aware, until_classified):
    classified = aware + until_classified
    deadline = due(Incident(1, "x", aware, classified_at=classified, is_major=True), Report.INITIAL)
    assert classified <= deadline.due_at <= classified + timedelta(hours=4)
    if until_classified <= timedelta(hours=24):
        assert deadline.due_at <= aware + timedelta(hours=24)
    assert deadline.is_missed(deadline.due_at + timedelta(minutes=1))
    assert not deadline.is_missed(deadline.due_at)


@given(at=TIMES)
def test_a_month_is_28_to_31_days_and_ends_on_the_same_day_or_the_last_one(at):
    moved = add_month(at)
    before, after = at.astimezone(BERLIN), moved.astimezone(BERLIN)
    assert timedelta(days=27, hours=23) <= moved - at <= timedelta(days=31, hours=1)
    assert (after.year * 12 + after.month) - (before.year * 12 + before.month) == 1
    assert after.day == before.day or (after + timedelta(days=1)).month != after.month
    assert after.replace(tzinfo=None) == before.replace(tzinfo=None) + relativedelta(months=1)  # a foreign program


@given(at=TIMES)
def test_relief_ends_at_noon_of_a_working_day_and_no_working_day_is_skipped(at):
    until = find_extended_deadline(at, is_working_day)
    day = at.astimezone(BERLIN).date()
    if is_working_day(day):
        assert until is None
        return
    local = until.astimezone(BERLIN)
    assert (local.hour, local.minute, is_working_day(local.date())) == (12, 0, True)
    between = [day + timedelta(days=number) for number in range((local.date() - day).days)]
    assert not any(map(is_working_day, between))


@pytest.mark.parametrize(
    ("affected", "customers", "hours", "above"),
    [
        (10, 100, 24, []),
        (11, 100, 24, ["9(1)(a)"]),
        (100_000, 1_000_000, 1, []),
        (100_001, 2_000_000, 25, ["9(1)(b)", "9(3)"]),
        (0, 0, 0, []),
    ],
)
def test_counts_are_above_a_threshold_only_when_they_are_higher(affected, customers, hours, above):
    """Article 9(1)(a), (b) and 9(3) of Delegated Regulation (EU) 2024/1772: "higher than", "longer than"."""
    failing = ProviderFailures(UUID(int=0), 1, 1, MONDAY, MONDAY + timedelta(hours=hours))
    known = {field.name: 0 for field in fields(IncidentFigures)} | {
        "customers": customers, "affected_customers": affected, "providers": (failing,),
    }  # fmt: skip
    measures = IncidentFigures(**known).compare_thresholds()
    assert [measure.threshold.partition(":")[0] for measure in measures if measure.is_above] == above
