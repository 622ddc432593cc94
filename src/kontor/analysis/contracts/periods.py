"""How often something is paid: the period under which most payments fall into step."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor

DAYS_OF_MONTH = 30.44


@dataclass(frozen=True, slots=True)
class Period:
    """A step of time, in months or in weeks. Payments may stray by `slack_days` and still be in step: banks close on
    weekends and holidays, and yearly bills are less punctual than monthly ones. `prior` settles what is undecided."""

    name: str
    months: float
    weeks: int
    slack_days: int
    prior: float

    @property
    def days(self) -> float:
        return self.weeks * 7 if self.weeks else self.months * DAYS_OF_MONTH


HALF_MONTH = Period("WEEK_TWO", 0.5, 0, 5, 0.97)
PERIODS = (
    Period("MONTH_ONE", 1, 0, 8, 1.0),
    Period("WEEK_ONE", 0, 1, 3, 0.95),
    Period("WEEK_TWO", 0, 2, 5, 0.98),
    HALF_MONTH,
    Period("WEEK_FOUR", 0, 4, 5, 0.96),
    Period("MONTH_TWO", 2, 0, 9, 0.97),
    Period("MONTH_THREE", 3, 0, 12, 0.99),
    Period("MONTH_SIX", 6, 0, 16, 0.98),
    Period("YEAR_ONE", 12, 0, 25, 0.99),
    Period("YEAR_TWO", 24, 0, 30, 0.95),
)
BY_NAME = {period.name: period for period in PERIODS if period is not HALF_MONTH}
# A step is tried when it is about as long as the usual distance of two payments.
# So many payments in step, with none beside, leave no room for another period.
_BEYOND_DOUBT = 8
# Less exact is less likely: per day by which payments stray.
_SPREAD_PENALTY = 0.008
_SHORTEST, _LONGEST = 0.4, 3.4


@dataclass(frozen=True, slots=True)
class Fit:
    """Payments in step with a period: `steps[i]` is the step that the payment `places[i]` falls into, one each."""

    period: Period
    places: tuple[int, ...]
    steps: tuple[int, ...]
    crowd: tuple[tuple[int, ...], ...]
    coverage: float
    share: float
    spread_days: float

    @property
    def score(self) -> float:
        agreement = 2 * self.coverage * self.share / (self.coverage + self.share)
        return agreement * self.period.prior - _SPREAD_PENALTY * self.spread_days / max(1.0, self.period.months)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Days of payments in order, as day numbers and as months with their parts."""

    days: Sequence[int]
    months: Sequence[float]


def _find_window(positions: list[float], width: float) -> tuple[float, float]:
    """Where in the step a window of that width begins that sees the most steps, and how much of it is used."""
    wrapped = sorted((position - floor(position), floor(position)) for position in positions)
    ring = wrapped + [(part + 1, step - 1) for part, step in wrapped]
    seen: dict[int, int] = {}
    best, best_spread, begin_of_best, end = 0, width, 0.0, 0
    for begin in range(len(wrapped)):
        limit = ring[begin][0] + width
        while end < begin + len(wrapped) and ring[end][0] <= limit:
            step = ring[end][1]
            seen[step] = seen.get(step, 0) + 1
            end += 1
        spread = ring[end - 1][0] - ring[begin][0]
        if len(seen) > best or (len(seen) == best and spread < best_spread - 1e-9):
            best, best_spread, begin_of_best = len(seen), spread, ring[begin][0]
        step = ring[begin][1]
        if seen[step] == 1:
            del seen[step]
        else:
            seen[step] -= 1
    return begin_of_best, best_spread


def fit_period(timeline: Timeline, period: Period) -> Fit | None:
    """The payments that are in step with the period, the densest run of them."""
    if period.weeks:
        length = period.weeks * 7
        positions = [day / length for day in timeline.days]
        width = period.slack_days / length
    else:
        positions = [month / period.months for month in timeline.months]
        width = period.slack_days / DAYS_OF_MONTH / period.months
    begin, spread = _find_window(positions, width)
    crowd: dict[int, list[int]] = {}
    for place, position in enumerate(positions):
        step = floor(position - begin + 1e-9)
        if position - begin - step <= width + 1e-9:
            crowd.setdefault(step, []).append(place)
    if len(crowd) < 2:
        return None
    steps = tuple(sorted(crowd))
    members = tuple(tuple(crowd[step]) for step in steps)
    span = steps[-1] - steps[0] + 1
    return Fit(
        period,
        tuple(group[0] for group in members),
        steps,
        members,
        len(steps) / span,
        len(steps) / len(positions),
        spread * period.days,
    )


def list_fits(timeline: Timeline) -> list[Fit]:
    """How well each period fits, the best first."""
    gaps = sorted(later - earlier for earlier, later in pairwise(timeline.days) if later > earlier)
    if not gaps:
        return []
    usual = gaps[len(gaps) // 2]
    fits = []
    tried = [period for period in PERIODS if _SHORTEST * usual <= period.days <= _LONGEST * usual]
    for period in sorted(tried, key=lambda period: abs(period.days - usual) / period.days):
        fit = fit_period(timeline, period)
        if fit is None:
            continue
        fits.append(fit)
        if fit.coverage == fit.share == 1.0 and len(fit.steps) >= _BEYOND_DOUBT:
            break
    fits.sort(key=lambda fit: -fit.score)
    return fits
