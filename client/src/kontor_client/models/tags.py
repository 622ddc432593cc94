"""Tag trees, their items, and tag instances: the form of everything that is concluded from transactions."""

from datetime import datetime
from decimal import Decimal
from typing import Generic, TypeVar

from kontor_client.models.shapes import Linked, Model

D = TypeVar("D")


class TagTree(Linked, kw_only=True, rename="camel"):
    system_id: int
    system_name: str
    display_name: str
    description: str = ""
    version: int = 0
    is_client_generated: bool = False


class TagTreeItem(Linked, kw_only=True, rename="camel"):
    """An item of a tree; business partners carry what is known about them."""

    display_name: str
    system_id: int
    system_name: str
    tag_tree: TagTree
    system_name_parent: str | None = None
    description: str | None = None
    address_city: str | None = None
    address_country: str | None = None
    address_street: str | None = None
    address_zip: str | None = None
    creditor_id: str | None = None
    group: str | None = None
    telephone: str | None = None
    website: str | None = None
    categories: list[str] = []


class Entity(Model, rename="camel"):
    """What a tag belongs to: a transaction or a user."""

    display_name: str
    entity_class: str
    id: str
    user_id: str | None = None


class Evidence(Model, rename={"is_decisive": "decisive"}):
    """What spoke for a tag."""

    kind: str
    text: str
    detail: str
    weight: float
    is_decisive: bool


class TagDetails(Model, rename={"confidence": "confidenceLevel"}):
    confidence: float
    evidence: list[Evidence] = []


class TagInstance(Linked, Generic[D], kw_only=True, rename={"item": "tagTreeItem"}):
    """Links an entity to an item of a tree."""

    id: str
    entity: Entity
    item: TagTreeItem
    details: D


class RuleConditions(
    Model, kw_only=True, omit_defaults=True, rename={"amount_from": "amountFrom", "amount_to": "amountTo"}
):
    """All that are given must hold. `sign` is `+` or `-`, `partner` a system name, `product` an id."""

    text: str | None = None
    partner: str | None = None
    amount_from: Decimal | None = None
    amount_to: Decimal | None = None
    sign: str | None = None
    product: str | None = None


class TaggingRule(
    Linked,
    kw_only=True,
    rename={
        "item": "tagTreeItem",
        "iban": "counterpartyIban",
        "name": "counterpartyName",
        "label": "name",
        "is_active": "active",
    },
):
    """`iban` and `name` are those of the counterparty, `label` is the name of the rule."""

    id: str
    item: TagTreeItem
    iban: str = ""
    name: str = ""
    conditions: RuleConditions | None = None
    label: str = ""
    is_active: bool = True


class TenantMerchant(
    Linked,
    kw_only=True,
    rename={"item": "tagTreeItem", "confidence": "confidenceLevel", "answered_at": "answeredAt"},
):
    """A merchant that the tagger does not know. `item` and `confidence` are there where they count for tags."""

    id: str
    merchant: str
    status: str
    item: TagTreeItem | None = None
    confidence: float | None = None
    model: str | None = None
    answered_at: datetime | None = None
