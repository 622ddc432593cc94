"""ICT-related incidents and the deadlines of their reports: Delegated Regulation (EU) 2025/301, article 5.

Deadlines in hours are exact to the minute. A month ends at the same time of day, on the last day of a shorter month:
never later than Regulation (EEC, Euratom) No 1182/71 on time limits lets it end.
"""

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum

from kontor.domain.clocks import BERLIN

AFTER_CLASSIFICATION = timedelta(hours=4)
AFTER_AWARENESS = timedelta(hours=24)
AFTER_INITIAL = timedelta(hours=72)
NOON = time(12)
DAY = timedelta(days=1)
MAX_CHARACTERS = 200


class Report(StrEnum):
    INITIAL = "initial"
    INTERMEDIATE = "intermediate"
    FINAL = "final"


class Criterion(StrEnum):
    """Articles 1 to 7 of Delegated Regulation (EU) 2024/1772."""

    CLIENTS = "clients"
    REPUTATION = "reputation"
    DURATION = "duration"
    GEOGRAPHY = "geography"
    DATA_LOSSES = "data-losses"
    CRITICAL_SERVICES = "critical-services"
    ECONOMIC_IMPACT = "economic-impact"


@dataclass(frozen=True, slots=True)
class Incident:
    """`is_major` is None before the operator has classified it. `initial_at` is the first time, others the newest.

    `major_again_at` is the latest classification as major after one as not major. Reports from before it do not count.
    """

    number: int
    title: str
    aware_at: datetime
    occurred_at: datetime | None = None
    classified_at: datetime | None = None
    is_major: bool | None = None
    was_major: bool = False
    criteria: tuple[Criterion, ...] = ()
    recovered_at: datetime | None = None
    closed_at: datetime | None = None
    initial_at: datetime | None = None
    intermediate_at: datetime | None = None
    final_at: datetime | None = None
    major_again_at: datetime | None = None

    @property
    def reference(self) -> str:
        return f"INC-{self.number}"

    def find_submission(self, report: Report) -> datetime | None:
        return {
            Report.INITIAL: self.initial_at, Report.INTERMEDIATE: self.intermediate_at, Report.FINAL: self.final_at,
        }[report]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Deadline:
    """`due_at` is None where it runs from a report that has not been submitted yet.

    `relief_until` is set where the deadline falls on a weekend or a bank holiday: article 5(4), which article 5(5) and
    a decision of the authority under article 5(6) may exclude.
    """

    report: Report
    due_at: datetime | None
    rule: str
    relief_until: datetime | None = None
    submitted_at: datetime | None = None

    def is_missed(self, now: datetime) -> bool:
        """Without the relief."""
        return self.due_at is not None and (self.submitted_at or now) > self.due_at


IsWorkingDay = Callable[[date], bool]


def find_deadlines(incident: Incident, is_working_day: IsWorkingDay) -> list[Deadline]:
    """None where the operator has found that the incident is not major."""
    if incident.is_major is False:
        return []
    return [
        _find_initial(incident, is_working_day),
        _find_intermediate(incident, is_working_day),
        _find_final(incident, is_working_day),
    ]


def _find_initial(incident: Incident, is_working_day: IsWorkingDay) -> Deadline:
    latest = incident.aware_at + AFTER_AWARENESS
    if incident.classified_at is None:
        return _make(incident, Report.INITIAL, latest, "24 hours after becoming aware, if it is major", is_working_day)
    due = incident.classified_at + AFTER_CLASSIFICATION
    if due <= latest or incident.classified_at > latest:
        return _make(incident, Report.INITIAL, due, "4 hours after the classification as major", is_working_day)
    return _make(incident, Report.INITIAL, latest, "24 hours after becoming aware", is_working_day)


def _find_intermediate(incident: Incident, is_working_day: IsWorkingDay) -> Deadline:
    """An update is due without delay when regular activities have been recovered: that has no hour."""
    rule = "72 hours after the initial notification"
    due = None if incident.initial_at is None else incident.initial_at + AFTER_INITIAL
    return _make(incident, Report.INTERMEDIATE, due, rule, is_working_day)


def _find_final(incident: Incident, is_working_day: IsWorkingDay) -> Deadline:
    due = None if incident.intermediate_at is None else add_month(incident.intermediate_at)
    return _make(incident, Report.FINAL, due, "one month after the latest intermediate report", is_working_day)


def _make(
    incident: Incident, report: Report, due: datetime | None, rule: str, is_working_day: IsWorkingDay
) -> Deadline:
    relief = None if due is None else find_extended_deadline(due, is_working_day)
    return Deadline(report, due, rule, relief, incident.find_submission(report))


def find_extended_deadline(due: datetime, is_working_day: IsWorkingDay) -> datetime | None:
    """Noon of the next working day, where the deadline falls on a day that is none. Days are those of Berlin."""
    day = due.astimezone(BERLIN).date()
    if is_working_day(day):
        return None
    while not is_working_day(day):
        day += DAY
    return datetime.combine(day, NOON, BERLIN).astimezone(due.tzinfo)


def add_month(at: datetime) -> datetime:
    local = at.astimezone(BERLIN)
    year, month = (local.year, local.month + 1) if local.month < 12 else (local.year + 1, 1)
    moved = local.replace(year=year, month=month, day=min(local.day, monthrange(year, month)[1]))
    return moved.astimezone(at.tzinfo)
