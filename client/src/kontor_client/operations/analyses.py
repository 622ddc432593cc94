"""What is concluded from a customer's transactions. With `explain`, `details.evidence` says why."""

from typing import Any, TypeVar

from kontor_client.models.analyses import (
    Affordability,
    AffordabilityDetails,
    Cashflow,
    CashflowDetails,
    Contract,
    CreditCheck,
    CreditCheckDetails,
    DisposableMoney,
    DisposableMoneyDetails,
    LifeEvent,
    LifeEventDetails,
    LifeStage,
    LifeStageDetails,
    SalesTrigger,
    SalesTriggerDetails,
)
from kontor_client.models.tags import TagInstance
from kontor_client.plans import Call, Plan, fetch, send

D = TypeVar("D")
AI = "/customer/v2/ai"


def list_contracts(
    *,
    insurance_only: bool = False,
    insurance_only_extended: bool = False,
    excluded: bool = False,
    explain: bool = False,
) -> Plan[list[Contract]]:
    """Agreements that the bookings show; only insurances, or those and home savings, if wanted.

    With `excluded`, those that the customer has excluded instead.
    """
    params = {
        "insuranceOnly": insurance_only,
        "insuranceOnlyExtended": insurance_only_extended,
        "excluded": excluded,
        "explain": explain,
    }
    return fetch(list[Contract], f"{AI}/contracts", params=params)


def read_cashflow(
    *,
    focus: str = "time",
    tag: str = "CATEGORIES",
    level: str = "sub",
    exclude_savings: bool = False,
    explain: bool = False,
) -> Plan[list[Cashflow]]:
    """What came in and went out, and predictions.

    `focus`: `time` for spans of time per tag, `tag` for tags per span. `tag`: CATEGORIES or BUSINESS_PARTNERS. `level`:
    `sub` or `main` categories.
    """
    params = {"focus": focus, "tag": tag, "catLevel": level, "excludeSavings": exclude_savings, "explain": explain}
    return fetch(list[TagInstance[CashflowDetails]], f"{AI}/cashflow", params=params)


def read_disposable_money(*, explain: bool = False) -> Plan[DisposableMoney | None]:
    """What can be spent until the next salary; None where no salary is active."""
    return _fetch_one(TagInstance[DisposableMoneyDetails], "disposable-money", {"explain": explain})


def list_life_events(*, explain: bool = False) -> Plan[list[LifeEvent]]:
    """What has changed in the customer's life."""
    return fetch(list[TagInstance[LifeEventDetails]], f"{AI}/life-events", params={"explain": explain})


def list_life_stages(*, explain: bool = False) -> Plan[list[LifeStage]]:
    """How the customer lives now: work, children, home and savings."""
    return fetch(list[TagInstance[LifeStageDetails]], f"{AI}/life-stages", params={"explain": explain})


def list_sales_triggers(*, explain: bool = False) -> Plan[list[SalesTrigger]]:
    """Occasions for a talk with the customer."""
    return fetch(list[TagInstance[SalesTriggerDetails]], f"{AI}/sales-triggers", params={"explain": explain})


def read_affordability(*, explain: bool = False) -> Plan[Affordability | None]:
    """What the customer can afford; None where nothing can be said."""
    return _fetch_one(TagInstance[AffordabilityDetails], "affordability", {"explain": explain})


def read_credit_check(*, explain: bool = False) -> Plan[CreditCheck | None]:
    """Facts for a lender; None where nothing can be said."""
    return _fetch_one(TagInstance[CreditCheckDetails], "credit-check", {"explain": explain})


def _fetch_one(expected: type[TagInstance[D]], name: str, params: dict[str, Any]) -> Plan[TagInstance[D] | None]:
    """An empty object says that there is none."""
    answer = yield from send(Call("GET", f"{AI}/{name}", params))
    return None if answer.json() == {} else answer.decode(expected)
