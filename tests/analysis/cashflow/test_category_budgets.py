"""Budgets have the figures of the cashflow: for all categories of the demo bank's people, and for any bookings."""

from datetime import date
from decimal import Decimal
from random import Random
from uuid import UUID

import pytest
from cashflow_cases import read_person
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from kontor.analysis.calendars import find_day, number_month
from kontor.analysis.cashflow import Level, Options, TaggedBy, find_cashflow, find_own_cashflow
from kontor.analysis.category_budgets import measure_budgets
from kontor.analysis.contracts import find_contracts
from kontor.analysis.records import Account, Record
from kontor.connectors.demo.people.person import PERSONAS
from kontor.domain.budgets import Budget
from many_examples import few_cases, many_examples

TODAY = date(2026, 11, 15)
NOTHING = Decimal("0.00")
OWN = "X_0123456789AB"


def make_budget(*categories, begin=TODAY, carries_over=False):
    return Budget(UUID(int=0), "b", categories, Decimal(100), begin.replace(day=1), carries_over)


def compare(flows, records, contracts, accounts):
    """A budget for each category against its cashflow, in three months. Returns how many sums were not zero."""
    flows = [flow for flow in flows if not flow.is_aggregate]
    budgets = [make_budget(flow.item) for flow in flows]
    this_month, compared = number_month(TODAY), 0
    for ahead in (-2, 0, 1):
        month = find_day(this_month + ahead, 1)
        measured = measure_budgets(budgets, month, records, contracts, accounts, TODAY)
        span = f"{month:%Y_M%m}"
        for flow, found in zip(flows, measured, strict=True):
            spent = -next((statistic.amount for statistic in flow.statistics if statistic.item == span), NOTHING)
            assert found.spent == spent
            prediction = next((prediction for prediction in flow.predictions if prediction.item == span), None)
            expected = (spent, spent, spent)
            if prediction is not None:
                expected = (-prediction.amount, -prediction.upper, -prediction.lower)
            assert (found.forecast, found.lower, found.upper) == expected
            assert found.lower <= found.forecast <= found.upper
            compared += bool(spent)
    return compared


@pytest.mark.parametrize("login", few_cases(PERSONAS, 2))
def test_a_budget_of_each_category_is_the_cashflow_of_that_category(login):
    records, accounts = read_person(login, TODAY)
    records = split_some(records)
    contracts = find_contracts(records, accounts, TODAY)
    compared = 0
    for level in Level:
        flows = find_cashflow(records, contracts, accounts, TODAY, Options(level=level))
        compared += compare(flows, records, contracts, accounts)
    own = find_own_cashflow(records, contracts, accounts, TODAY, Options(tagged_by=TaggedBy.CUSTOM_CATEGORIES), [OWN])
    compared += compare(own, records, contracts, accounts)
    assert compared > 50


def split_some(records):
    """Some bookings have an own category, some are split into parts of two categories."""
    chance = Random(7)
    changed = []
    for record in records:
        choice = chance.random()
        if choice < 0.05:
            record = structs.replace(record, own_category=OWN)
        elif choice < 0.1 and abs(record.amount) > 1:
            half = (record.amount / 2).quantize(Decimal("0.01"))
            record = structs.replace(
                record,
                part_amounts=(half, record.amount - half),
                part_categories=(record.category, "RECREATION_HOBBY" if record.amount < 0 else "OTHER_INCOME"),
                part_own_categories=("", OWN),
            )
        changed.append(record)
    return changed


categories = st.sampled_from(
    ["LIVING_GROCERIES", "LIVING_DRUGSTORE", "TAXES", "HEALTH_OTHERS", "TRANSFER_OWN", "INCOME_SALARY"]
)
bookings = st.lists(
    st.builds(
        Record,
        id=st.uuids().map(str),
        account=st.just("giro"),
        day=st.dates(date(2026, 5, 1), date(2026, 12, 31)),
        amount=st.integers(-500_000, 500_000).map(lambda cents: Decimal(cents).scaleb(-2)),
        category=categories,
        currency=st.sampled_from(["EUR", "EUR", "EUR", "USD"]),
        own_category=st.sampled_from(["", "", OWN]),
        is_pending=st.sampled_from([False, False, True]),
    ),
    max_size=40,
)


@many_examples(60)
@given(bookings, st.booleans())
def test_carried_over_is_what_each_month_since_the_beginning_has_left(records, carries_over):
    """The categories of the budget overlap: a booking counts once."""
    begin = date(2026, 7, 1)
    budget = make_budget("LIVING", "LIVING_GROCERIES", OWN, begin=begin, carries_over=carries_over)
    carried = NOTHING
    for month in (date(2026, 6, 1), *(date(2026, number, 1) for number in range(7, 12))):
        [found] = measure_budgets([budget], month, records, [], [Account("giro")], TODAY)
        counted = [
            record.amount
            for record in records
            if (record.day.year, record.day.month) == (month.year, month.month)
            and (record.category.startswith("LIVING_") or record.own_category == OWN)
            and record.category != "TRANSFER_OWN"
            and record.currency == "EUR"
            and not record.is_pending
            and record.day <= TODAY
        ]
        assert found.spent == -sum(counted, NOTHING)
        assert found.remaining == 100 + carried - found.spent
        if carries_over and month >= begin:
            carried = found.remaining


@many_examples(30)
@given(bookings)
def test_the_figures_of_a_budget_do_not_depend_on_the_others(records):
    budgets = [make_budget("LIVING"), make_budget("TAXES", OWN), make_budget("HEALTH"), make_budget()]
    contracts = find_contracts(records, [], TODAY)
    for month in (date(2026, 10, 1), TODAY.replace(day=1), date(2026, 12, 1)):
        together = measure_budgets(budgets, month, records, contracts, [], TODAY)
        assert together == [
            found for budget in budgets for found in measure_budgets([budget], month, records, contracts, [], TODAY)
        ]
