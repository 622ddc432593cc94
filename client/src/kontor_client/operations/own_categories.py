"""Own categories: names of the user for transactions, over a category of the service."""

from typing import Any

from kontor_client.models.tags import TagTreeItem
from kontor_client.plans import Call, Plan, fetch, path_of, send

CATEGORIES = "/customer/v2/ai/categories"


def list_own_categories() -> Plan[list[TagTreeItem]]:
    """Those of the user, and those that the tenant has made for all its users."""
    return fetch(list[TagTreeItem], CATEGORIES)


def read_own_category(system_id: int) -> Plan[TagTreeItem]:
    return fetch(TagTreeItem, CATEGORIES + path_of(system_id))


def add_own_category(name: str, basis: str, description: str | None = None) -> Plan[TagTreeItem]:
    """`basis` is the system name of a category, which all analyses see."""
    answer = yield from send(Call("POST", CATEGORIES, json=describe_category(name, basis, description)))
    return (yield from fetch(TagTreeItem, answer.headers["location"]))


def change_own_category(system_id: int, name: str, basis: str, description: str | None = None) -> Plan[None]:
    body = describe_category(name, basis, description)
    yield from send(Call("PUT", CATEGORIES + path_of(system_id), json=body, is_repeatable=True))


def delete_own_category(system_id: int) -> Plan[None]:
    """Transactions that have it keep its basis."""
    yield from send(Call("DELETE", CATEGORIES + path_of(system_id)))


def describe_category(name: str, basis: str, description: str | None) -> dict[str, Any]:
    return {"displayName": name, "basis": basis} | ({"description": description} if description else {})
