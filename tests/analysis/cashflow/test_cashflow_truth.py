"""Sums of the demo bank's people are exactly what the bank booked, and predictions are better than naive ones."""

from collections import defaultdict
from datetime import date
from decimal import Decimal
from functools import reduce

import pytest
from cashflow_cases import read_person

from kontor.analysis.cashflow import find_cashflow
from kontor.analysis.scoring.forecast_scores import AGGREGATES, MAIN, SUB, Comparison, backtest
from kontor.connectors.demo.people import PERSONAS, person_for
from kontor.domain.clocks import BERLIN

TODAY = date(2026, 11, 15)
# Customers of these kinds that nothing was tuned on, on days in the beginning, middle and end of months.
DAYS = (date(2025, 3, 3), date(2025, 7, 25), date(2026, 2, 17), date(2026, 9, 20))


@pytest.mark.parametrize("login", PERSONAS)
def test_monthly_totals_are_exactly_those_of_the_truth(login: str):
    person = person_for(login, TODAY)
    assert person is not None
    expected: dict[tuple[str, bool, str], Decimal] = defaultdict(Decimal)
    ibans = {account.product.iban for account in person.accounts} - {None}
    for account in person.accounts:
        for entry in account.entries:
            booking, category = entry.transaction, entry.truth.category
            if booking.is_pending or booking.currency != "EUR" or category == "TRANSFER_OWN":
                continue
            is_own = booking.counterparty_iban in ibans or booking.counterparty_name == person.name
            if (
                category == "BANKFINANCE_TRANSFER"
                and "kreditkartenabr" in "".join((booking.purpose or "").split()).lower()
            ):
                continue  # everybody's cards are connected
            is_saved = category == "SAVINGS_ACCOUNT" or (is_own and category.startswith("SAVINGS_"))
            assert booking.booked_at is not None
            month = booking.booked_at.astimezone(BERLIN).strftime("%Y_M%m")
            side = "INCOME" if booking.amount > 0 else "EXPENSES"
            expected[category, False, month] += booking.amount
            for name in ("NET", side):
                expected[name, True, month] += Decimal(0) if is_saved else booking.amount
    records, accounts = read_person(login, TODAY)
    found = {
        (flow.item, flow.is_aggregate, statistic.item): statistic.amount
        for flow in find_cashflow(records, [], accounts, TODAY)
        for statistic in flow.statistics
        if "_M" in statistic.item
    }
    assert {key: amount for key, amount in found.items() if amount} == {
        key: amount for key, amount in expected.items() if amount
    }


def test_predictions_beat_naive_ones_and_their_bounds_hold_80_percent():
    # demo1 has two years of data: on most of these days there are no twelve months before.
    people = [read_person(f"{login}+probe", TODAY) for login in PERSONAS if login != "demo1"]
    scored = [backtest(records, accounts, DAYS, (SUB, MAIN)) for records, accounts in people]
    scores = {kind: reduce(Comparison.__add__, (comparisons[kind] for comparisons in scored)) for kind in scored[0]}
    for kind, found in scores.items():
        assert found.ours.mean_error < 0.9 * min(found.last.mean_error, found.mean.mean_error), kind
        best_naive = min(found.last.mean_interval_score, found.mean.mean_interval_score)
        assert found.ours.mean_interval_score < 0.9 * best_naive, kind
        assert 0.75 <= found.ours.stated_coverage <= 0.85, (kind, found.ours)
    assert 0.75 <= scores[AGGREGATES].ours.coverage <= 0.85
    assert 0.75 <= scores[MAIN].ours.coverage <= 0.85
