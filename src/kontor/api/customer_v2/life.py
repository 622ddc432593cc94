"""A customer's life: events, stages, and triggers for sales."""

from typing import Any

import msgspec

from kontor.analysis.life_events import find_life_events
from kontor.analysis.life_stages import find_life_stages
from kontor.analysis.sales_triggers import find_sales_triggers
from kontor.api.answers import Answer
from kontor.api.customer_v2.accesses import READ
from kontor.api.customer_v2.analyses import AI, Explain, analyse
from kontor.api.operations import Call, Success, operation
from kontor.services.analyses import Facts
from kontor.wire.life import LifeEvent, LifeStage, show_life_events, show_life_stages
from kontor.wire.sales_triggers import SalesTrigger, show_sales_triggers


class LifeQuery(msgspec.Struct):
    explain: Explain = False


@operation("GET", AI + "/life-events", query=LifeQuery, success=Success(shape=list[LifeEvent]), **READ)
async def list_life_events(call: Call) -> Answer:
    """List what has changed in the customer's life, as far as bookings show it."""
    query = call.query(LifeQuery)

    def show(facts: Facts) -> list[dict[str, Any]]:
        events = find_life_events(facts.records, facts.contracts, facts.accounts, facts.today)
        return show_life_events(events, facts, call.urls, explain=query.explain)

    return await analyse(call, query, show)


@operation("GET", AI + "/life-stages", query=LifeQuery, success=Success(shape=list[LifeStage]), **READ)
async def list_life_stages(call: Call) -> Answer:
    """List how the customer lives now: one item each for work, children, home and savings."""
    query = call.query(LifeQuery)

    def show(facts: Facts) -> list[dict[str, Any]]:
        stages = find_life_stages(facts.records, facts.contracts, facts.accounts, facts.today)
        return show_life_stages(stages, facts, call.urls, explain=query.explain)

    return await analyse(call, query, show)


@operation("GET", AI + "/life/stages", query=LifeQuery, success=Success(shape=list[LifeStage]), **READ)
async def list_life_stages_again(call: Call) -> Answer:
    """List how the customer lives now, at the other address."""
    return await list_life_stages(call)


@operation("GET", AI + "/sales-triggers", query=LifeQuery, success=Success(shape=list[SalesTrigger]), **READ)
async def list_sales_triggers(call: Call) -> Answer:
    """List occasions for a talk with the customer."""
    query = call.query(LifeQuery)

    def show(facts: Facts) -> list[dict[str, Any]]:
        triggers = find_sales_triggers(facts.records, facts.contracts, facts.accounts, facts.today)
        return show_sales_triggers(triggers, facts, call.urls, explain=query.explain)

    return await analyse(call, query, show)
