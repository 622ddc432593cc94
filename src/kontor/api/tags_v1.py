"""Tag trees and their items, in both spellings of their address."""

from typing import Any

from kontor.analysis.trees import TREES as ALL_TREES
from kontor.analysis.trees import Item, Tree, find_item, find_tree, list_items
from kontor.api.answers import Answer, json_answer
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


def _find_tree(call: Call) -> Tree:
    """By its number or its system name."""
    tree = find_tree(call.path("tree-id"))
    if tree is None:
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

    Each tree holds the values of one kind of tag.
    """
    return json_answer([show_tree(tree, call.urls) for tree in ALL_TREES.values()])


@operation(
    "GET", TREES + TREE, other_paths=(OTHER_TREES + TREE,), success=Success(shape=TagTree), errors=(404,), **READ
)
async def read_tag_tree(call: Call) -> Answer:
    """Read one tag tree.

    A tree is named by its number or its system name.
    """
    return json_answer(show_tree(_find_tree(call), call.urls))


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
    tree = _find_tree(call)
    return json_answer([show_item(tree, item, call.urls) for item in list_items(tree)])


@operation(
    "GET", TREES + ITEM, other_paths=(OTHER_TREES + ITEM,), success=Success(shape=TagTreeItem), errors=(404,), **READ
)
async def read_tag_tree_item(call: Call) -> Answer:
    """Read one item of a tag tree.

    An item is named by its number or its system name.
    """
    tree = _find_tree(call)
    return json_answer(show_item(tree, _find_item(call, tree), call.urls))
