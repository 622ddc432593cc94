"""Cashflow: a tag instance per category, partner or span of time, with what was booked and what is expected."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from kontor.analysis.cashflow import Cashflow as FoundCashflow
from kontor.analysis.cashflow import Focus, Options
from kontor.analysis.trees import CASHFLOW, Item, Tree
from kontor.services.analyses import Facts
from kontor.wire.contracts import Reason, make_user_entity, show_reasons
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import Confidence, Entity, TagTreeItem, name_item, show_item
from kontor.wire.urls import Urls

FindItem: TypeAlias = Callable[[str], tuple[Tree, Item]]
# An aggregate is told from the main category of the same name by its parent.
AGGREGATE = "AGGREGATE"
_AGGREGATE_NAMES = {"INCOME": ("Einnahmen", "Alle Einnahmen ohne Überträge zwischen eigenen Konten")}


class CashflowStatistic(msgspec.Struct):
    """What was booked: per span of time, or per tag where the focus is on tags."""

    cashflow: Amount
    tagTreeItem: TagTreeItem  # noqa: N815


class CashflowPrediction(msgspec.Struct):
    """What a whole month will be; 80 % of outcomes lie from `lower` to `upper`."""

    tagTreeItem: TagTreeItem  # noqa: N815
    cashflow: Amount
    cashflowRegular: Amount  # noqa: N815
    cashflowIrregular: Amount  # noqa: N815
    lower: Amount
    upper: Amount
    confidenceLevel: Confidence  # noqa: N815


class CashflowDetails(msgspec.Struct):
    statistics: list[CashflowStatistic]
    predictions: list[CashflowPrediction]
    excludedCurrencies: list[str] | UnsetType = UNSET  # noqa: N815
    evidence: list[Reason] | UnsetType = UNSET


class Cashflow(msgspec.Struct):
    id: str
    entity: Entity
    relations: list[Relation]
    tagTreeItem: TagTreeItem  # noqa: N815
    details: CashflowDetails


def show_cashflow(
    cashflows: Sequence[FoundCashflow], facts: Facts, urls: Urls, options: Options, own_tree: Tree | None = None
) -> list[Cashflow]:
    """`own_tree` where money is summed by own categories."""
    find_tag: FindItem = partial(name_item, str(options.tagged_by)) if own_tree is None else partial(_find, own_tree)
    find_span: FindItem = partial(name_item, CASHFLOW)
    outer, inner = (find_span, find_tag) if options.focus is Focus.TAG else (find_tag, find_span)
    find_inner = _remember_items(inner)
    entity = make_user_entity(facts)
    return [_show_one(cashflow, entity, outer, find_inner, urls, explain=options.explain) for cashflow in cashflows]


def _find(tree: Tree, name: str) -> tuple[Tree, Item]:
    return tree, tree.items[name]


def _remember_items(find_item: FindItem) -> Callable[[str], TagTreeItem]:
    """Each item is made once, however often it is shown."""
    shown: dict[str, TagTreeItem] = {}

    def find(name: str) -> TagTreeItem:
        item = shown.get(name)
        if item is None:
            item = shown[name] = show_item(*find_item(name))
        return item

    return find


def _show_one(
    cashflow: FoundCashflow,
    entity: Entity,
    find_outer: FindItem,
    find_inner: Callable[[str], TagTreeItem],
    urls: Urls,
    *,
    explain: bool,
) -> Cashflow:
    tree, item = find_outer(cashflow.item)
    details = CashflowDetails(
        statistics=[
            CashflowStatistic(statistic.amount, find_inner(statistic.item)) for statistic in cashflow.statistics
        ],
        predictions=[
            CashflowPrediction(
                find_inner(prediction.item),
                prediction.amount,
                prediction.regular,
                prediction.irregular,
                prediction.lower,
                prediction.upper,
                prediction.confidence,
            )
            for prediction in cashflow.predictions
        ],
        excludedCurrencies=list(cashflow.excluded_currencies) or UNSET,
        evidence=show_reasons(cashflow.reasons, explain=explain),
    )
    shown = _show_aggregate(tree, item) if cashflow.is_aggregate else show_item(tree, item)
    suffix = f"-{AGGREGATE.lower()}" if cashflow.is_aggregate else ""
    return Cashflow(
        id=f"{entity.id}-{tree.system_id}-{item.system_id}{suffix}",
        entity=entity,
        relations=urls.instance_relations(tree.system_id, item.system_id),
        tagTreeItem=shown,
        details=details,
    )


def _show_aggregate(tree: Tree, item: Item) -> TagTreeItem:
    shown = show_item(tree, item)
    shown.systemNameParent = AGGREGATE
    if item.system_name in _AGGREGATE_NAMES:
        shown.displayName, shown.description = _AGGREGATE_NAMES[item.system_name]
    return shown
