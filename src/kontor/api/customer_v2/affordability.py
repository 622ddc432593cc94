"""What a customer can afford, and facts for a lender."""

from typing import Any

import msgspec

from kontor.analysis.affordability import measure_affordability
from kontor.analysis.credit_checks import check_credit
from kontor.api.answers import Answer
from kontor.api.customer_v2.accesses import READ
from kontor.api.customer_v2.analyses import AI, Explain, analyse
from kontor.api.operations import Call, Success, operation
from kontor.domain.scopes import CUSTOMER_CREDIT
from kontor.services.analyses import Facts
from kontor.wire.affordability import Affordability, Nothing, show_affordability
from kontor.wire.credit_checks import CreditCheck, show_credit_check

CREDIT: dict[str, Any] = READ | {"scope": CUSTOMER_CREDIT}


class AffordabilityQuery(msgspec.Struct):
    explain: Explain = False


@operation(
    "GET", AI + "/affordability", query=AffordabilityQuery, success=Success(shape=(Affordability, Nothing)), **CREDIT
)
async def read_affordability(call: Call) -> Answer:
    """Read what the customer can afford; an empty object where nothing can be said."""
    query = call.query(AffordabilityQuery)

    def show(facts: Facts) -> Any:
        found = measure_affordability(facts.records, facts.contracts, facts.accounts, facts.today)
        return show_affordability(found, facts, call.urls, explain=query.explain)

    return await analyse(call, query, show)


@operation(
    "GET", AI + "/credit-check", query=AffordabilityQuery, success=Success(shape=(CreditCheck, Nothing)), **CREDIT
)
async def read_credit_check(call: Call) -> Answer:
    """Read facts for a lender, each with its transactions; an empty object where nothing can be said."""
    query = call.query(AffordabilityQuery)

    def show(facts: Facts) -> Any:
        found = check_credit(facts.records, facts.contracts, facts.accounts, facts.today)
        return show_credit_check(found, facts, call.urls, explain=query.explain)

    return await analyse(call, query, show)
