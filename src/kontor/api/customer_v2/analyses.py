"""Analyses of a customer: contracts, cashflow, disposable money, life, triggers, affordability."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.api.answers import JSON, Answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ
from kontor.api.operations import Call, Success, operation
from kontor.domain.principals import Principal
from kontor.services.analyses import Facts
from kontor.wire.contracts import Contract, select_contracts, show_contracts
from kontor.wire.encoding import encode_json
from kontor.wire.urls import Urls

AI = CUSTOMER + "/ai"
# Analyses take processor time.
HEAVY: dict[str, Any] = READ | {"is_heavy": True}
Explain = Annotated[bool, Meta(description="show what led to each finding")]


class ContractsQuery(msgspec.Struct):
    insuranceOnly: Annotated[bool, Meta(description="only insurance contracts")] = False  # noqa: N815
    insuranceOnlyExtended: Annotated[bool, Meta(description="only insurance and home-savings contracts")] = False  # noqa: N815
    excluded: Annotated[bool, Meta(description="those that the customer has excluded (`isContract` false)")] = False
    explain: Explain = False


@dataclass(frozen=True, slots=True)
class Reader:
    """As whom an analysis is read, and the id of the customer's operation."""

    operation_id: str
    principal: Principal


async def analyse(
    call: Call,
    query: msgspec.Struct,
    show: Callable[..., Any],
    *arguments: Any,
    state: str = "",
    reader: Reader | None = None,
) -> Answer:
    """Answer from what is kept, or by `show`; the question is the operation with all its options.

    `state` names what else the answer depends on, besides the user's data.

    `show` is a function of a module, for it is called in a compute process: with facts, URLs and the arguments.
    `reader` is given by advisers, who get the kept answer of the customer.
    """
    reader = reader or Reader(call.operation.id, call.principal)
    options = encode_json(query).decode()
    question = f"{reader.operation_id} {options} {call.urls.base}{state}"
    make = partial(_encode_shown, show, call.urls, arguments)
    return Answer(200, await call.services.analyses.answer(reader.principal, question, make), JSON)


def _encode_shown(show: Callable[..., Any], urls: Urls, arguments: tuple[Any, ...], facts: Facts) -> bytes:
    return encode_json(show(facts, urls, *arguments))


@operation("GET", AI + "/contracts", query=ContractsQuery, success=Success(shape=list[Contract]), **HEAVY)
async def list_contracts(call: Call) -> Answer:
    """List the customer's contracts, as far as bookings show them.

    What is paid or received regularly, with its period, amounts and next date. With `explain`, the reasons.
    """
    query = call.query(ContractsQuery)
    return await analyse(call, query, show_chosen_contracts, query)


def show_chosen_contracts(facts: Facts, urls: Urls, query: ContractsQuery) -> list[Contract]:
    chosen = select_contracts(
        facts.excluded_contracts if query.excluded else facts.contracts,
        insurance_only=query.insuranceOnly,
        insurance_only_extended=query.insuranceOnlyExtended,
    )
    return show_contracts(chosen, facts, urls, explain=query.explain)
