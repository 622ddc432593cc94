"""For advisers: customers who allow it, and what they share. Each analysis that is opened is a recorded read."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from kontor.console.contracts import read_contracts, sum_contracts
from kontor.console.disclosures import SCOPES
from kontor.console.gateway import segment
from kontor.console.rendering import read_day
from kontor.console.views.affordability import describe_household
from kontor.console.views.triggers import describe_triggers
from kontor.console.visits import BASE, Facts, View, Visit
from kontor_client import ApiError

CUSTOMERS = "/adviser/v2/kunden"
PAGE_ROWS = 500  # as many as the API gives in one page
MAX_PAGES = 20


@dataclass(frozen=True, slots=True)
class SharedAnalysis:
    """`can_read`: by this adviser's token."""

    name: str
    until: date
    can_read: bool


@dataclass(frozen=True, slots=True)
class Customer:
    """All that a customer shares with this adviser, over all disclosures."""

    reference: str
    shared: list[SharedAnalysis]

    @property
    def url(self) -> str:
        return f"{BASE}/adviser/{segment(self.reference)}"

    @property
    def until(self) -> date:
        return max(analysis.until for analysis in self.shared)


async def show_customers(visit: Visit) -> Facts:
    return {"customers": await list_customers(visit)}


async def show_customer(visit: Visit) -> Facts:
    """What there is to open. Nothing of the customer is read yet."""
    return {"customer": await _find_customer(visit)}


async def list_customers(visit: Visit) -> list[Customer]:
    """The API tells one entry per disclosure; here each customer is one."""
    entries: list[Any] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page, cursor = await visit.api.get_page(CUSTOMERS, limit=PAGE_ROWS, cursor=cursor)
        entries += page
        if cursor is None:
            break
    return group_customers(entries)


def group_customers(entries: list[Any]) -> list[Customer]:
    """In the order of the API. An analysis that is shared twice is shared until the later day."""
    found: dict[str, dict[str, SharedAnalysis]] = {}
    for entry in entries:
        offered = {relation["rel"] for relation in entry["relations"]}
        until = read_day(entry["gueltigBis"])
        assert until is not None, "the API tells a day"
        shared = found.setdefault(entry["userReference"], {})
        for name in entry["umfang"]:
            analysis = SharedAnalysis(name, until, f"get_{name.replace('-', '_')}" in offered)
            if name not in shared or shared[name].until < until:
                shared[name] = analysis
    return [
        Customer(reference, [shared[name] for name in SCOPES if name in shared]) for reference, shared in found.items()
    ]


async def _find_customer(visit: Visit) -> Customer:
    reference = visit.path("customer")
    found = next((customer for customer in await list_customers(visit) if customer.reference == reference), None)
    if found is None:
        raise ApiError(404, [], text=visit.texts("customer.unknown"))
    return found


async def _read(visit: Visit, name: str, **params: Any) -> tuple[Facts, Any]:
    customer = await _find_customer(visit)
    answer = await visit.api.get(f"{CUSTOMERS}/{segment(customer.reference)}/{name}", **params)
    return {"customer": customer, "opened": name}, answer


async def show_triggers(visit: Visit) -> Facts:
    facts, triggers = await _read(visit, "sales-triggers", explain=True)
    return facts | describe_triggers(visit, triggers, [])


async def show_household(visit: Visit) -> Facts:
    facts, affordability = await _read(visit, "affordability")
    return facts | describe_household(affordability, {})


async def show_credit_check(visit: Visit) -> Facts:
    facts, check = await _read(visit, "credit-check")
    details = check.get("details", {})
    return facts | {"check": details, "findings": details.get("findings", []), "literacy": None}


async def show_contracts(visit: Visit) -> Facts:
    facts, answer = await _read(visit, "contracts")
    contracts = read_contracts(answer)
    listed = sorted(contracts, key=lambda contract: (not contract.is_running, contract.title.casefold()))
    return facts | {"contracts": listed, "totals": sum_contracts(contracts)}


def _make_view(name: str, scope: str, show: Any) -> View:
    return View(name, f"/adviser/{{customer:str}}/{scope}", show, parent="customers", is_adviser=True)


VIEWS = [
    View("customers", "/adviser", show_customers, group="advice", is_adviser=True),
    View("customer", "/adviser/{customer:str}", show_customer, parent="customers", is_adviser=True),
    _make_view("customer_triggers", "sales-triggers", show_triggers),
    _make_view("customer_household", "affordability", show_household),
    _make_view("customer_credit_check", "credit-check", show_credit_check),
    _make_view("customer_contracts", "contracts", show_contracts),
]
