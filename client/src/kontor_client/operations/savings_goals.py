"""Savings goals: an amount that the user wants to have."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from kontor_client.models.plans import SavingsGoal
from kontor_client.plans import Call, Plan, fetch, path_of, send

GOALS = "/customer/v2/sparziele"


def list_savings_goals() -> Plan[list[SavingsGoal]]:
    return fetch(list[SavingsGoal], GOALS)


def read_savings_goal(goal_id: str) -> Plan[SavingsGoal]:
    return fetch(SavingsGoal, GOALS + path_of(goal_id))


def add_savings_goal(
    name: str, target: Decimal, *, target_date: date | None = None, products: Sequence[str] = ()
) -> Plan[SavingsGoal]:
    """`products` are ids of the user's products in euros, whose balances count."""
    answer = yield from send(Call("POST", GOALS, json=_describe(name, target, target_date, products)))
    return (yield from fetch(SavingsGoal, answer.headers["location"]))


def change_savings_goal(
    goal_id: str,
    name: str,
    target: Decimal,
    *,
    target_date: date | None = None,
    products: Sequence[str] = (),
    saved: Decimal | None = None,
) -> Plan[None]:
    """`saved` is for goals without products; without it, what was said before stays."""
    body = _describe(name, target, target_date, products) | ({} if saved is None else {"angespart": saved})
    yield from send(Call("PUT", GOALS + path_of(goal_id), json=body, is_repeatable=True))


def delete_savings_goal(goal_id: str) -> Plan[None]:
    yield from send(Call("DELETE", GOALS + path_of(goal_id)))


def _describe(name: str, target: Decimal, target_date: date | None, products: Sequence[str]) -> dict[str, Any]:
    body: dict[str, Any] = {"name": name, "zielbetrag": target}
    if target_date is not None:
        body["zieldatum"] = target_date
    if products:
        body["produkte"] = list(products)
    return body
