"""Budgets of users. A category is in one budget at most."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from kontor.analysis.trees import CATEGORIES, TREES
from kontor.domain.budgets import MAX_BUDGETS, Budget, find_overlap
from kontor.domain.errors import InvalidError
from kontor.domain.own_categories import OwnCategories, is_own_name
from kontor.domain.principals import Principal, user_of
from kontor.services.analyses import read_categories
from kontor.services.planning.plans import find_plan, record_change
from kontor.services.runtime import Clock
from kontor.storage import alert_states, budgets
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database

# Sums of others are no categories.
_AGGREGATES = ("NET", "EXPENSES")
_KNOWN = frozenset(TREES[CATEGORIES].items).difference(_AGGREGATES)


class Budgets:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list_budgets(self, principal: Principal) -> list[Budget]:
        """The oldest first. Own categories that are gone are in no budget any more."""
        user_id = user_of(principal)
        async with self._database.connect(principal.user_id) as connection:
            found = await budgets.list_budgets(connection, user_id)
            if not any(is_own_name(category) for budget in found for category in budget.categories):
                return found
            return _drop_deleted(found, await read_categories(connection, user_id))

    async def read_budget(self, principal: Principal, budget_id: UUID) -> Budget:
        return find_plan(await self.list_budgets(principal), budget_id)

    async def add_budget(self, principal: Principal, budget: Budget) -> None:
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            known = await budgets.list_budgets(connection, user_id)
            if len(known) >= MAX_BUDGETS:
                raise InvalidError(f"a user can have at most {MAX_BUDGETS} budgets")
            await _check_categories(connection, user_id, budget, known)
            await budgets.insert_budget(connection, user_id, budget)
            await alert_states.mark_due(connection, user_id, await self._clock.read(connection))
            await record_change(connection, principal, "budget", "add", budget.id)

    async def change_budget(self, principal: Principal, budget: Budget) -> None:
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            known = await budgets.list_budgets(connection, user_id)
            find_plan(known, budget.id)
            others = [other for other in known if other.id != budget.id]
            await _check_categories(connection, user_id, budget, others)
            await budgets.update_budget(connection, user_id, budget)
            await alert_states.mark_due(connection, user_id, await self._clock.read(connection))
            await record_change(connection, principal, "budget", "change", budget.id)

    async def delete_budget(self, principal: Principal, budget_id: UUID) -> None:
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            find_plan(await budgets.list_budgets(connection, user_id), budget_id)
            await budgets.delete_budget(connection, user_id, budget_id)
            await alert_states.mark_due(connection, user_id, await self._clock.read(connection))
            await record_change(connection, principal, "budget", "delete", budget_id)


async def _check_categories(connection: Connection, user_id: UUID, budget: Budget, others: Sequence[Budget]) -> None:
    """All that are wrong are named."""
    own = await read_categories(connection, user_id)
    problems = []
    for place, category in enumerate(budget.categories):
        if category not in _KNOWN and category not in own:
            problems.append(f"kategorien[{place}]: is no system name of a category")
            continue
        if category in budget.categories[:place]:
            problems.append(f"kategorien[{place}]: {category} is named twice")
            continue
        overlap = find_overlap(category, others)
        if overlap is not None:
            problems.append(f"kategorien[{place}]: {_describe(category, *overlap)}")
    if problems:
        raise InvalidError("; ".join(problems))


def _describe(category: str, budget: Budget, other: str) -> str:
    if category == other:
        return f"{category} is in the budget {budget.id} already"
    return f"{category} overlaps with {other}, which is in the budget {budget.id}"


def _drop_deleted(found: Sequence[Budget], own: OwnCategories) -> list[Budget]:
    return [
        replace(budget, categories=tuple(name for name in budget.categories if not is_own_name(name) or name in own))
        for budget in found
    ]
