"""Tag trees and their items, in both spellings of their address."""

from typing import Any

from kontor.analysis.trees import CUSTOM_CATEGORIES, CUSTOM_ID, Item, Tree, find_item, find_tree, list_items
from kontor.analysis.trees import TREES as ALL_TREES
from kontor.api.answers import Answer, json_answer
from kontor.api.customer_v2.own_trees import read_own_tree
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.errors import NotFoundError
from kontor.domain.scopes import CUSTOMER_READ
from kontor.wire.tags import TagTree, TagTreeItem, show_item, show_tree

TREES = "/tags/v1/tag-trees"
OTHER_TREES = "/tags/v1/tags/tag-trees"
TREE = "/{tree-id}"
ITEMS = TREE + "/tag-tree-items"
ITEM = ITEMS + "/{item-id}"
READ: dict[str, Any] = {"tag": "Tags", "security": Security.ANY_TOKEN, "scope": CUSTOMER_READ}


async def _find_tree(call: Call) -> Tree:
    """By its number or its system name. The tree of own categories is there where it has items."""
    key = call.path("tree-id")
    tree = await read_own_tree(call) if key in (CUSTOM_CATEGORIES, str(CUSTOM_ID)) else find_tree(key)
    if tree is None or (tree.system_id == CUSTOM_ID and not tree.items):
        raise NotFoundError
    return tree


def _find_item(call: Call, tree: Tree) -> Item:
    item = find_item(tree, call.path("item-id"))
    if item is None:
        raise NotFoundError
    return item


@operation("GET", TREES, other_paths=(OTHER_TREES,), success=Success(shape=list[TagTree]), **READ)
async def list_tag_trees(call: Call) -> Answer:
    """List the tag trees.

    Each tree holds the values of one kind of tag. That of own categories is listed where there are any.
    """
    own_tree = await read_own_tree(call)
    trees = [*ALL_TREES.values(), own_tree] if own_tree.items else ALL_TREES.values()
    return json_answer([show_tree(tree, call.urls) for tree in trees])


@operation(
    "GET", TREES + TREE, other_paths=(OTHER_TREES + TREE,), success=Success(shape=TagTree), errors=(404,), **READ
)
async def read_tag_tree(call: Call) -> Answer:
    """Read one tag tree.

    A tree is named by its number or its system name.
    """
    return json_answer(show_tree(await _find_tree(call), call.urls))


@operation(
    "GET",
    TREES + ITEMS,
    other_paths=(OTHER_TREES + ITEMS,),
    success=Success(shape=list[TagTreeItem]),
    errors=(404,),
    **READ,
)
async def list_tag_tree_items(call: Call) -> Answer:
    """List the items of a tag tree.

    The tree of business partners has more than ten thousand items.
    """
    tree = await _find_tree(call)
    return json_answer([show_item(tree, item, call.urls) for item in list_items(tree)])


@operation(
    "GET", TREES + ITEM, other_paths=(OTHER_TREES + ITEM,), success=Success(shape=TagTreeItem), errors=(404,), **READ
)
async def read_tag_tree_item(call: Call) -> Answer:
    """Read one item of a tag tree.

    An item is named by its number or its system name.
    """
    tree = await _find_tree(call)
    return json_answer(show_item(tree, _find_item(call, tree), call.urls))
