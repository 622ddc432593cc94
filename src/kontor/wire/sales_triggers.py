"""Sales triggers: tag instances of a customer."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kontor.analysis.sales_triggers import SalesTrigger as FoundTrigger
from kontor.analysis.trees import SALES_TRIGGERS
from kontor.services.analyses import Facts
from kontor.wire.contracts import Day, Reason, make_user_entity, show_reasons
from kontor.wire.life import show_amount
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import Confidence, Entity, TagTreeItem, name_item, show_instance
from kontor.wire.urls import Urls


class SalesTriggerDetails(msgspec.Struct):
    triggerDate: Day  # noqa: N815
    confidenceLevel: Confidence  # noqa: N815
    transactionIds: list[str]  # noqa: N815
    amount: Amount | UnsetType = UNSET
    evidence: list[Reason] | UnsetType = UNSET


class SalesTrigger(msgspec.Struct):
    """An occasion for a talk with the customer."""

    id: str
    entity: Entity
    relations: list[Relation]
    tagTreeItem: TagTreeItem  # noqa: N815
    details: SalesTriggerDetails


def show_sales_triggers(
    triggers: Sequence[FoundTrigger], facts: Facts, urls: Urls, *, explain: bool
) -> list[dict[str, Any]]:
    entity = make_user_entity(facts)
    shown = []
    for trigger in triggers:
        details = SalesTriggerDetails(
            triggerDate=trigger.day.isoformat(),
            confidenceLevel=trigger.confidence,
            transactionIds=list(trigger.transaction_ids),
            amount=show_amount(trigger.amount),
            evidence=show_reasons(trigger.reasons, explain=explain),
        )
        tree, item = name_item(SALES_TRIGGERS, trigger.name)
        number = f"{entity.id}-{tree.system_id}-{item.system_id}"
        if trigger.transaction_ids:
            number += f"-{trigger.transaction_ids[-1]}"
        shown.append(show_instance(entity, tree, item, details, urls, number))
    return shown
