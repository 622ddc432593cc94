"""What a customer allows advisers to read (Freigaben), and what advisers read by it."""

from collections.abc import Sequence
from datetime import date
from typing import Any, TypeVar

from kontor_client.models.analyses import (
    Affordability,
    AffordabilityDetails,
    Contract,
    CreditCheck,
    CreditCheckDetails,
    SalesTrigger,
    SalesTriggerDetails,
)
from kontor_client.models.disclosures import DisclosingCustomer, Disclosure, DisclosureRead
from kontor_client.models.tags import TagInstance
from kontor_client.plans import Call, Plan, fetch, path_of, send

D = TypeVar("D")
DISCLOSURES = "/customer/v2/freigaben"
CUSTOMERS = "/adviser/v2/kunden"


def list_disclosures() -> Plan[list[Disclosure]]:
    """Those that are not withdrawn."""
    return fetch(list[Disclosure], DISCLOSURES)


def read_disclosure(disclosure_id: str) -> Plan[Disclosure]:
    return fetch(Disclosure, DISCLOSURES + path_of(disclosure_id))


def add_disclosure(scopes: Sequence[str], valid_until: date, adviser: str | None = None) -> Plan[Disclosure]:
    """`scopes`: sales-triggers, affordability, credit-check, contracts. Without `adviser`, for all of the tenant."""
    body: dict[str, Any] = {"umfang": list(scopes), "gueltigBis": valid_until.isoformat()}
    if adviser is not None:
        body["berater"] = adviser
    answer = yield from send(Call("POST", DISCLOSURES, json=body))
    return (yield from fetch(Disclosure, answer.headers["location"]))


def withdraw_disclosure(disclosure_id: str) -> Plan[None]:
    """From now on nobody reads by it."""
    yield from send(Call("DELETE", DISCLOSURES + path_of(disclosure_id)))


def list_disclosure_reads(disclosure_id: str) -> Plan[list[DisclosureRead]]:
    """Who has read by it, newest first; also by a withdrawn one."""
    return fetch(list[DisclosureRead], DISCLOSURES + path_of(disclosure_id, "zugriffe"))


# For advisers


def list_disclosing_customers(*, limit: int | None = None, cursor: str | None = None) -> Plan[list[DisclosingCustomer]]:
    """Customers who allow this adviser to read: one entry per disclosure."""
    return fetch(list[DisclosingCustomer], CUSTOMERS, params={"limit": limit, "cursor": cursor})


def list_customer_sales_triggers(user_reference: str, *, explain: bool = False) -> Plan[list[SalesTrigger]]:
    """Occasions for a talk with a customer who allows it."""
    path = CUSTOMERS + path_of(user_reference, "sales-triggers")
    return fetch(list[TagInstance[SalesTriggerDetails]], path, params={"explain": explain})


def list_customer_contracts(
    user_reference: str, *, insurance_only: bool = False, explain: bool = False
) -> Plan[list[Contract]]:
    """Contracts of a customer who allows it; only insurances, if wanted."""
    params = {"insuranceOnly": insurance_only, "explain": explain}
    return fetch(list[Contract], CUSTOMERS + path_of(user_reference, "contracts"), params=params)


def read_customer_affordability(user_reference: str, *, explain: bool = False) -> Plan[Affordability | None]:
    """What a customer who allows it can afford; None where nothing can be said."""
    return _fetch_one(TagInstance[AffordabilityDetails], user_reference, "affordability", explain)


def read_customer_credit_check(user_reference: str, *, explain: bool = False) -> Plan[CreditCheck | None]:
    """Facts for a lender about a customer who allows it; None where nothing can be said."""
    return _fetch_one(TagInstance[CreditCheckDetails], user_reference, "credit-check", explain)


def _fetch_one(
    expected: type[TagInstance[D]], user_reference: str, name: str, explain: bool
) -> Plan[TagInstance[D] | None]:
    """An empty object says that there is none."""
    answer = yield from send(Call("GET", CUSTOMERS + path_of(user_reference, name), {"explain": explain}))
    return None if answer.json() == {} else answer.decode(expected)
