"""Life events and life stages: tag instances of a customer."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kontor.analysis.budgets import CENT
from kontor.analysis.life_events import LifeEvent as FoundEvent
from kontor.analysis.life_stages import LifeStage as FoundStage
from kontor.analysis.trees import LIFE_EVENTS, LIFE_STAGES
from kontor.services.analyses import Facts
from kontor.wire.contracts import Day, Reason, make_user_entity, show_reasons
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import Confidence, Entity, TagTreeItem, name_item, show_instance
from kontor.wire.urls import Urls


class LifeEventDetails(msgspec.Struct):
    eventDate: Day  # noqa: N815
    confidenceLevel: Confidence  # noqa: N815
    transactionIds: list[str]  # noqa: N815
    amount: Amount | UnsetType = UNSET
    evidence: list[Reason] | UnsetType = UNSET


class LifeEvent(msgspec.Struct):
    """Something that has changed in the customer's life."""

    id: str
    entity: Entity
    relations: list[Relation]
    tagTreeItem: TagTreeItem  # noqa: N815
    details: LifeEventDetails


class LifeStageDetails(msgspec.Struct):
    confidenceLevel: Confidence  # noqa: N815
    transactionIds: list[str]  # noqa: N815
    evidence: list[Reason] | UnsetType = UNSET


class LifeStage(msgspec.Struct):
    """How the customer lives now, in one respect."""

    id: str
    entity: Entity
    relations: list[Relation]
    tagTreeItem: TagTreeItem  # noqa: N815
    details: LifeStageDetails


def show_amount(amount: Decimal | None) -> Decimal | UnsetType:
    """With exactly two decimals, where there is one."""
    return UNSET if amount is None else amount.quantize(CENT, ROUND_HALF_UP)


def show_life_events(events: Sequence[FoundEvent], facts: Facts, urls: Urls, *, explain: bool) -> list[dict[str, Any]]:
    entity = make_user_entity(facts)
    shown = []
    for event in events:
        details = LifeEventDetails(
            eventDate=event.day.isoformat(),
            confidenceLevel=event.confidence,
            transactionIds=list(event.transaction_ids),
            amount=show_amount(event.amount),
            evidence=show_reasons(event.reasons, explain=explain),
        )
        tree, item = name_item(LIFE_EVENTS, event.name)
        # Several events of one kind are told apart by the booking that each begins with.
        number = f"{entity.id}-{tree.system_id}-{item.system_id}-{event.transaction_ids[-1]}"
        shown.append(show_instance(entity, tree, item, details, urls, number))
    return shown


def show_life_stages(stages: Sequence[FoundStage], facts: Facts, urls: Urls, *, explain: bool) -> list[dict[str, Any]]:
    entity = make_user_entity(facts)
    return [
        show_instance(
            entity,
            *name_item(LIFE_STAGES, stage.name),
            LifeStageDetails(
                confidenceLevel=stage.confidence,
                transactionIds=list(stage.transaction_ids),
                evidence=show_reasons(stage.reasons, explain=explain),
            ),
            urls,
        )
        for stage in stages
    ]
