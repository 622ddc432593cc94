"""For advisers: analyses of customers who allow it. Each read is checked and audited before it happens (ADR 0065)."""

from typing import Any
from uuid import UUID

import msgspec

from kontor.api.answers import Answer
from kontor.api.auth import require_scope
from kontor.api.customer_v2.affordability import AffordabilityQuery
from kontor.api.customer_v2.analyses import ContractsQuery, Reader, analyse, show_chosen_contracts
from kontor.api.customer_v2.life import LifeQuery
from kontor.api.operations import Call, Security, Success, operation
from kontor.api.paging import DEFAULT_PAGE, CursorText, Limit, page_answer, read_cursor
from kontor.domain.disclosures import DisclosureScope
from kontor.domain.operator_views import NIL
from kontor.domain.scopes import ADVISER_READ, CUSTOMER_CREDIT
from kontor.wire.affordability import Affordability, Nothing
from kontor.wire.analyses import show_affordability, show_credit_check, show_sales_triggers
from kontor.wire.contracts import Contract
from kontor.wire.credit_checks import CreditCheck
from kontor.wire.disclosures import Kunde, show_kunde
from kontor.wire.sales_triggers import SalesTrigger

CUSTOMERS = "/adviser/v2/kunden"
CUSTOMER = CUSTOMERS + "/{user-reference}"
COMMON: dict[str, Any] = {"tag": "Advisers", "security": Security.USER_TOKEN, "scope": ADVISER_READ}
READ: dict[str, Any] = COMMON | {"is_heavy": True, "errors": (404,)}


class CustomersQuery(msgspec.Struct):
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


@operation("GET", CUSTOMERS, query=CustomersQuery, success=Success(shape=list[Kunde]), **COMMON)
async def list_disclosing_customers(call: Call) -> Answer:
    """List customers who allow this adviser to read, with what and until when.

    One entry per Freigabe. Relations lead to what this token can read.
    """
    query = call.query(CustomersQuery)
    after = read_cursor(query.cursor, tuple[UUID, UUID]) or (NIL, NIL)
    found = await call.services.analyses.disclosures.list_customers(call.principal, after, query.limit)
    following = (found[-1].user_id, found[-1].disclosure_id) if len(found) == query.limit else None
    can_check_credit = CUSTOMER_CREDIT in call.principal.scopes
    shown = [show_kunde(customer, call.urls, can_check_credit=can_check_credit) for customer in found]
    return page_answer(call, shown, following)


@operation(
    "GET", CUSTOMER + "/sales-triggers", query=LifeQuery, success=Success(shape=list[SalesTrigger]), **READ
)  # fmt: skip
async def list_customer_sales_triggers(call: Call) -> Answer:
    """List occasions for a talk with a customer who allows it.

    Answers as `GET /customer/v2/ai/sales-triggers/` does for the customer. 404 without a valid Freigabe.
    """
    query = call.query(LifeQuery)
    reader = await _read_as(call, DisclosureScope.SALES_TRIGGERS, "list_sales_triggers")
    return await analyse(call, query, show_sales_triggers, query.explain, reader=reader)


@operation("GET", CUSTOMER + "/contracts", query=ContractsQuery, success=Success(shape=list[Contract]), **READ)
async def list_customer_contracts(call: Call) -> Answer:
    """List the contracts of a customer who allows it.

    Answers as `GET /customer/v2/ai/contracts/` does for the customer. 404 without a valid Freigabe.
    """
    query = call.query(ContractsQuery)
    reader = await _read_as(call, DisclosureScope.CONTRACTS, "list_contracts")
    return await analyse(call, query, show_chosen_contracts, query, reader=reader)


@operation(
    "GET",
    CUSTOMER + "/affordability",
    query=AffordabilityQuery,
    success=Success(shape=(Affordability, Nothing)),
    **READ,
)
async def read_customer_affordability(call: Call) -> Answer:
    """Read what a customer who allows it can afford; needs `customer/credit` too.

    Answers as `GET /customer/v2/ai/affordability/` does for the customer. 404 without a valid Freigabe.
    """
    require_scope(call.principal, CUSTOMER_CREDIT)
    query = call.query(AffordabilityQuery)
    reader = await _read_as(call, DisclosureScope.AFFORDABILITY, "read_affordability")
    return await analyse(call, query, show_affordability, query.explain, reader=reader)


@operation(
    "GET",
    CUSTOMER + "/credit-check",
    query=AffordabilityQuery,
    success=Success(shape=(CreditCheck, Nothing)),
    **READ,
)
async def read_customer_credit_check(call: Call) -> Answer:
    """Read facts for a lender about a customer who allows it; needs `customer/credit` too.

    Answers as `GET /customer/v2/ai/credit-check/` does for the customer. 404 without a valid Freigabe.
    """
    require_scope(call.principal, CUSTOMER_CREDIT)
    query = call.query(AffordabilityQuery)
    reader = await _read_as(call, DisclosureScope.CREDIT_CHECK, "read_credit_check")
    return await analyse(call, query, show_credit_check, query.explain, reader=reader)


async def _read_as(call: Call, scope: DisclosureScope, operation_id: str) -> Reader:
    customer_id = call.path_uuid("user-reference")
    principal = await call.services.analyses.disclosures.authorise_adviser(call.principal, customer_id, scope)
    await call.services.accesses.permissions.uses.note(principal, None)
    return Reader(operation_id, principal)
