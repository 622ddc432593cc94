"""Budgets: how much a user wants to spend a month on some categories."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from uuid import UUID

MAX_BUDGETS = 100
MAX_PLANNED = Decimal("999999999999.99")  # of a budget or a savings goal
_TIGHT_FROM = Decimal("0.9")


class BudgetStatus(Enum):
    WITHIN = "WITHIN"
    TIGHT = "TIGHT"
    EXCEEDED = "EXCEEDED"


@dataclass(frozen=True, slots=True)
class Budget:
    """`categories` are main categories, subcategories and own categories; `starts_on` is the first of a month."""

    id: UUID
    name: str
    categories: tuple[str, ...]
    amount: Decimal
    starts_on: date
    carries_over: bool


@dataclass(frozen=True, slots=True)
class BudgetMonth:
    """What has become of a budget in one month. `lower` and `upper` are the bounds of `forecast`."""

    available: Decimal
    spent: Decimal
    forecast: Decimal
    lower: Decimal
    upper: Decimal

    @property
    def remaining(self) -> Decimal:
        return self.available - self.spent

    @property
    def status(self) -> BudgetStatus:
        if self.spent > self.available:
            return BudgetStatus.EXCEEDED
        return BudgetStatus.TIGHT if self.forecast >= self.available * _TIGHT_FROM else BudgetStatus.WITHIN


def find_available(budget: Budget, spent_before: Iterable[Decimal]) -> Decimal:
    """What can be spent in a month. `spent_before` is what was spent in each month since the budget began: what was
    left over is added, and what was spent beyond is missing."""
    if not budget.carries_over:
        return budget.amount
    return budget.amount + sum((budget.amount - spent for spent in spent_before), Decimal(0))


def contains_category(outer: str, inner: str) -> bool:
    """A main category contains its subcategories; every category contains itself."""
    return outer in (inner, inner.partition("_")[0])


def find_overlap(category: str, budgets: Iterable[Budget]) -> tuple[Budget, str] | None:
    """The budget that has the category already, as it is, within its main category, or parts of it."""
    for budget in budgets:
        for other in budget.categories:
            if contains_category(other, category) or contains_category(category, other):
                return budget, other
    return None


def assign_categories(budgets: Sequence[Budget]) -> dict[str, int]:
    """The number of the budget that each category is in."""
    return {category: number for number, budget in enumerate(budgets) for category in budget.categories}
