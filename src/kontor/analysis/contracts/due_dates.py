"""When the next payment is due: the day of the month or week, and how it moves over weekends and bank holidays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from kontor.analysis.calendars import find_day, move_to_banking_day, number_month
from kontor.analysis.contracts.periods import HALF_MONTH, Period

LAST_DAY = 31
_LOOKED_AT = 12
_LATEST = date(9990, 1, 1)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Due dates. `base` is the due date of the latest regular payment before it is moved to a banking day, `day` the
    day of the month (31 is the last one, whatever the month). `second_day` is for two payments a month. `step` says
    where a date goes on which banks are closed: to the next banking day (1) or to the previous one (-1)."""

    period: str
    months: int
    weeks: int
    base: date
    day: int
    step: int
    second_day: int = 0

    def list_after(self, after: date) -> Iterator[date]:
        """All due dates after that day, on banking days."""
        if after >= _LATEST:
            return
        if self.weeks:
            length = 7 * self.weeks
            skipped = max(0, ((after - self.base).days - 14) // length)
            due = self.base + timedelta(days=skipped * length)
            while due < _LATEST:
                due += timedelta(days=length)
                if (moved := move_to_banking_day(due, self.step)) > after:
                    yield moved
            return
        days = (self.day, self.second_day) if self.second_day else (self.day,)
        base = number_month(self.base)
        month = base + max(0, (number_month(after) - base - 2) // self.months) * self.months
        while month < _LATEST.year * 12:
            for day in days:
                due = find_day(month, day)
                if due > self.base and (moved := move_to_banking_day(due, self.step)) > after:
                    yield moved
            month += self.months

    def find_next(self, after: date) -> date | None:
        return next(self.list_after(after), None)


def _find_due_month(paid: date, day: int, step: int) -> int | None:
    """The month for which a payment was made, if it is due on that day and moved in that direction."""
    month = number_month(paid)
    for number in (month, month - 1, month + 1):
        if move_to_banking_day(find_day(number, day), step) == paid:
            return number
    return None


def _list_candidates(days: Sequence[date], usual_step: int) -> list[tuple[int, int]]:
    """Day of month and direction, what is usual first."""
    seen: dict[int, int] = {}
    for paid in days:
        seen[paid.day] = seen.get(paid.day, 0) + 1
    near = {LAST_DAY, 1, 15}
    for number in seen:
        near |= {(number + shift - 1) % 31 + 1 for shift in (-4, -3, -2, -1, 0, 1, 2, 3)}
    # Weekends hide the real day; where several explain what was seen, the usual ones are the likelier.
    ordered = sorted(near, key=lambda number: (number not in (1, 15), -seen.get(number, 0), number))
    usual = [(number, usual_step) for number in ordered]
    return [*usual[:2], (LAST_DAY, -1), *usual[2:], *((number, -usual_step) for number in ordered)]


def _fit_day(days: Sequence[date], usual_step: int) -> tuple[int, int]:
    """The day of the month and the direction that explain the most payments."""
    best = (days[-1].day, usual_step)
    most = 0.0
    weights = [1 + place / len(days) for place in range(len(days))]
    for day, step in _list_candidates(days, usual_step):
        # Where all else is equal, what needs no unusual direction is believed.
        score = -0.3 if step != usual_step and day != LAST_DAY else 0.0
        for paid, weight in zip(days, weights, strict=True):
            if _find_due_month(paid, day, step) is not None:
                score += weight
        if score > most + 1e-9:
            most, best = score, (day, step)
            if score >= sum(weights) - 1e-9:
                break
    return best


def _schedule_weeks(days: Sequence[date], period: Period, step: int) -> Schedule:
    """The weekday is the one that was used most: moved payments are the fewer ones."""
    length = period.weeks * 7
    counts: dict[int, int] = {}
    for paid in days:
        counts[paid.toordinal() % length] = counts.get(paid.toordinal() % length, 0) + 1
    phase = max(counts, key=lambda number: (counts[number], number))
    latest = days[-1].toordinal()
    base = latest - (latest - phase + length // 2) % length + length // 2
    return Schedule(period.name, 0, period.weeks, date.fromordinal(base), 0, step)


def find_schedule(days: Sequence[date], period: Period, step: int) -> Schedule:
    """The due dates that regular payments on these days follow. `step` is the usual direction of their kind."""
    if period.weeks:
        return _schedule_weeks(days[-_LOOKED_AT:], period, step)
    if period is HALF_MONTH:
        late = sorted(paid.day for paid in days[-_LOOKED_AT:])
        first, second = late[len(late) // 4], late[(3 * len(late)) // 4]
        low = _fit_day([paid for paid in days if abs(paid.day - first) <= 6] or days, step)[0]
        high = _fit_day([paid for paid in days if abs(paid.day - second) <= 6] or days, step)[0]
        low, high = min(low, high), max(low, high)
        base = min(days[-1], find_day(number_month(days[-1]), high if days[-1].day >= high else low))
        return Schedule(period.name, 1, 0, base, low, step, high)
    day, found_step = _fit_day(days[-_LOOKED_AT:], step)
    if day == LAST_DAY:
        found_step = _find_step_of_last_day(days, found_step)
    month = _find_due_month(days[-1], day, found_step)
    if month is None:
        month = _find_nearest_month(days[-1], day)
    return Schedule(period.name, round(period.months), 0, find_day(month, day), day, found_step)


def _find_step_of_last_day(days: Sequence[date], step: int) -> int:
    """Who pays on the last day of the month pays on its last banking day, unless payments were seen after it."""
    return step if any(paid.day <= 4 for paid in days) else -1


def _find_nearest_month(paid: date, day: int) -> int:
    month = number_month(paid)
    return min((month, month - 1, month + 1), key=lambda number: abs((find_day(number, day) - paid).days))
