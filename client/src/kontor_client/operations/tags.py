"""Tag trees, and what users say about tags."""

from typing import Any

from kontor_client.models.tags import RuleConditions, TaggingRule, TagTree, TagTreeItem
from kontor_client.models.transactions import RulePreview
from kontor_client.operations.accesses import access_path
from kontor_client.plans import Call, Plan, fetch, path_of, send

TREES = "/tags/v1/tag-trees"
RULES = "/customer/v2/ai/tagging-rules"


def list_tag_trees() -> Plan[list[TagTree]]:
    return fetch(list[TagTree], TREES)


def read_tag_tree(tree: str | int) -> Plan[TagTree]:
    """A tree, by its number or its system name."""
    return fetch(TagTree, TREES + path_of(tree))


def read_tag_tree_item(tree: str | int, item: str | int) -> Plan[TagTreeItem]:
    """An item, by its number or its system name."""
    return fetch(TagTreeItem, TREES + path_of(tree, "tag-tree-items", item))


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


def add_tagging_rule(
    category: str,
    *,
    iban: str | None = None,
    name: str | None = None,
    conditions: RuleConditions | None = None,
    label: str | None = None,
) -> Plan[TaggingRule]:
    """A rule for all transactions of this counterparty that fit the conditions.

    Without conditions it replaces one for the same counterparty.
    """
    answer = yield from send(Call("POST", RULES, json=describe_rule(category, iban, name, conditions, label)))
    return (yield from fetch(TaggingRule, answer.headers["location"]))


def read_tagging_rule(rule_id: str) -> Plan[TaggingRule]:
    return fetch(TaggingRule, RULES + path_of(rule_id))


def delete_tagging_rules() -> Plan[None]:
    """All rules of the user."""
    yield from send(Call("DELETE", RULES))


def change_tagging_rule(
    rule_id: str,
    category: str,
    *,
    iban: str | None = None,
    name: str | None = None,
    conditions: RuleConditions | None = None,
    label: str | None = None,
    is_active: bool = True,
) -> Plan[None]:
    """All of a rule; what is left out is reset."""
    body = describe_rule(category, iban, name, conditions, label) | {"active": is_active}
    yield from send(Call("PUT", RULES + path_of(rule_id), json=body, is_repeatable=True))


def preview_tagging_rule(
    category: str,
    *,
    iban: str | None = None,
    name: str | None = None,
    conditions: RuleConditions | None = None,
    rule_id: str | None = None,
) -> Plan[RulePreview]:
    """What such a rule would decide; with `rule_id`, what that rule would decide if it were changed."""
    body = describe_rule(category, iban, name, conditions, None) | ({"id": rule_id} if rule_id else {})
    answer = yield from send(Call("POST", RULES + "/preview", json=body, is_repeatable=True))
    return answer.decode(RulePreview)


def delete_tagging_rule(rule_id: str) -> Plan[None]:
    """What it has tagged gets the category that it has without the rule."""
    yield from send(Call("DELETE", RULES + path_of(rule_id)))


def describe_rule(
    category: str, iban: str | None, name: str | None, conditions: RuleConditions | None, label: str | None
) -> dict[str, Any]:
    given = {"counterpartyIban": iban, "counterpartyName": name, "conditions": conditions, "name": label}
    return {"tagTreeItem": {"systemName": category}} | {key: value for key, value in given.items() if value}
