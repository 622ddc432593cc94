"""How good predictions of months are, against what came and against two forecasts that anybody could make.

Sums, so that scores of many people and days add up. Intervals are meant to hold 80 % of outcomes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from itertools import pairwise
from math import sqrt

from msgspec import structs

from kontor.analysis.calendars import number_month
from kontor.analysis.cashflow import Cashflow, Level, Options, TaggedBy, find_cashflow
from kontor.analysis.cashflow.spans import name_month
from kontor.analysis.contracts import find_contracts
from kontor.analysis.records import Account, Record

CYCLES = 12
# What lies outside of an interval of 80 % costs its distance times two over 20 %.
_MISS = 10.0
# Half the width of an interval of 80 %, in standard deviations.
_NORMAL = 1.2816
_CENT = 0.005
AGGREGATES, SUB, MAIN, PARTNERS = "aggregates", "sub", "main", "partners"
KINDS = {
    SUB: Options(),
    MAIN: Options(level=Level.MAIN),
    PARTNERS: Options(tagged_by=TaggedBy.BUSINESS_PARTNERS),
}


@dataclass(frozen=True, slots=True)
class Forecast:
    amount: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """`stated` are the forecasts that give an interval of some width, `stated_hits` those of them that held."""

    count: int = 0
    error: float = 0.0
    interval_score: float = 0.0
    hits: int = 0
    stated: int = 0
    stated_hits: int = 0

    def __add__(self, other: "ForecastScores") -> "ForecastScores":
        return ForecastScores(
            *(getattr(self, attribute.name) + getattr(other, attribute.name) for attribute in fields(self))
        )

    @property
    def mean_error(self) -> float:
        return self.error / self.count if self.count else 0.0

    @property
    def mean_interval_score(self) -> float:
        return self.interval_score / self.count if self.count else 0.0

    @property
    def coverage(self) -> float:
        return self.hits / self.count if self.count else 0.0

    @property
    def stated_coverage(self) -> float:
        """Where a month is certain (a fixed rent), an interval holds more than 80 % whatever it is; so these count."""
        return self.stated_hits / self.stated if self.stated else 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The predictions, last month said again, and the mean of twelve months."""

    ours: ForecastScores = field(default_factory=ForecastScores)
    last: ForecastScores = field(default_factory=ForecastScores)
    mean: ForecastScores = field(default_factory=ForecastScores)

    def __add__(self, other: "Comparison") -> "Comparison":
        return Comparison(self.ours + other.ours, self.last + other.last, self.mean + other.mean)


def score_forecast(forecast: Forecast, outcome: float) -> ForecastScores:
    missed = max(0.0, forecast.lower - outcome, outcome - forecast.upper)
    is_hit = missed < _CENT
    is_stated = forecast.upper - forecast.lower > _CENT
    score = forecast.upper - forecast.lower + (0.0 if is_hit else _MISS * missed)
    return ForecastScores(1, abs(outcome - forecast.amount), score, is_hit, is_stated, is_stated and is_hit)


def forecast_last(months: Sequence[float]) -> Forecast:
    """The latest month again, as sure as months have followed each other. `months` has the latest first."""
    steps = [later - earlier for later, earlier in pairwise(months)]
    spread = _NORMAL * sqrt(sum(step * step for step in steps) / max(1, len(steps)))
    return Forecast(months[0], months[0] - spread, months[0] + spread)


def forecast_mean(months: Sequence[float]) -> Forecast:
    mean = sum(months) / len(months)
    spread = _NORMAL * sqrt(sum((month - mean) ** 2 for month in months) / len(months))
    return Forecast(mean, mean - spread, mean + spread)


def _read_months(flows: Sequence[Cashflow]) -> dict[tuple[str, bool], dict[str, float]]:
    return {
        (flow.item, flow.is_aggregate): {statistic.item: float(statistic.amount) for statistic in flow.statistics}
        for flow in flows
    }


def compare_day(
    flows: Sequence[Cashflow], truth: Mapping[tuple[str, bool], Mapping[str, float]], today: date
) -> dict[bool, Comparison]:
    """Scores of what was predicted on that day, for tags (False) and for aggregates (True).

    A tag of the last twelve months without a prediction counts as one that said nothing would come.
    """
    current = number_month(today)
    scores = {False: Comparison(), True: Comparison()}
    for flow in flows:
        came = truth.get((flow.item, flow.is_aggregate), {})
        past = [came.get(name_month(month) or "", 0.0) for month in range(current - 1, current - 1 - CYCLES, -1)]
        predicted = {prediction.item: prediction for prediction in flow.predictions}
        for month in (current, current + 1):
            name = name_month(month) or ""
            prediction = predicted.get(name)
            if prediction is None and not any(past):
                continue
            ours = Forecast(0, 0, 0)
            if prediction is not None:
                ours = Forecast(float(prediction.amount), float(prediction.lower), float(prediction.upper))
            outcome = came.get(name, 0.0)
            scores[flow.is_aggregate] += Comparison(
                score_forecast(ours, outcome),
                score_forecast(forecast_last(past), outcome),
                score_forecast(forecast_mean(past), outcome),
            )
    return scores


def backtest(
    records: Sequence[Record], accounts: Sequence[Account], days: Sequence[date], kinds: Sequence[str] = tuple(KINDS)
) -> dict[str, Comparison]:
    """What would have been predicted on these days, against what came. `records` must reach two months further."""
    latest = max((record.day for record in records), default=date.min)
    truth = {kind: _read_months(find_cashflow(records, [], accounts, latest, KINDS[kind])) for kind in kinds}
    scores = {kind: Comparison() for kind in (AGGREGATES, *kinds)}
    for today in days:
        seen = [record for record in records if record.day <= today and not record.is_pending]
        known = [structs.replace(account, data_until=today) for account in accounts]
        contracts = find_contracts(seen, known, today)
        for kind in kinds:
            comparisons = compare_day(find_cashflow(seen, contracts, known, today, KINDS[kind]), truth[kind], today)
            scores[kind] += comparisons[False]
            if kind == SUB:
                scores[AGGREGATES] += comparisons[True]
    return scores
