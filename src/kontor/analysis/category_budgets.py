"""What has become of budgets in a month: what was spent, what is left, and what the cashflow analysis expects.

All figures are those of the cashflow analysis for the same categories, with the opposite sign: spending is positive.
"""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import cache

from kontor.analysis.calendars import number_month
from kontor.analysis.cashflow import Cashflow, find_grouped_cashflow, name_month
from kontor.analysis.contracts import Contract
from kontor.analysis.records import Account, Record
from kontor.domain.budgets import Budget, BudgetMonth, assign_categories, find_available

_NOTHING = Decimal("0.00")


def measure_budgets(
    budgets: Sequence[Budget],
    month: date,
    records: Sequence[Record],
    contracts: Sequence[Contract],
    accounts: Sequence[Account],
    today: date,
) -> list[BudgetMonth]:
    """Of each budget, in a month that the tree of cashflows has; the latest is the one after today's."""
    found = find_grouped_cashflow(records, contracts, accounts, today, _group_categories(budgets))
    nothing = Cashflow("")
    return [_measure(budget, month, found.get(str(number), nothing)) for number, budget in enumerate(budgets)]


def _group_categories(budgets: Sequence[Budget]) -> Callable[[str, str], list[str]]:
    numbers = assign_categories(budgets)

    @cache
    def find_groups(category: str, own_category: str) -> list[str]:
        found = (numbers.get(name) for name in (category, category.partition("_")[0], own_category))
        return [str(number) for number in dict.fromkeys(found) if number is not None]

    return find_groups


def _measure(budget: Budget, month: date, cashflow: Cashflow) -> BudgetMonth:
    sums = {statistic.item: -statistic.amount for statistic in cashflow.statistics}

    def find_spent(number: int) -> Decimal:
        return sums.get(name_month(number) or "", _NOTHING)

    number = number_month(month)
    spent = find_spent(number)
    before = [find_spent(earlier) for earlier in range(number_month(budget.starts_on), number)]
    available = find_available(budget, before)
    for prediction in cashflow.predictions:
        if prediction.item == name_month(number):
            return BudgetMonth(available, spent, -prediction.amount, -prediction.upper, -prediction.lower)
    return BudgetMonth(available, spent, spent, spent, spent)
