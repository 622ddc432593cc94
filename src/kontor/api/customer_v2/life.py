"""A customer's life: events, stages, and triggers for sales."""

import msgspec

from kontor.api.answers import Answer
from kontor.api.customer_v2.analyses import AI, HEAVY, Explain, analyse
from kontor.api.operations import Call, Success, operation
from kontor.wire.analyses import show_life_events, show_life_stages, show_sales_triggers
from kontor.wire.life import LifeEvent, LifeStage
from kontor.wire.sales_triggers import SalesTrigger


class LifeQuery(msgspec.Struct):
    explain: Explain = False


@operation("GET", AI + "/life-events", query=LifeQuery, success=Success(shape=list[LifeEvent]), **HEAVY)
async def list_life_events(call: Call) -> Answer:
    """List what has changed in the customer's life, as far as bookings show it.

    Such as a new job, a move or a child, each with its date and its transactions.
    """
    query = call.query(LifeQuery)
    return await analyse(call, query, show_life_events, query.explain)


@operation(
    "GET",
    AI + "/life-stages",
    other_paths=(AI + "/life/stages",),
    query=LifeQuery,
    success=Success(shape=list[LifeStage]),
    **HEAVY,
)
async def list_life_stages(call: Call) -> Answer:
    """List how the customer lives now: one item each for work, children, home and savings.

    Each with its confidence and its transactions.
    """
    query = call.query(LifeQuery)
    return await analyse(call, query, show_life_stages, query.explain)


@operation("GET", AI + "/sales-triggers", query=LifeQuery, success=Success(shape=list[SalesTrigger]), **HEAVY)
async def list_sales_triggers(call: Call) -> Answer:
    """List occasions for a talk with the customer.

    Each with its date, its confidence and its transactions.
    """
    query = call.query(LifeQuery)
    return await analyse(call, query, show_sales_triggers, query.explain)
