"""Budgets: what users write about them, and how they stand in a month."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.analysis.category_budgets import measure_budgets
from kontor.analysis.trees import FIRST_YEAR, LAST_YEAR
from kontor.domain.budgets import MAX_PLANNED, BudgetMonth, BudgetStatus
from kontor.domain.budgets import Budget as DomainBudget
from kontor.domain.cleaning import clean_amount, clean_text
from kontor.services.analyses import Facts
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls

MONTHS = f"expected a month as yyyy-mm, from {FIRST_YEAR}-01 to {LAST_YEAR}-12"
STATUSES = {
    BudgetStatus.WITHIN: "IM_RAHMEN",
    BudgetStatus.TIGHT: "KNAPP",
    BudgetStatus.EXCEEDED: "UEBERSCHRITTEN",
}
_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
_MAX_CATEGORIES = 500

Month = Annotated[
    str, Meta(title="Month", examples=["2026-11"], extra_json_schema={"pattern": "^20[0-4][0-9]-(0[1-9]|1[0-2])$"})
]
Name = Annotated[str, Meta(min_length=1, max_length=100)]
Planned = Annotated[Decimal, Meta(description=f"more than 0, at most {MAX_PLANNED}, at most two decimals")]


class NewBudget(msgspec.Struct):
    name: Name
    kategorien: Annotated[
        list[Annotated[str, Meta(max_length=64)]],
        Meta(
            min_length=1,
            max_length=_MAX_CATEGORIES,
            description="system names of main categories, subcategories or own categories (trees 1 and 20)",
        ),
    ]
    betrag: Annotated[Planned, Meta(description=f"a month; more than 0, at most {MAX_PLANNED}, at most two decimals")]
    beginn: Annotated[Month, Meta(description="the first month, as yyyy-mm")]
    uebertrag: Annotated[bool, Meta(description="what is left, or overspent, goes to the next month")]

    def find_problems(self) -> list[tuple[str, str]]:
        """Fields, and what is wrong with them."""
        return [
            *find_name_problems(self.name),
            *find_amount_problems("betrag", self.betrag),
            *([] if read_month(self.beginn) else [("beginn", MONTHS)]),
        ]

    def read(self, budget_id: UUID) -> DomainBudget:
        begin = read_month(self.beginn)
        assert begin is not None, "problems have been told"
        categories = tuple(self.kategorien)
        return DomainBudget(
            budget_id, read_name(self.name), categories, read_planned(self.betrag), begin, self.uebertrag
        )


class Budget(msgspec.Struct):
    """A budget in one month. Spending is positive; refunds are deducted."""

    id: str
    name: str
    kategorien: list[str]
    betrag: Amount
    beginn: Month
    uebertrag: bool
    ausgegeben: Amount
    verbleibend: Annotated[Amount, Meta(description="negative when too much is spent")]
    prognose: Annotated[Amount, Meta(description="what will be spent in the whole month")]
    lower: Amount
    upper: Amount
    status: Annotated[str, Meta(title="BudgetStatus", extra_json_schema={"enum": list(STATUSES.values())})]
    relations: list[Relation]


def show_budgets(facts: Facts, urls: Urls, budgets: Sequence[DomainBudget], month: date) -> list[Budget]:
    measured = measure_budgets(budgets, month, facts.records, facts.contracts, facts.accounts, facts.today)
    return [_show(budget, found, urls) for budget, found in zip(budgets, measured, strict=True)]


def show_budget(facts: Facts, urls: Urls, budget: DomainBudget, month: date) -> Budget:
    [shown] = show_budgets(facts, urls, [budget], month)
    return shown


def _show(budget: DomainBudget, found: BudgetMonth, urls: Urls) -> Budget:
    return Budget(
        id=str(budget.id),
        name=budget.name,
        kategorien=list(budget.categories),
        betrag=budget.amount,
        beginn=f"{budget.starts_on:%Y-%m}",
        uebertrag=budget.carries_over,
        ausgegeben=found.spent,
        verbleibend=found.remaining,
        prognose=found.forecast,
        lower=found.lower,
        upper=found.upper,
        status=STATUSES[found.status],
        relations=[Relation("self", urls.budget(budget.id))],
    )


# Also for savings goals


def read_month(text: str) -> date | None:
    """The first day of a month that the cashflow knows."""
    match = _MONTH.fullmatch(text)
    if match is None or not FIRST_YEAR <= int(match[1]) <= LAST_YEAR:
        return None
    return date(int(match[1]), int(match[2]), 1)


def read_name(text: str) -> str:
    return " ".join(clean_text(text).split())


def find_name_problems(text: str) -> Iterator[tuple[str, str]]:
    if not read_name(text):
        yield "name", "expected a name"


def read_planned(amount: Decimal) -> Decimal:
    cleaned = clean_amount(amount)
    assert cleaned is not None, "problems have been told"
    return cleaned


def find_amount_problems(field: str, amount: Decimal, *, may_be_zero: bool = False) -> Iterator[tuple[str, str]]:
    cleaned = clean_amount(amount)
    if cleaned is None or cleaned != amount or cleaned > MAX_PLANNED or cleaned < 0 or not (cleaned or may_be_zero):
        least = "0 or more" if may_be_zero else "more than 0"
        yield field, f"expected {least}, at most {MAX_PLANNED}, with at most two decimals"
