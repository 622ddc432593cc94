"""What holds for budgets and savings goals whatever is planned, spent and saved."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.budgets import (
    MAX_PLANNED,
    Budget,
    BudgetMonth,
    BudgetStatus,
    contains_category,
    find_available,
    find_overlap,
)
from kontor.domain.savings_goals import GoalStatus, SavingsGoal, add_months, count_months, measure_progress
from many_examples import many_examples

CENT = Decimal("0.01")
NOBODY = UUID(int=0)
planned = st.decimals(CENT, MAX_PLANNED, places=2)
booked = st.decimals(-MAX_PLANNED, MAX_PLANNED, places=2)
names = st.sampled_from(
    ["LIVING", "LIVING_GROCERIES", "LIVING_DRUGSTORE", "TAXES", "HEALTH", "HEALTH_OTHERS", "X_0123456789AB"]
)
days = st.dates(date(2000, 1, 1), date(2049, 12, 31))


def make_budget(amount=Decimal(1), *categories, carries_over=True):
    return Budget(NOBODY, "b", categories, amount, date(2026, 1, 1), carries_over)


@given(planned, st.lists(booked, max_size=40))
def test_what_is_available_and_what_was_spent_add_up_to_all_that_was_planned(amount, spent):
    assert find_available(make_budget(amount), spent) + sum(spent) == (len(spent) + 1) * amount
    assert find_available(make_budget(amount, carries_over=False), spent) == amount


@given(planned, st.lists(booked, min_size=1, max_size=40))
def test_a_month_begins_with_what_the_month_before_has_left(amount, spent):
    budget = make_budget(amount)
    *before, last = spent
    month = BudgetMonth(find_available(budget, before), last, last, last, last)
    assert find_available(budget, spent) == amount + month.remaining


@given(booked, booked, booked)
def test_exceeded_means_that_less_than_nothing_is_left(available, spent, forecast):
    month = BudgetMonth(available, spent, forecast, forecast, forecast)
    assert (month.status is BudgetStatus.EXCEEDED) == (month.remaining < 0)
    if month.status is not BudgetStatus.EXCEEDED:
        assert (month.status is BudgetStatus.TIGHT) == (10 * forecast >= 9 * available)


@given(st.lists(st.lists(names, min_size=1, max_size=3), max_size=8))
def test_budgets_that_do_not_overlap_never_share_a_category(wanted):
    """Whatever comes first is stored; a booking of any category is then in one budget of its tree at most."""
    stored: list[Budget] = []
    for categories in wanted:
        overlaps = [find_overlap(category, stored) for category in categories]
        if not any(overlaps):
            stored.append(make_budget(Decimal(1), *categories))
        for category, overlap in zip(categories, overlaps, strict=True):
            if overlap is not None:
                budget, other = overlap
                assert other in budget.categories
                assert contains_category(other, category) or contains_category(category, other)
    for category in ("LIVING_GROCERIES", "LIVING_OTHER", "TAXES", "HEALTH_OTHERS", "X_0123456789AB"):
        holders = [
            budget for budget in stored if any(contains_category(outer, category) for outer in budget.categories)
        ]
        assert len(holders) <= 1


@many_examples(200)
@given(planned, booked, st.none() | days, st.none() | booked, days)
def test_rates_and_days_of_a_goal_reach_it_and_not_much_earlier(target, saved, target_date, monthly, today):
    goal = SavingsGoal(NOBODY, "g", target, target_date)
    found = measure_progress(goal, saved, monthly, today)
    missing = target - saved
    assert found.saved == saved
    assert (found.status is GoalStatus.REACHED) == (missing <= 0) == (found.progress >= 100)
    if found.status is GoalStatus.REACHED:
        assert (found.rate, found.expected_on) == (None, None)
        return
    assert (found.rate is None) == (target_date is None or target_date < today)
    if found.rate is not None:
        months = max(1, count_months(today, target_date))
        assert missing <= found.rate * months < missing + CENT * months
    if found.expected_on is not None:
        assert found.expected_on > today
        months = 12 * (found.expected_on.year - today.year) + found.expected_on.month - today.month
        assert monthly * (months - 1) < missing <= monthly * months
    else:
        assert monthly is None or monthly <= 0 or missing > 1200 * monthly


@given(days, st.integers(0, 1200))
def test_so_many_months_later_is_so_many_whole_months_away(day, months):
    later = add_months(day, months)
    assert later is not None
    assert later.day == day.day or (later + timedelta(days=1)).day == 1
    assert count_months(day, later) == (months if later.day == day.day else months - 1)
    assert add_months(date(9999, 12, 5), 1) is None
