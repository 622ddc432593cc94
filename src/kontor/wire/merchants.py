"""What a tenant knows of merchants."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.trees import CATEGORIES
from kontor.domain.merchants import Merchant, MerchantState, find_confidence
from kontor.wire.relations import Relation
from kontor.wire.tags import Confidence, ItemInput, TagTreeItem, name_item, show_item

KNOWN = (MerchantState.SUGGESTED, MerchantState.APPROVED)


class TenantMerchant(msgspec.Struct):
    """A merchant that the tagger does not know. `tagTreeItem` and `confidenceLevel` are there where they count."""

    id: str
    merchant: Annotated[str, Meta(description="words of its name, in lower case, without numbers")]
    status: Annotated[MerchantState, Meta(description="OPEN: not asked yet; UNANSWERED: the model named no category")]
    relations: list[Relation]
    tagTreeItem: TagTreeItem | UnsetType = UNSET  # noqa: N815
    confidenceLevel: Confidence | UnsetType = UNSET  # noqa: N815
    model: Annotated[str, Meta(description="the model that was asked")] | UnsetType = UNSET
    answeredAt: datetime | UnsetType = UNSET  # noqa: N815


class MerchantChange(msgspec.Struct):
    """`tagTreeItem` is for APPROVED alone; without it the category stays that the model has named."""

    status: Literal["APPROVED", "REJECTED"]
    tagTreeItem: ItemInput | None = None  # noqa: N815


def show_merchant(merchant: Merchant, address: str) -> TenantMerchant:
    shown = TenantMerchant(
        id=str(merchant.id), merchant=merchant.merchant, status=merchant.state, relations=[Relation("self", address)]
    )
    if merchant.category is not None and merchant.state in KNOWN:
        shown.tagTreeItem = show_item(*name_item(CATEGORIES, merchant.category))
        shown.confidenceLevel = find_confidence(merchant.state)
    if merchant.model is not None:
        shown.model = merchant.model
    if merchant.answered_at is not None:
        shown.answeredAt = merchant.answered_at
    return shown
