"""Analyses of a customer: contracts, cashflow, disposable money, life, triggers, affordability."""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.api.answers import JSON, Answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ
from kontor.api.operations import Call, Success, operation
from kontor.services.analyses import Facts
from kontor.wire.contracts import Contract, select_contracts, show_contracts
from kontor.wire.encoding import encode_json

AI = CUSTOMER + "/ai"
Explain = Annotated[bool, Meta(description="show what led to each finding")]


class ContractsQuery(msgspec.Struct):
    insuranceOnly: Annotated[bool, Meta(description="only insurance contracts")] = False  # noqa: N815
    insuranceOnlyExtended: Annotated[bool, Meta(description="only insurance and home-savings contracts")] = False  # noqa: N815
    explain: Explain = False


async def analyse(call: Call, query: msgspec.Struct, show: Callable[[Facts], Any]) -> Answer:
    """Answer from what is kept, or by `show`; the question is the operation with all its options."""
    options = encode_json(query).decode()
    question = f"{call.operation.id} {options} {call.urls.base}"
    body = await call.services.analyses.answer(call.principal, question, lambda facts: encode_json(show(facts)))
    return Answer(200, body, JSON)


@operation("GET", AI + "/contracts", query=ContractsQuery, success=Success(shape=list[Contract]), **READ)
async def list_contracts(call: Call) -> Answer:
    """List the customer's contracts, as far as bookings show them."""
    query = call.query(ContractsQuery)

    def show(facts: Facts) -> list[Contract]:
        chosen = select_contracts(
            facts.contracts,
            insurance_only=query.insuranceOnly,
            insurance_only_extended=query.insuranceOnlyExtended,
        )
        return show_contracts(chosen, facts, call.urls, explain=query.explain)

    return await analyse(call, query, show)
