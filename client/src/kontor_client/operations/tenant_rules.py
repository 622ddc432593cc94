"""Rules and categories of a tenant for all its users, for a client with the scope auth/tenants/rules/manage."""

from kontor_client.models.tags import RuleConditions, TaggingRule, TagTreeItem
from kontor_client.operations.management import tenant_path
from kontor_client.operations.own_categories import describe_category
from kontor_client.operations.tags import describe_rule
from kontor_client.plans import Call, Plan, fetch, send

RULES, CATEGORIES = "tagging-rules", "categories"


def list_tenant_rules(tenant: str) -> Plan[list[TaggingRule]]:
    return fetch(list[TaggingRule], tenant_path(tenant, RULES))


def add_tenant_rule(
    tenant: str,
    category: str,
    *,
    iban: str | None = None,
    name: str | None = None,
    conditions: RuleConditions | None = None,
    label: str | None = None,
) -> Plan[TaggingRule]:
    """As `add_tagging_rule`, for all users of the tenant. Their own rules win."""
    body = describe_rule(category, iban, name, conditions, label)
    answer = yield from send(Call("POST", tenant_path(tenant, RULES), json=body))
    return (yield from fetch(TaggingRule, answer.headers["location"]))


def read_tenant_rule(tenant: str, rule_id: str) -> Plan[TaggingRule]:
    return fetch(TaggingRule, tenant_path(tenant, RULES, rule_id))


def change_tenant_rule(
    tenant: str,
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
    yield from send(Call("PUT", tenant_path(tenant, RULES, rule_id), json=body, is_repeatable=True))


def delete_tenant_rule(tenant: str, rule_id: str) -> Plan[None]:
    yield from send(Call("DELETE", tenant_path(tenant, RULES, rule_id)))


def list_tenant_categories(tenant: str) -> Plan[list[TagTreeItem]]:
    return fetch(list[TagTreeItem], tenant_path(tenant, CATEGORIES))


def add_tenant_category(tenant: str, name: str, basis: str, description: str | None = None) -> Plan[TagTreeItem]:
    """A category for all users of the tenant; `basis` is the system name of a category."""
    body = describe_category(name, basis, description)
    answer = yield from send(Call("POST", tenant_path(tenant, CATEGORIES), json=body))
    return (yield from fetch(TagTreeItem, answer.headers["location"]))


def read_tenant_category(tenant: str, system_id: int) -> Plan[TagTreeItem]:
    return fetch(TagTreeItem, tenant_path(tenant, CATEGORIES, system_id))


def change_tenant_category(
    tenant: str, system_id: int, name: str, basis: str, description: str | None = None
) -> Plan[None]:
    body = describe_category(name, basis, description)
    yield from send(Call("PUT", tenant_path(tenant, CATEGORIES, system_id), json=body, is_repeatable=True))


def delete_tenant_category(tenant: str, system_id: int) -> Plan[None]:
    """Transactions that have it keep its basis."""
    yield from send(Call("DELETE", tenant_path(tenant, CATEGORIES, system_id)))
