"""How predictions are scored, and how bounds are found from few months."""

from random import Random

import pytest

from kontor.analysis.cashflow.intervals import find_bounds, find_middle
from kontor.analysis.scoring.forecast_scores import (
    Forecast,
    ForecastScores,
    forecast_last,
    forecast_mean,
    score_forecast,
)


def test_an_outcome_within_the_bounds_costs_their_width():
    scores = score_forecast(Forecast(-100, -120, -90), -95)
    assert scores == ForecastScores(1, 5, 30, True, True, True)


def test_an_outcome_beyond_the_bounds_costs_ten_times_the_distance_on_top():
    scores = score_forecast(Forecast(-100, -120, -90), -130)
    assert scores == ForecastScores(1, 30, 130, False, True, False)


def test_bounds_without_width_are_not_counted_as_stated():
    scores = score_forecast(Forecast(5, 5, 5), 5) + score_forecast(Forecast(0, 0, 10), 20)
    assert (scores.coverage, scores.stated_coverage, scores.mean_error) == (0.5, 0.0, 10.0)


def test_naive_forecasts_say_the_last_month_and_the_mean():
    months = [30.0, 10.0, 20.0]
    assert (forecast_last(months).amount, forecast_mean(months).amount) == (30, 20)
    assert forecast_mean([7.0, 7.0]) == Forecast(7, 7, 7)


def test_scores_of_nothing_are_zero():
    nothing = ForecastScores()
    assert (nothing.mean_error, nothing.mean_interval_score, nothing.coverage, nothing.stated_coverage) == (0, 0, 0, 0)


@pytest.mark.parametrize("months", [3, 4, 6, 9, 12])
def test_bounds_hold_about_80_percent_of_one_more_month_however_few_months_are_known(months: int):
    random = Random(months)
    hits = 0
    for _ in range(4000):
        lower, upper = find_bounds([round(random.gauss(50_000, 9_000)) for _ in range(months)], is_total=False)
        hits += lower <= random.gauss(50_000, 9_000) <= upper
    assert 0.75 <= hits / 4000 <= 0.85


def test_one_unusual_month_moves_neither_the_middle_nor_the_bounds_of_rare_things():
    months = [0] * 11 + [-90_000]
    assert find_middle(months) == 0
    assert find_bounds(months, is_total=False) == (0, 0)


def test_no_month_at_all_gives_nothing():
    assert (find_middle([]), find_bounds([], is_total=True)) == (0, (0, 0))
