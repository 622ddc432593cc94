"""Budgets: how much the user wants to spend a month on some categories."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from kontor_client.models.plans import Budget
from kontor_client.plans import Call, Plan, fetch, path_of, send

BUDGETS = "/customer/v2/budgets"


def list_budgets(month: str | None = None) -> Plan[list[Budget]]:
    """As they stand in a month (yyyy-mm), the current one unless another is named."""
    return fetch(list[Budget], BUDGETS, params=_name_month(month))


def read_budget(budget_id: str, month: str | None = None) -> Plan[Budget]:
    return fetch(Budget, BUDGETS + path_of(budget_id), params=_name_month(month))


def add_budget(
    name: str, categories: Sequence[str], amount: Decimal, begin: str, *, carries_over: bool = False
) -> Plan[Budget]:
    """`categories` are system names, `begin` is the first month, as yyyy-mm.

    With `carries_over`, what is left in a month, or overspent, goes to the next one.
    """
    body = _describe(name, categories, amount, begin, carries_over=carries_over)
    answer = yield from send(Call("POST", BUDGETS, json=body))
    return (yield from fetch(Budget, answer.headers["location"]))


def change_budget(
    budget_id: str, name: str, categories: Sequence[str], amount: Decimal, begin: str, *, carries_over: bool = False
) -> Plan[None]:
    body = _describe(name, categories, amount, begin, carries_over=carries_over)
    yield from send(Call("PUT", BUDGETS + path_of(budget_id), json=body, is_repeatable=True))


def delete_budget(budget_id: str) -> Plan[None]:
    yield from send(Call("DELETE", BUDGETS + path_of(budget_id)))


def _name_month(month: str | None) -> dict[str, str]:
    return {} if month is None else {"monat": month}


def _describe(
    name: str, categories: Sequence[str], amount: Decimal, begin: str, *, carries_over: bool
) -> dict[str, Any]:
    return {
        "name": name,
        "kategorien": list(categories),
        "betrag": amount,
        "beginn": begin,
        "uebertrag": carries_over,
    }
