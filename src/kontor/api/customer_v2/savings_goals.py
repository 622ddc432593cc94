"""Savings goals of users."""

from dataclasses import replace
from uuid import uuid4

import msgspec

from kontor.api.answers import Answer, created, empty_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY
from kontor.api.customer_v2.analyses import HEAVY, analyse
from kontor.api.customer_v2.plans import name_plans, read_plan
from kontor.api.operations import Call, Success, operation
from kontor.wire.savings_goals import ChangedSavingsGoal, NewSavingsGoal, SavingsGoal, show_goal, show_goals

GOALS = CUSTOMER + "/sparziele"
GOAL = GOALS + "/{goal-id}"


class GoalQuery(msgspec.Struct):
    """Goals stand as they do today."""


@operation("GET", GOALS, success=Success(shape=list[SavingsGoal]), **HEAVY)
async def list_savings_goals(call: Call) -> Answer:
    """List the savings goals, and how far they are.

    `voraussichtlichAm` follows from how the balances have changed over up to six complete months.
    """
    goals = await call.services.savings_goals.list_goals(call.principal)
    return await analyse(call, GoalQuery(), show_goals, goals, state=name_plans(goals))


@operation("POST", GOALS, body=NewSavingsGoal, success=Success(201, headers={"Location": "the savings goal"}), **MODIFY)
async def add_savings_goal(call: Call) -> Answer:
    """Add a savings goal, on products of the user or on none.

    A user can have 100 savings goals.
    """
    goal = (await read_plan(call, NewSavingsGoal)).read(uuid4())
    await call.services.savings_goals.add_goal(call.principal, goal)
    return created(call.urls.savings_goal(goal.id))


@operation("GET", GOAL, success=Success(shape=SavingsGoal), errors=(404,), **HEAVY)
async def read_savings_goal(call: Call) -> Answer:
    """Read one savings goal, and how far it is.

    As in the list.
    """
    goal = await call.services.savings_goals.read_goal(call.principal, call.path_uuid("goal-id"))
    return await analyse(call, GoalQuery(), show_goal, goal, state=name_plans(goal))


@operation("PUT", GOAL, body=ChangedSavingsGoal, success=Success(description="changed"), errors=(404,), **MODIFY)
async def change_savings_goal(call: Call) -> Answer:
    """Change a savings goal, or say how much is saved.

    `angespart` is for goals without products; of others it is the sum of the balances, whatever is sent.
    """
    known = await call.services.savings_goals.read_goal(call.principal, call.path_uuid("goal-id"))
    body = await read_plan(call, ChangedSavingsGoal)
    goal, saved = body.read(known.id), body.read_saved()
    if saved is not None:
        goal = replace(goal, saved=saved)
    await call.services.savings_goals.change_goal(call.principal, goal, keeps_saved=saved is None)
    return empty_answer()


@operation("DELETE", GOAL, success=Success(description="deleted"), errors=(404,), **MODIFY)
async def delete_savings_goal(call: Call) -> Answer:
    """Delete a savings goal.

    Products and their transactions stay.
    """
    await call.services.savings_goals.delete_goal(call.principal, call.path_uuid("goal-id"))
    return empty_answer()
