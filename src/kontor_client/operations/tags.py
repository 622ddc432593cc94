"""Tag trees, and what users say about tags."""

from typing import Any

from kontor_client.models.tags import TaggingRule, TagTree, TagTreeItem
from kontor_client.operations.accesses import access_path
from kontor_client.plans import Call, Plan, fetch, path_of, send

TREES = "/tags/v1/tag-trees"
RULES = "/customer/v2/ai/tagging-rules"


def list_tag_trees() -> Plan[list[TagTree]]:
    return fetch(list[TagTree], TREES)


def list_tag_tree_items(tree: str | int) -> Plan[list[TagTreeItem]]:
    """The items of a tree, by its number or its system name."""
    return fetch(list[TagTreeItem], TREES + path_of(tree, "tag-tree-items"))


def correct_category(
    access_id: str,
    product_id: str,
    transaction_id: str,
    category: str,
    *,
    change_existing: bool = False,
    create_rule: bool = False,
) -> Plan[None]:
    """Correct a transaction's category, by its system name.

    Also that of existing transactions of the same counterparty, and of all to come, if wanted.
    """
    path = access_path(access_id, product_id, "kontoumsaetze", transaction_id)
    params = {"changeExisting": change_existing, "createRule": create_rule}
    yield from send(Call("PUT", path, params, {"tags": {"systemName": category}}, is_repeatable=True))


def list_tagging_rules() -> Plan[list[TaggingRule]]:
    return fetch(list[TaggingRule], RULES)


def add_tagging_rule(category: str, *, iban: str | None = None, name: str | None = None) -> Plan[TaggingRule]:
    """A rule for all transactions of this counterparty; it replaces one for the same."""
    body: dict[str, Any] = {"tagTreeItem": {"systemName": category}}
    body |= {"counterpartyIban": iban} if iban else {}
    body |= {"counterpartyName": name} if name else {}
    answer = yield from send(Call("POST", RULES, json=body))
    return (yield from fetch(TaggingRule, answer.headers["location"]))


def delete_tagging_rule(rule_id: str) -> Plan[None]:
    """What it has tagged gets the category that it has without the rule."""
    yield from send(Call("DELETE", RULES + path_of(rule_id)))
