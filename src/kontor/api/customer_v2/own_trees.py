"""The tree of own categories as the caller sees it."""

from dataclasses import replace
from hashlib import sha256

from kontor.analysis.trees import CUSTOM_CATEGORIES, Tree, make_own_tree
from kontor.api.operations import Call
from kontor.wire.encoding import encode_json
from kontor.wire.tag_views import TagView


async def read_own_tree(call: Call) -> Tree:
    return make_own_tree(await call.services.own_categories.list_categories(call.principal))


async def add_own_tree(call: Call, view: TagView | None) -> TagView | None:
    """A view of own categories needs to know them."""
    if view is None or view.tree != CUSTOM_CATEGORIES:
        return view
    return replace(view, own_tree=await read_own_tree(call))


def name_state(tree: Tree) -> str:
    """Differs when an item does: names of own categories can change while the transactions stay the same."""
    items = [
        (item.system_id, item.system_name, item.parent, item.name, item.description) for item in tree.items.values()
    ]
    return f" {sha256(encode_json(items)).hexdigest()[:16]}"
