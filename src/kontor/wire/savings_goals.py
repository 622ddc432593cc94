"""Savings goals: what users write about them, and how far they are."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.savings_goals import measure_goals
from kontor.domain.budgets import MAX_PLANNED
from kontor.domain.savings_goals import MAX_PRODUCTS, GoalProgress, GoalStatus
from kontor.domain.savings_goals import SavingsGoal as DomainGoal
from kontor.services.analyses import Facts
from kontor.wire.budgets import Name, Planned, find_amount_problems, find_name_problems, read_name, read_planned
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls

STATUSES = {GoalStatus.OPEN: "OFFEN", GoalStatus.REACHED: "ERREICHT"}


class NewSavingsGoal(msgspec.Struct):
    name: Name
    zielbetrag: Planned
    zieldatum: date | None = None
    produkte: (
        Annotated[list[UUID], Meta(max_length=MAX_PRODUCTS, description="products in euros, by id; none if absent")]
        | None
    ) = None

    def find_problems(self) -> list[tuple[str, str]]:
        """Fields, and what is wrong with them."""
        return [*find_name_problems(self.name), *find_amount_problems("zielbetrag", self.zielbetrag)]

    def read(self, goal_id: UUID) -> DomainGoal:
        products = tuple(self.produkte or ())
        return DomainGoal(goal_id, read_name(self.name), read_planned(self.zielbetrag), self.zieldatum, products)


class ChangedSavingsGoal(NewSavingsGoal):
    angespart: (
        Annotated[
            Decimal,
            Meta(
                description=f"where no product is named; 0 to {MAX_PLANNED}, at most two decimals; unchanged if absent"
            ),
        ]
        | None
    ) = None

    def find_problems(self) -> list[tuple[str, str]]:
        if self.angespart is None or self.produkte:
            return NewSavingsGoal.find_problems(self)
        problems = find_amount_problems("angespart", self.angespart, may_be_zero=True)
        return [*NewSavingsGoal.find_problems(self), *problems]

    def read_saved(self) -> Decimal | None:
        """None where nothing is said, or the balances of products say it."""
        return None if self.angespart is None or self.produkte else read_planned(self.angespart)


class SavingsGoal(msgspec.Struct):
    id: str
    name: str
    zielbetrag: Amount
    angespart: Annotated[Amount, Meta(description="the sum of the products' balances, or what the user has said")]
    fortschritt: Annotated[Decimal, Meta(description="percent, one decimal, rounded down")]
    status: Annotated[str, Meta(title="SavingsGoalStatus", extra_json_schema={"enum": list(STATUSES.values())})]
    relations: list[Relation]
    zieldatum: date | UnsetType = UNSET
    produkte: list[str] | UnsetType = UNSET
    rateNoetig: Annotated[Amount, Meta(description="a month, until `zieldatum`")] | UnsetType = UNSET  # noqa: N815
    voraussichtlichAm: (  # noqa: N815
        Annotated[date, Meta(description="at the pace of the last months; absent where that is not known")] | UnsetType
    ) = UNSET


def show_goals(facts: Facts, urls: Urls, goals: Sequence[DomainGoal]) -> list[SavingsGoal]:
    measured = measure_goals(goals, facts.records, facts.accounts, facts.joined, facts.today)
    return [_show(goal, found, urls) for goal, found in zip(goals, measured, strict=True)]


def show_goal(facts: Facts, urls: Urls, goal: DomainGoal) -> SavingsGoal:
    [shown] = show_goals(facts, urls, [goal])
    return shown


def _show(goal: DomainGoal, found: GoalProgress, urls: Urls) -> SavingsGoal:
    return SavingsGoal(
        id=str(goal.id),
        name=goal.name,
        zielbetrag=goal.target,
        angespart=found.saved,
        fortschritt=found.progress,
        status=STATUSES[found.status],
        relations=[Relation("self", urls.savings_goal(goal.id))],
        zieldatum=goal.target_date or UNSET,
        produkte=[str(product) for product in goal.products] or UNSET,
        rateNoetig=UNSET if found.rate is None else found.rate,
        voraussichtlichAm=found.expected_on or UNSET,
    )
