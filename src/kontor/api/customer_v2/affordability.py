"""What a customer can afford, and facts for a lender."""

from typing import Any

import msgspec

from kontor.api.answers import Answer
from kontor.api.customer_v2.analyses import AI, HEAVY, Explain, analyse
from kontor.api.operations import Call, Success, operation
from kontor.domain.scopes import CUSTOMER_CREDIT
from kontor.wire.affordability import Affordability, Nothing
from kontor.wire.analyses import show_affordability, show_credit_check
from kontor.wire.credit_checks import CreditCheck

CREDIT: dict[str, Any] = HEAVY | {"scope": CUSTOMER_CREDIT}


class AffordabilityQuery(msgspec.Struct):
    explain: Explain = False


@operation(
    "GET", AI + "/affordability", query=AffordabilityQuery, success=Success(shape=(Affordability, Nothing)), **CREDIT
)
async def read_affordability(call: Call) -> Answer:
    """Read what the customer can afford; an empty object where nothing can be said.

    Regular income, expenses and what is left, from the bookings of all accounts.
    """
    query = call.query(AffordabilityQuery)
    return await analyse(call, query, show_affordability, query.explain)


@operation(
    "GET", AI + "/credit-check", query=AffordabilityQuery, success=Success(shape=(CreditCheck, Nothing)), **CREDIT
)
async def read_credit_check(call: Call) -> Answer:
    """Read facts for a lender, each with its transactions; an empty object where nothing can be said.

    Income, instalments, overdrafts, returned debits and others.
    """
    query = call.query(AffordabilityQuery)
    return await analyse(call, query, show_credit_check, query.explain)
