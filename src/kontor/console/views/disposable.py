"""Disposable money: what is left until the next salary, and why."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from kontor.console.contracts import read_contracts
from kontor.console.due_dates import Due, list_dues
from kontor.console.gateway import together
from kontor.console.plan_reasons import read_reasons
from kontor.console.visits import Facts, View, Visit
from kontor.console.waterfalls import Step, Waterfall, draw_waterfall


async def show(visit: Visit) -> Facts:
    disposable, answer = await together(
        visit.api.get("/customer/v2/ai/disposable-money", explain=True),
        visit.api.get("/customer/v2/ai/contracts"),
    )
    details = (disposable or {}).get("details")
    if not details:
        return {"details": None, "has_contracts": bool(answer)}
    until = date.fromisoformat(details["dateSalaryNext"])
    dues = list_dues(read_contracts(answer), visit.today, until - timedelta(days=1))
    return {
        "details": details,
        "left": Decimal(details["amountExpectedLeft"]),
        "waterfall": draw_money(details),
        "dues": dues,
        "further": find_further(details, dues),
        "passed_days": (visit.today - date.fromisoformat(details["dateSalaryLatest"])).days,
        "reasons": read_reasons(details.get("evidence"), visit.texts),
    }


def draw_money(details: Mapping[str, Any]) -> Waterfall:
    return draw_waterfall(
        [
            Step("salary", Decimal(details["amountSalaryLatest"]), "start"),
            Step("cashflow", Decimal(details["amountCashflow"])),
            Step("currently_left", Decimal(details["amountCurrentlyLeft"]), "sum"),
            Step("fixed", Decimal(details["amountExpectedFixedCashflow"])),
            Step("flex", Decimal(details["amountExpectedFlexCashflow"])),
            Step("expected_left", Decimal(details["amountExpectedLeft"]), "end"),
        ]
    )


def find_further(details: Mapping[str, Any], dues: Sequence[Due]) -> Decimal:
    """What the API expects of contracts beyond what is listed: a payment that is late, say."""
    return Decimal(details["amountExpectedFixedCashflow"]) - sum((due.amount for due in dues), Decimal(0))


VIEWS = [View("disposable", "/disposable", show, group="money")]
