"""Budgets of users."""

from datetime import date
from typing import Annotated
from uuid import uuid4

import msgspec
from msgspec import Meta

from kontor.analysis.calendars import number_month
from kontor.api.answers import Answer, created, empty_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY
from kontor.api.customer_v2.analyses import HEAVY, analyse
from kontor.api.customer_v2.plans import name_plans, read_plan
from kontor.api.operations import Call, Success, operation
from kontor.domain.errors import InvalidError
from kontor.wire.budgets import MONTHS, Budget, Month, NewBudget, read_month, show_budget, show_budgets

BUDGETS = CUSTOMER + "/budgets"
BUDGET = BUDGETS + "/{budget-id}"


class BudgetQuery(msgspec.Struct, rename={"month": "monat"}):
    month: Annotated[Month, Meta(description="yyyy-mm, up to the next month; the current one if absent")] | None = None


def choose_month(call: Call) -> date:
    """The first day of the month that is asked for."""
    asked, today = call.query(BudgetQuery).month, call.services.analyses.today()
    if asked is None:
        return today.replace(day=1)
    month = read_month(asked)
    if month is None:
        raise InvalidError(MONTHS, "monat")
    if number_month(month) > number_month(today) + 1:
        raise InvalidError("expected a month up to the next one", "monat")
    return month


@operation("GET", BUDGETS, query=BudgetQuery, success=Success(shape=list[Budget]), **HEAVY)
async def list_budgets(call: Call) -> Answer:
    """List the budgets, and how they stand in a month.

    `ausgegeben` is what the cashflow has for these categories: bookings in euros, less refunds, with the parts of split
    transactions, without transfers between own accounts. `prognose` is of the whole month, and equals `ausgegeben` once
    the month is over. `KNAPP`: it reaches 90 % of what is available.
    """
    month = choose_month(call)
    budgets = await call.services.budgets.list_budgets(call.principal)
    return await analyse(call, BudgetQuery(), show_budgets, budgets, month, state=name_plans([month, budgets]))


@operation("POST", BUDGETS, body=NewBudget, success=Success(201, headers={"Location": "the budget"}), **MODIFY)
async def add_budget(call: Call) -> Answer:
    """Add a budget for some categories.

    A category is in one budget at most; a main category includes its subcategories. A user can have 100 budgets.
    """
    budget = (await read_plan(call, NewBudget)).read(uuid4())
    await call.services.budgets.add_budget(call.principal, budget)
    return created(call.urls.budget(budget.id))


@operation("GET", BUDGET, query=BudgetQuery, success=Success(shape=Budget), errors=(404,), **HEAVY)
async def read_budget(call: Call) -> Answer:
    """Read one budget, and how it stands in a month.

    As in the list.
    """
    budget = await call.services.budgets.read_budget(call.principal, call.path_uuid("budget-id"))
    month = choose_month(call)
    return await analyse(call, BudgetQuery(), show_budget, budget, month, state=name_plans([month, budget]))


@operation("PUT", BUDGET, body=NewBudget, success=Success(description="changed"), errors=(404,), **MODIFY)
async def change_budget(call: Call) -> Answer:
    """Change a budget.

    It holds for all months since `beginn`.
    """
    known = await call.services.budgets.read_budget(call.principal, call.path_uuid("budget-id"))
    body = await read_plan(call, NewBudget)
    await call.services.budgets.change_budget(call.principal, body.read(known.id))
    return empty_answer()


@operation("DELETE", BUDGET, success=Success(description="deleted"), errors=(404,), **MODIFY)
async def delete_budget(call: Call) -> Answer:
    """Delete a budget.

    Its categories can then be in another one.
    """
    await call.services.budgets.delete_budget(call.principal, call.path_uuid("budget-id"))
    return empty_answer()
