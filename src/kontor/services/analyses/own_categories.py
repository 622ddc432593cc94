"""Categories that users make. Transactions and rules that have one follow its basis, and keep it when it is deleted."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from kontor.analysis.trees import CATEGORIES, TREES
from kontor.domain.cleaning import clean_text
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.own_categories import MAX_CATEGORIES, OwnCategory, leave_basis, make_category
from kontor.domain.principals import Principal, user_of
from kontor.services.analyses.decisions import read_categories, store_bases_of_parts
from kontor.services.analyses.rules import list_affected
from kontor.services.analyses.tagging import PreparedTags, TransactionTagging, read_own_accounts
from kontor.services.security import auditing
from kontor.storage import own_categories, tagging_rules, tags, tenant_rules
from kontor.storage.database import Connection, Database

# Sums of others are no categories.
_AGGREGATES = ("NET", "EXPENSES")
_BASES = frozenset(TREES[CATEGORIES].items).difference(_AGGREGATES)


class OwnCategories:
    def __init__(self, database: Database, tagging: TransactionTagging) -> None:
        self._database = database
        self._tagging = tagging

    async def list_categories(self, principal: Principal) -> list[OwnCategory]:
        """All that the caller can see."""
        async with self._database.connect(principal.user_id) as connection:
            if not principal.is_user:
                return await tenant_rules.list_categories(connection, principal.tenant_id)
            return list((await read_categories(connection, user_of(principal))).values())

    async def require_own(self, principal: Principal, system_id: int) -> OwnCategory:
        """One that the user can change."""
        async with self._database.connect(principal.user_id) as connection:
            return find_category(await own_categories.list_categories(connection, user_of(principal)), system_id)

    async def add_category(self, principal: Principal, name: str, basis: str, description: str) -> OwnCategory:
        category = clean_category(make_category(name, basis, description))
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await self._tagging.lock(connection, user_id)
            if len(await own_categories.list_categories(connection, user_id)) >= MAX_CATEGORIES:
                raise InvalidError(f"a user can have at most {MAX_CATEGORIES} own categories")
            await own_categories.insert_category(connection, user_id, category)
            await _record(connection, principal, "category.add", category)
        return category

    async def change_category(self, principal: Principal, category: OwnCategory) -> None:
        """Its name, description and basis. Transactions that have it get the new basis as their category."""
        category, user_id = clean_category(category), user_of(principal)
        prepared = await self._prepare(principal, category.system_id)
        async with self._database.transaction(principal.user_id) as connection:
            await self._tagging.lock(connection, user_id)
            before = find_category(await own_categories.list_categories(connection, user_id), category.system_id)
            await own_categories.update_category(connection, user_id, category)
            if before.basis != category.basis:
                await self._follow(connection, user_id, before, category.basis, category.system_name, prepared)
            await _record(connection, principal, "category.change", category)

    async def delete_category(self, principal: Principal, system_id: int) -> None:
        """Transactions and rules keep the basis."""
        user_id = user_of(principal)
        prepared = await self._prepare(principal, system_id)
        async with self._database.transaction(principal.user_id) as connection:
            await self._tagging.lock(connection, user_id)
            category = find_category(await own_categories.list_categories(connection, user_id), system_id)
            await own_categories.delete_category(connection, user_id, system_id)
            await self._follow(connection, user_id, category, leave_basis(category.basis), "", prepared)
            await _record(connection, principal, "category.delete", category)

    async def _prepare(self, principal: Principal, system_id: int) -> PreparedTags:
        """What the tagger says about the transactions that have this category, before anything is locked."""
        user_id = user_of(principal)
        await self._tagging.ensure_tagged(principal)
        async with self._database.connect(principal.user_id) as connection:
            category = find_category(await own_categories.list_categories(connection, user_id), system_id)
            own = await read_own_accounts(connection, user_id)
            rows = await own_categories.list_tagged(connection, user_id, category.system_name)
        return await self._tagging.prepare(user_id, own, (row.transaction for row in rows))

    async def _follow(
        self,
        connection: Connection,
        user_id: UUID,
        before: OwnCategory,
        basis: str,
        own_category: str,
        prepared: PreparedTags,
    ) -> None:
        """Parts and rules that name the category, then the transactions that have it or get it by a rule."""
        await store_bases_of_parts(connection, user_id, await read_categories(connection, user_id))
        rows = await own_categories.list_tagged(connection, user_id, before.system_name)
        for rule in await tagging_rules.list_rules(connection, user_id):
            if rule.own_category == before.system_name:
                changed = replace(rule, category=basis, own_category=own_category)
                await tagging_rules.update_rule(connection, user_id, changed)
                rows += await list_affected(connection, user_id, [rule.id], changed)
        version = await self._tagging.find_version(connection, user_id)
        own = await read_own_accounts(connection, user_id)
        affected = list({row.id: row for row in rows}.values())
        decided = await self._tagging.decide(connection, user_id, affected, own, prepared)
        changed_tags = [(row, found) for row, found in decided if found != row.tags]
        await tags.update_tags(connection, user_id, version, changed_tags)


def clean_category(category: OwnCategory) -> OwnCategory:
    name, description = clean_text(category.name).strip(), clean_text(category.description).strip()
    if not name:
        raise InvalidError("expected a name", "displayName")
    if category.basis not in _BASES:
        raise InvalidError("is no system name of a category", "basis")
    return replace(category, name=name, description=description)


def find_category(categories: Sequence[OwnCategory], system_id: int) -> OwnCategory:
    category = next((category for category in categories if category.system_id == system_id), None)
    if category is None:
        raise NotFoundError
    return category


async def _record(connection: Connection, principal: Principal, action: str, category: OwnCategory) -> None:
    subject = f"user {principal.user_pseudonym} category {category.system_name}"
    await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), action, subject)
