"""Savings goals of users, on products of theirs or on none."""

from dataclasses import replace
from uuid import UUID

from kontor.domain.errors import InvalidError
from kontor.domain.principals import Principal, user_of
from kontor.domain.savings_goals import MAX_GOALS, SavingsGoal
from kontor.services.planning.plans import find_plan, record_change
from kontor.storage import products, savings_goals
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database

_EURO = "EUR"


class SavingsGoals:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_goals(self, principal: Principal) -> list[SavingsGoal]:
        """The oldest first. Products that are gone are in no goal any more."""
        user_id = user_of(principal)
        async with self._database.connect(principal.user_id) as connection:
            found = await savings_goals.list_goals(connection, user_id)
            if not any(goal.products for goal in found):
                return found
            held = {product.id for product in await products.list_products(connection, user_id)}
        return [replace(goal, products=tuple(name for name in goal.products if name in held)) for goal in found]

    async def read_goal(self, principal: Principal, goal_id: UUID) -> SavingsGoal:
        return find_plan(await self.list_goals(principal), goal_id)

    async def add_goal(self, principal: Principal, goal: SavingsGoal) -> None:
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            if len(await savings_goals.list_goals(connection, user_id)) >= MAX_GOALS:
                raise InvalidError(f"a user can have at most {MAX_GOALS} savings goals")
            await _check_products(connection, user_id, goal)
            await savings_goals.insert_goal(connection, user_id, goal)
            await record_change(connection, principal, "goal", "add", goal.id)

    async def change_goal(self, principal: Principal, goal: SavingsGoal, *, keeps_saved: bool) -> None:
        """`keeps_saved`: what the user has said to have saved stays as it is."""
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            before = find_plan(await savings_goals.list_goals(connection, user_id), goal.id)
            await _check_products(connection, user_id, goal)
            changed = replace(goal, saved=before.saved) if keeps_saved else goal
            await savings_goals.update_goal(connection, user_id, changed)
            await record_change(connection, principal, "goal", "change", goal.id)

    async def delete_goal(self, principal: Principal, goal_id: UUID) -> None:
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)
            find_plan(await savings_goals.list_goals(connection, user_id), goal_id)
            await savings_goals.delete_goal(connection, user_id, goal_id)
            await record_change(connection, principal, "goal", "delete", goal_id)


async def _check_products(connection: Connection, user_id: UUID, goal: SavingsGoal) -> None:
    """All that are wrong are named. Somebody else's product is as unknown as one that does not exist."""
    if not goal.products:
        return
    held = {stored.id: stored.product for stored in await products.list_products(connection, user_id)}
    problems = []
    for place, product_id in enumerate(goal.products):
        product = held.get(product_id)
        if product is None:
            problems.append(f"produkte[{place}]: is no product of the user")
        elif product_id in goal.products[:place]:
            problems.append(f"produkte[{place}]: is named twice")
        elif (product.currency or _EURO) != _EURO:
            problems.append(f"produkte[{place}]: is not in euros: amounts are not converted")
    if problems:
        raise InvalidError("; ".join(problems))
