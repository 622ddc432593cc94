"""Own categories: items of the tree CUSTOM_CATEGORIES, as users and tenants make them."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.analysis.trees import Item, Tree
from kontor.wire.relations import Relation
from kontor.wire.tags import TagTreeItem, show_item


class NewCategory(msgspec.Struct):
    displayName: Annotated[str, Meta(min_length=1, max_length=100)]  # noqa: N815
    basis: Annotated[
        str, Meta(max_length=64, description="system name of a category, which becomes `systemNameParent`")
    ]
    description: Annotated[str, Meta(max_length=1000)] | None = None


def show_own_item(tree: Tree, item: Item, address: str) -> TagTreeItem:
    shown = show_item(tree, item)
    shown.relations = [Relation("self", address)]
    return shown
