"""Rules and categories of a tenant, for all its users. A change takes effect in the background, user by user."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID

from kontor.domain.errors import InvalidError
from kontor.domain.own_categories import MAX_CATEGORIES, OwnCategory, leave_basis, make_category
from kontor.domain.principals import Principal
from kontor.domain.tagging_rules import MAX_RULES, TaggingRule
from kontor.services.analyses.own_categories import clean_category, find_category
from kontor.services.analyses.rules import clean_rule, find_rule, list_replaced
from kontor.services.security import auditing
from kontor.storage import queue, tenant_rules
from kontor.storage.database import Connection, Database


class TenantRules:
    """Every call is bound to the tenant of the principal."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Rules

    async def list_rules(self, principal: Principal) -> list[TaggingRule]:
        async with self._database.connect() as connection:
            return await tenant_rules.list_rules(connection, principal.tenant_id)

    async def read_rule(self, principal: Principal, rule_id: UUID) -> TaggingRule:
        return find_rule(await self.list_rules(principal), rule_id)

    async def add_rule(self, principal: Principal, rule: TaggingRule) -> TaggingRule:
        """A rule for the same counterparty is replaced."""
        tenant_id = principal.tenant_id
        async with self._change(principal) as connection:
            rule = await _clean_rule(connection, tenant_id, rule)
            rules = await tenant_rules.list_rules(connection, tenant_id)
            replaced = list_replaced(rules, rule)
            if replaced:
                rule = replace(rule, id=replaced[-1])
                await tenant_rules.update_rule(connection, tenant_id, rule)
            elif len(rules) >= MAX_RULES:
                raise InvalidError(f"a tenant can have at most {MAX_RULES} rules")
            else:
                await tenant_rules.insert_rule(connection, tenant_id, rule)
            await _record(connection, principal, "tagging-rule.add", f"rule {rule.id}")
        return rule

    async def change_rule(self, principal: Principal, rule: TaggingRule) -> None:
        tenant_id = principal.tenant_id
        async with self._change(principal) as connection:
            find_rule(await tenant_rules.list_rules(connection, tenant_id), rule.id)
            rule = await _clean_rule(connection, tenant_id, rule)
            await tenant_rules.update_rule(connection, tenant_id, rule)
            await _record(connection, principal, "tagging-rule.change", f"rule {rule.id}")

    async def delete_rule(self, principal: Principal, rule_id: UUID) -> None:
        tenant_id = principal.tenant_id
        async with self._change(principal) as connection:
            find_rule(await tenant_rules.list_rules(connection, tenant_id), rule_id)
            await tenant_rules.delete_rule(connection, tenant_id, rule_id)
            await _record(connection, principal, "tagging-rule.delete", f"rule {rule_id}")

    # Categories

    async def list_categories(self, principal: Principal) -> list[OwnCategory]:
        async with self._database.connect() as connection:
            return await tenant_rules.list_categories(connection, principal.tenant_id)

    async def read_category(self, principal: Principal, system_id: int) -> OwnCategory:
        return find_category(await self.list_categories(principal), system_id)

    async def add_category(self, principal: Principal, name: str, basis: str, description: str) -> OwnCategory:
        category, tenant_id = make_category(name, basis, description, is_tenants=True), principal.tenant_id
        category = clean_category(category)
        async with self._change(principal) as connection:
            if len(await tenant_rules.list_categories(connection, tenant_id)) >= MAX_CATEGORIES:
                raise InvalidError(f"a tenant can have at most {MAX_CATEGORIES} categories")
            await tenant_rules.insert_category(connection, tenant_id, category)
            await _record(connection, principal, "category.add", f"category {category.system_name}")
        return category

    async def change_category(self, principal: Principal, category: OwnCategory) -> None:
        category, tenant_id = clean_category(category), principal.tenant_id
        async with self._change(principal) as connection:
            find_category(await tenant_rules.list_categories(connection, tenant_id), category.system_id)
            await tenant_rules.update_category(connection, tenant_id, category)
            await _follow(connection, tenant_id, category.system_name, category.basis, category.system_name)
            await _record(connection, principal, "category.change", f"category {category.system_name}")

    async def delete_category(self, principal: Principal, system_id: int) -> None:
        tenant_id = principal.tenant_id
        async with self._change(principal) as connection:
            category = find_category(await tenant_rules.list_categories(connection, tenant_id), system_id)
            await tenant_rules.delete_category(connection, tenant_id, system_id)
            await _follow(connection, tenant_id, category.system_name, leave_basis(category.basis), "")
            await _record(connection, principal, "category.delete", f"category {category.system_name}")

    @asynccontextmanager
    async def _change(self, principal: Principal) -> AsyncIterator[Connection]:
        """One transaction: the change, a new version of the rules, and the job that finds users of another version."""
        async with self._database.transaction() as connection:
            await tenant_rules.increment_rules_version(connection, principal.tenant_id)
            yield connection
            await queue.enqueue_retag_tenant(connection, principal.tenant_id)


async def _clean_rule(connection: Connection, tenant_id: UUID, rule: TaggingRule) -> TaggingRule:
    if rule.conditions.product_id is not None:
        raise InvalidError("a tenant's rule cannot name a product", "conditions.product")
    categories = await tenant_rules.list_categories(connection, tenant_id)
    return clean_rule(rule, {category.system_name: category for category in categories})


async def _follow(connection: Connection, tenant_id: UUID, system_name: str, basis: str, own_category: str) -> None:
    """The tenant's rules that name a category which is another now. Those of users follow when they are retagged."""
    for rule in await tenant_rules.list_rules(connection, tenant_id):
        if rule.own_category == system_name:
            changed = replace(rule, category=basis, own_category=own_category)
            await tenant_rules.update_rule(connection, tenant_id, changed)


async def _record(connection: Connection, principal: Principal, action: str, subject: str) -> None:
    await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), action, subject)
