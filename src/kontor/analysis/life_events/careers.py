"""Work: jobs that begin, end or change, rises, unemployment, studies, retirement, parental leave."""

from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from kontor.analysis.life_events.findings import LifeEvent
from kontor.analysis.life_events.signals import LifeSignals, SignalPeriod, count_days, subtract_days
from kontor.analysis.life_events.signs import Sign
from kontor.analysis.reasons import Reason
from kontor.analysis.records import Record

# The last pay of one job and the first of the next are at most so far apart; they may overlap by less.
CHANGE_DAYS, OVERLAP_DAYS = 100, 45
MIN_PAY = 450
_MIN_RISE, _SAME, _MAX_FRESH_RISE = 1.01, 1.005, 1.15
_TOGETHER_DAYS = 100
_SEMESTER_DAYS, _LATE_FEE_DAYS = 183, 275
_HIGH, _GOOD, _FAIR = 0.97, 0.9, 0.8


def list_jobs(signals: LifeSignals) -> list[SignalPeriod]:
    """Jobs to live on: side jobs are none."""
    return [period for period in signals.list_periods(Sign.SALARY) if period.usual_amount >= MIN_PAY]


def find_career_events(signals: LifeSignals) -> Iterator[LifeEvent]:
    jobs = list_jobs(signals)
    yield from _find_job_begins(signals, jobs)
    yield from _find_job_ends(signals, jobs)
    for job in jobs:
        yield from find_rises(job)
    yield from _find_benefits(signals)
    yield from _find_studies(signals)
    yield from _find_retirement(signals)


def _has_leave_near(signals: LifeSignals, day: date) -> bool:
    leaves = signals.list_periods(Sign.PARENTAL_ALLOWANCE)
    days = [period.first for period in leaves] + [record.day for record in signals.list_singles(Sign.MATERNITY_PAY)]
    return any(-OVERLAP_DAYS <= (begin - day).days <= CHANGE_DAYS for begin in days)


def find_predecessor(jobs: list[SignalPeriod], job: SignalPeriod) -> SignalPeriod | None:
    """The job that this one took the place of. While both are new to the data, pay on the same days means two jobs."""
    before = [
        earlier
        for earlier in jobs
        if earlier is not job
        and earlier.partner != job.partner
        and earlier.first < job.first
        and -OVERLAP_DAYS <= (job.first - earlier.last).days <= CHANGE_DAYS
        and (earlier.is_over or (job.first - earlier.last).days > 10)
    ]
    return max(before, key=lambda earlier: earlier.last, default=None)


def _find_job_begins(signals: LifeSignals, jobs: list[SignalPeriod]) -> Iterator[LifeEvent]:
    idle = signals.list_periods(Sign.UNEMPLOYMENT)
    for job in jobs:
        if not job.has_beginning:
            continue
        same = [past for past in jobs if past is not job and past.partner == job.partner and past.last < job.first]
        if same and not any(same[-1].last <= period.first <= job.first for period in idle):
            continue  # back at work, after a leave
        before = find_predecessor(jobs, job)
        confidence = _HIGH if len(job.records) > 1 else _FAIR
        reasons = [Reason(f"First pay of {job.partner} on {job.first}", job.ids[:2])]
        if before is None:
            earlier = [past for past in jobs if past.first < job.first]
            if not earlier:
                reasons.append(Reason("No other pay was seen before"))
            yield LifeEvent(
                "EMPLOYMENT_START", job.first, confidence, job.ids[:2], tuple(reasons), job.usual_amount, not earlier
            )
        else:
            reasons.append(Reason(f"Last pay of {before.partner} on {before.last}", before.ids[-1:]))
            ids = (*before.ids[-1:], *job.ids[:2])
            yield LifeEvent("EMPLOYMENT_CHANGE", job.first, confidence, ids, tuple(reasons), job.usual_amount)


def _find_job_ends(signals: LifeSignals, jobs: list[SignalPeriod]) -> Iterator[LifeEvent]:
    for job in jobs:
        if not job.is_over or len(job.records) < 2:
            continue
        is_replaced = any(
            later is not job
            and (later.partner == job.partner or later.has_beginning)
            and -OVERLAP_DAYS <= (later.first - job.last).days <= CHANGE_DAYS
            and later.last > job.last
            for later in jobs
        )
        if is_replaced or _has_leave_near(signals, job.last):
            continue
        reasons = (
            Reason(f"Last pay of {job.partner} on {job.last}", job.ids[-2:]),
            Reason("The next one did not come although newer data of the account is there, and no other job began"),
        )
        yield LifeEvent("EMPLOYMENT_END", job.last, _GOOD, job.ids[-2:], reasons)


