"""Tag trees, their items, and tag instances."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.records import NO_PARTNER
from kontor.analysis.tagging import Evidence as FoundEvidence
from kontor.analysis.tagging import Partner
from kontor.analysis.trees import BUSINESS_PARTNERS, CUSTOM_CATEGORIES, TREES, Item, Tree, find_item
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls

Confidence = Annotated[float, Meta(ge=0, le=1, description="how sure this is")]


class TreeReference(msgspec.Struct):
    systemId: int  # noqa: N815
    systemName: str  # noqa: N815
    displayName: str  # noqa: N815
    description: str
    version: int
    isClientGenerated: bool  # noqa: N815


class TagTree(msgspec.Struct):
    systemId: int  # noqa: N815
    systemName: str  # noqa: N815
    displayName: str  # noqa: N815
    description: str
    version: int
    isClientGenerated: bool  # noqa: N815
    relations: list[Relation]


class TagTreeItem(msgspec.Struct):
    """An item of a tree. Business partners carry what is known about them."""

    displayName: str  # noqa: N815
    systemId: int  # noqa: N815
    systemName: str  # noqa: N815
    tagTree: TreeReference  # noqa: N815
    systemNameParent: str | UnsetType = UNSET  # noqa: N815
    description: str | UnsetType = UNSET
    addressCity: str | UnsetType = UNSET  # noqa: N815
    addressCountry: str | UnsetType = UNSET  # noqa: N815
    addressStreet: str | UnsetType = UNSET  # noqa: N815
    addressZip: str | UnsetType = UNSET  # noqa: N815
    creditorId: str | UnsetType = UNSET  # noqa: N815
    group: str | UnsetType = UNSET
    telephone: str | UnsetType = UNSET
    website: str | UnsetType = UNSET
    categories: list[str] | UnsetType = UNSET
    relations: list[Relation] | UnsetType = UNSET


class Entity(msgspec.Struct):
    displayName: str  # noqa: N815
    entityClass: Annotated[str, Meta(examples=["TRANSACTION", "USER"])]  # noqa: N815
    id: str
    userId: str | UnsetType = UNSET  # noqa: N815


class Evidence(msgspec.Struct):
    """What spoke for a tag: a rule, a partner, a code, a word, or weights of the model."""

    kind: str
    text: str
    detail: str
    weight: float
    decisive: bool


class TagDetails(msgspec.Struct):
    confidenceLevel: Confidence  # noqa: N815
    evidence: list[Evidence] | UnsetType = UNSET


class TagInstance(msgspec.Struct):
    """Links an entity, here a transaction, to an item of a tag tree."""

    id: str
    entity: Entity
    relations: list[Relation]
    tagTreeItem: TagTreeItem  # noqa: N815
    details: TagDetails


class Classification(msgspec.Struct):
    """A transaction's category in short, as `categorize` shows it."""

    category: str
    displayName: str  # noqa: N815
    confidenceLevel: Confidence  # noqa: N815
    parentCategory: str | UnsetType = UNSET  # noqa: N815


class ItemInput(msgspec.Struct, omit_defaults=True):
    """An item as a caller names it: the system names count."""

    systemName: str  # noqa: N815
    tagTree: "TreeInput | None" = None  # noqa: N815
    systemId: int | None = None  # noqa: N815


class TreeInput(msgspec.Struct, omit_defaults=True):
    systemName: str | None = None  # noqa: N815
    systemId: int | None = None  # noqa: N815


ItemInputs = ItemInput | Annotated[list[ItemInput], Meta(min_length=1, max_length=1)]


def refer_to_tree(tree: Tree) -> TreeReference:
    return TreeReference(
        tree.system_id,
        tree.system_name,
        tree.name,
        tree.description,
        tree.version,
        isClientGenerated=tree.system_name == CUSTOM_CATEGORIES,
    )


def show_tree(tree: Tree, urls: Urls) -> TagTree:
    return TagTree(
        tree.system_id,
        tree.system_name,
        tree.name,
        tree.description,
        tree.version,
        isClientGenerated=tree.system_name == CUSTOM_CATEGORIES,
        relations=urls.tree_relations(tree.system_id),
    )


def show_item(tree: Tree, item: Item, urls: Urls | None = None) -> TagTreeItem:
    """With relations where it is read by itself, without them inside a tag instance."""
    shown = TagTreeItem(
        displayName=item.name,
        systemId=item.system_id,
        systemName=item.system_name,
        tagTree=refer_to_tree(tree),
        systemNameParent=item.parent or UNSET,
        description=item.description or UNSET,
    )
    if item.partner is not None:
        _add_partner(shown, item.partner)
    if urls is not None:
        shown.relations = urls.item_relations(tree.system_id, item.system_id)
    return shown


def _add_partner(shown: TagTreeItem, partner: Partner) -> None:
    shown.addressCity = partner.city or UNSET
    shown.addressCountry = partner.country or UNSET
    shown.addressStreet = partner.street or UNSET
    shown.addressZip = partner.zip_code or UNSET
    shown.creditorId = partner.creditor_ids[0] if partner.creditor_ids else UNSET
    shown.group = partner.group or UNSET
    shown.telephone = partner.phone or UNSET
    shown.website = partner.website or UNSET


def name_item(tree_name: str, system_name: str) -> tuple[Tree, Item]:
    """A tree and one of its items. A partner that has left the table since a row was tagged is unknown."""
    tree = TREES[tree_name]
    item = find_item(tree, system_name)
    if item is None and tree_name == BUSINESS_PARTNERS:
        item = find_item(tree, NO_PARTNER)
    assert item is not None, f"{tree_name} has no item {system_name}"
    return tree, item


def show_evidence(evidence: FoundEvidence) -> Evidence:
    return Evidence(evidence.kind, evidence.text, evidence.detail, round(evidence.weight, 3), evidence.is_decisive)


def show_instance(
    entity: Entity, tree: Tree, item: Item, details: Any, urls: Urls, instance_id: str | None = None
) -> dict[str, Any]:
    """A tag instance with details of any shape, as the analyses return them."""
    return {
        "id": instance_id or f"{entity.id}-{tree.system_id}-{item.system_id}",
        "entity": entity,
        "relations": urls.instance_relations(tree.system_id, item.system_id),
        "tagTreeItem": show_item(tree, item),
        "details": details,
    }
