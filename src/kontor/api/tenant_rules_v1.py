"""A tenant's tagging rules and categories, for all its users. Calls are bound to the tenant of the client's token."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from kontor.analysis.trees import Tree, make_own_tree
from kontor.api.answers import Answer, created, empty_answer, json_answer
from kontor.api.customer_v2.own_categories import read_system_id
from kontor.api.customer_v2.tagging import read_rule
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.own_categories import OwnCategory
from kontor.domain.scopes import RULES_MANAGE
from kontor.domain.tagging_rules import TaggingRule
from kontor.wire.own_categories import NewCategory, show_own_item
from kontor.wire.tagging_rules import AiConnectRule, NewRule, show_rule
from kontor.wire.tags import TagTreeItem

TENANT = "/auth/mgmt/v1/tenants/{tenant-name}"
RULES = TENANT + "/tagging-rules"
RULE = RULES + "/{rule-id}"
CATEGORIES = TENANT + "/categories"
CATEGORY = CATEGORIES + "/{system-id}"
MANAGE: dict[str, Any] = {
    "tag": "Management",
    "security": Security.CLIENT_TOKEN,
    "scope": RULES_MANAGE,
    "errors": (404,),
}


async def _require_tenant(call: Call) -> str:
    """404 for any other tenant than the token's."""
    tenant = await call.services.tenants.read_tenant(call.principal, call.path("tenant-name"))
    return tenant.name


async def _read_tree(call: Call) -> Tree:
    return make_own_tree(await call.services.tenant_rules.list_categories(call.principal))


# Rules


async def _find_rule(call: Call) -> TaggingRule:
    await _require_tenant(call)
    return await call.services.tenant_rules.read_rule(call.principal, call.path_uuid("rule-id"))


@operation("GET", RULES, success=Success(shape=list[AiConnectRule]), **MANAGE)
async def list_tenant_rules(call: Call) -> Answer:
    """List the tenant's tagging rules.

    They decide for transactions of all its users where no rule of the user does.
    """
    tenant = await _require_tenant(call)
    rules, tree = await call.services.tenant_rules.list_rules(call.principal), await _read_tree(call)
    return json_answer([show_rule(rule, call.urls.tenant_rule(tenant, rule.id), tree) for rule in rules])


@operation("POST", RULES, body=NewRule, success=Success(201, headers={"Location": "the rule"}), **MANAGE)
async def add_tenant_rule(call: Call) -> Answer:
    """Add a tagging rule for all users of the tenant.

    As a user's rule, without `product`. Stored transactions are tagged anew in the background.
    """
    tenant = await _require_tenant(call)
    body = await call.json(NewRule)
    rule = await call.services.tenant_rules.add_rule(call.principal, read_rule(body, uuid4()))
    return created(call.urls.tenant_rule(tenant, rule.id))


@operation("GET", RULE, success=Success(shape=AiConnectRule), **MANAGE)
async def read_tenant_rule(call: Call) -> Answer:
    """Read one tagging rule of the tenant.

    It names the category, the counterparty and the conditions.
    """
    rule = await _find_rule(call)
    address = call.urls.tenant_rule(call.path("tenant-name"), rule.id)
    return json_answer(show_rule(rule, address, await _read_tree(call)))


@operation("PUT", RULE, body=NewRule, success=Success(description="changed"), **MANAGE)
async def change_tenant_rule(call: Call) -> Answer:
    """Change a tagging rule of the tenant; what is left out is reset.

    Stored transactions are tagged anew in the background.
    """
    rule = await _find_rule(call)
    body = await call.json(NewRule)
    await call.services.tenant_rules.change_rule(call.principal, read_rule(body, rule.id))
    return empty_answer()


@operation("DELETE", RULE, success=Success(description="deleted"), **MANAGE)
async def delete_tenant_rule(call: Call) -> Answer:
    """Delete a tagging rule of the tenant.

    What it has tagged is tagged anew in the background.
    """
    rule = await _find_rule(call)
    await call.services.tenant_rules.delete_rule(call.principal, rule.id)
    return empty_answer()


# Categories


async def _find_category(call: Call) -> OwnCategory:
    await _require_tenant(call)
    return await call.services.tenant_rules.read_category(call.principal, read_system_id(call))


@operation("GET", CATEGORIES, success=Success(shape=list[TagTreeItem]), **MANAGE)
async def list_tenant_categories(call: Call) -> Answer:
    """List the tenant's categories.

    All its users can use them.
    """
    tenant, tree = await _require_tenant(call), await _read_tree(call)
    return json_answer(
        [show_own_item(tree, item, call.urls.tenant_category(tenant, item.system_id)) for item in tree.items.values()]
    )


@operation("POST", CATEGORIES, body=NewCategory, success=Success(201, headers={"Location": "the category"}), **MANAGE)
async def add_tenant_category(call: Call) -> Answer:
    """Add a category for all users of the tenant.

    It is an item of their tree CUSTOM_CATEGORIES.
    """
    tenant = await _require_tenant(call)
    body = await call.json(NewCategory)
    category = await call.services.tenant_rules.add_category(
        call.principal, body.displayName, body.basis, body.description or ""
    )
    return created(call.urls.tenant_category(tenant, category.system_id))


@operation("GET", CATEGORY, success=Success(shape=TagTreeItem), **MANAGE)
async def read_tenant_category(call: Call) -> Answer:
    """Read one category of the tenant.

    Its `systemNameParent` is the category that it is based on.
    """
    category = await _find_category(call)
    tree = make_own_tree([category])
    address = call.urls.tenant_category(call.path("tenant-name"), category.system_id)
    return json_answer(show_own_item(tree, tree.items[category.system_name], address))


@operation("PUT", CATEGORY, body=NewCategory, success=Success(description="changed"), **MANAGE)
async def change_tenant_category(call: Call) -> Answer:
    """Change a category of the tenant.

    Names change at once. Transactions follow another `basis` in the background.
    """
    known = await _find_category(call)
    body = await call.json(NewCategory)
    changed = replace(known, name=body.displayName, basis=body.basis, description=body.description or "")
    await call.services.tenant_rules.change_category(call.principal, changed)
    return empty_answer()


@operation("DELETE", CATEGORY, success=Success(description="deleted"), **MANAGE)
async def delete_tenant_category(call: Call) -> Answer:
    """Delete a category of the tenant.

    Transactions and rules that have it keep its `basis`.
    """
    category = await _find_category(call)
    await call.services.tenant_rules.delete_category(call.principal, category.system_id)
    return empty_answer()