def find_rises(job: SignalPeriod) -> Iterator[LifeEvent]:
    """Pay that goes up and stays up. What varies from month to month has no rises."""
    amounts = [float(record.amount) for record in job.records]
    for place, (old, new) in enumerate(pairwise(amounts), start=1):
        if new < old * _MIN_RISE or new < max(amounts[max(0, place - 3) : place]) * _SAME:
            continue
        earlier, later = amounts[max(0, place - 3) : place - 1], amounts[place + 1 : place + 3]
        is_steady = all(old / _SAME <= amount <= old * _SAME for amount in earlier)
        stays = all(amount >= new / _SAME for amount in later)
        if not is_steady or not stays:
            continue
        if not later and (len(earlier) < 2 or new > old * _MAX_FRESH_RISE):
            continue
        if later and not earlier and not all(amount <= new * _SAME for amount in later):
            continue
        before, raised = job.records[place - 1], job.records[place]
        rise = raised.amount - before.amount
        reasons = (
            Reason(f"Pay of {job.partner} went from {before.amount} to {raised.amount}", (before.id, raised.id)),
        )
        confidence = _HIGH if len(later) == 2 else _GOOD if later else _FAIR
        yield LifeEvent("SALARY_INCREASE", raised.day, confidence, (before.id, raised.id), reasons, rise)


def _tell_begin(name: str, period: SignalPeriod, amount_counts: bool = False) -> LifeEvent:
    reasons = (Reason(f"First {period.sign.value} from {period.partner} on {period.first}", period.ids[:2]),)
    confidence = _HIGH if len(period.records) > 1 else _FAIR
    amount = period.usual_amount if amount_counts else None
    return LifeEvent(name, period.first, confidence, period.ids[:2], reasons, amount)


def _tell_end(name: str, period: SignalPeriod) -> LifeEvent:
    reasons = (
        Reason(f"Last {period.sign.value} from {period.partner} on {period.last}", period.ids[-2:]),
        Reason("The next one did not come although newer data of the account is there"),
    )
    return LifeEvent(name, period.last, _GOOD, period.ids[-2:], reasons)


def _find_benefits(signals: LifeSignals) -> Iterator[LifeEvent]:
    for sign, name in ((Sign.UNEMPLOYMENT, "UNEMPLOYMENT"), (Sign.PARENTAL_ALLOWANCE, "PARENTALLEAVE")):
        for period in signals.list_periods(sign):
            if period.has_beginning:
                yield _tell_begin(f"{name}_START", period)
            if period.is_over:
                yield _tell_end(f"{name}_END", period)


def _tell_fees(name: str, day: date, fees: list[Record]) -> LifeEvent:
    ids = tuple(fee.id for fee in fees)
    return LifeEvent(name, day, _FAIR, ids, (Reason(f"Semester fees from {fees[0].day} to {fees[-1].day}", ids),))


def _find_studies(signals: LifeSignals) -> Iterator[LifeEvent]:
    """Student aid tells best; without it, semester fees do."""
    aids = signals.list_periods(Sign.STUDENT_AID)
    fees = signals.list_singles(Sign.SEMESTER_FEE)
    for aid in aids:
        if aid.has_beginning and not any(
            _SEMESTER_DAYS < (aid.first - fee.day).days < 3 * _LATE_FEE_DAYS for fee in fees
        ):
            yield _tell_begin("STUDY_START", aid)
        goes_on = any(fee.day > aid.last for fee in fees) or any(other.first > aid.last for other in aids)
        if aid.is_over and not goes_on:
            yield _tell_end("STUDY_END", aid)
    if aids or not fees:
        return
    first, last = fees[0], fees[-1]
    if (first.day - signals.data_from[first.account]).days > _LATE_FEE_DAYS:
        yield _tell_fees("STUDY_START", first.day, fees[:2])
    if (signals.data_until[last.account] - last.day).days > _LATE_FEE_DAYS:
        yield _tell_fees("STUDY_END", subtract_days(last.day, -_SEMESTER_DAYS), fees[-2:])


def _find_retirement(signals: LifeSignals) -> Iterator[LifeEvent]:
    """Several pensions that begin together are one event, dated by the largest."""
    together: list[list[SignalPeriod]] = []
    for period in signals.list_periods(Sign.PENSION):
        if together and count_days(period.first, together[-1][0].first) <= _TOGETHER_DAYS:
            together[-1].append(period)
        else:
            together.append([period])
    if together and all(period.has_beginning for period in together[0]):
        yield _tell_begin("RETIREMENT_START", max(together[0], key=lambda period: period.usual_amount), True)
