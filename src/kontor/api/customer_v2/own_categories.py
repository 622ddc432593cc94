"""Own categories of users."""

from dataclasses import replace
from typing import Any

from kontor.analysis.trees import find_item
from kontor.api.answers import Answer, created, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ, TAGS
from kontor.api.customer_v2.own_trees import read_own_tree
from kontor.api.operations import Call, Success, operation
from kontor.domain.errors import NotFoundError
from kontor.wire.own_categories import NewCategory, show_own_item
from kontor.wire.tags import TagTreeItem

CATEGORIES = CUSTOMER + "/ai/categories"
CATEGORY = CATEGORIES + "/{system-id}"
# Changes of categories tag transactions anew.
CHANGE: dict[str, Any] = TAGS | {"is_heavy": True}


def read_system_id(call: Call) -> int:
    """What is no number names no category."""
    text = call.path("system-id")
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise NotFoundError
    return int(text)


@operation("GET", CATEGORIES, success=Success(shape=list[TagTreeItem]), **READ)
async def list_own_categories(call: Call) -> Answer:
    """List the own categories that the user can use.

    Those of the user, and those that the tenant has made for all its users.
    """
    tree = await read_own_tree(call)
    return json_answer(
        [show_own_item(tree, item, call.urls.own_category(item.system_id)) for item in tree.items.values()]
    )


@operation("POST", CATEGORIES, body=NewCategory, success=Success(201, headers={"Location": "the category"}), **TAGS)
async def add_own_category(call: Call) -> Answer:
    """Add an own category over a category of the tree CATEGORIES.

    `tag=categories`, the sign rule and all analyses see `basis`; a main category stands for its `_OTHER`.
    """
    body = await call.json(NewCategory)
    category = await call.services.own_categories.add_category(
        call.principal, body.displayName, body.basis, body.description or ""
    )
    return created(call.urls.own_category(category.system_id))


@operation("GET", CATEGORY, success=Success(shape=TagTreeItem), errors=(404,), **READ)
async def read_own_category(call: Call) -> Answer:
    """Read one own category.

    It is an item of the tree CUSTOM_CATEGORIES.
    """
    tree = await read_own_tree(call)
    item = find_item(tree, read_system_id(call))
    if item is None:
        raise NotFoundError
    return json_answer(show_own_item(tree, item, call.urls.own_category(item.system_id)))


@operation("PUT", CATEGORY, body=NewCategory, success=Success(description="changed"), errors=(404,), **CHANGE)
async def change_own_category(call: Call) -> Answer:
    """Change an own category of the user.

    Transactions that have it follow its `basis`. A category of the tenant is not found here.
    """
    known = await call.services.own_categories.require_own(call.principal, read_system_id(call))
    body = await call.json(NewCategory)
    changed = replace(known, name=body.displayName, basis=body.basis, description=body.description or "")
    await call.services.own_categories.change_category(call.principal, changed)
    return empty_answer()


@operation("DELETE", CATEGORY, success=Success(description="deleted"), errors=(404,), **CHANGE)
async def delete_own_category(call: Call) -> Answer:
    """Delete an own category of the user.

    Transactions and rules that have it keep its `basis`.
    """
    await call.services.own_categories.delete_category(call.principal, read_system_id(call))
    return empty_answer()
