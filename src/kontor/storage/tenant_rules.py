"""Tagging rules and categories that tenants make for all their users."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from kontor.domain.own_categories import OwnCategory
from kontor.domain.tagging_rules import TaggingRule
from kontor.storage.database import Connection
from kontor.storage.own_categories import CATEGORY_COLUMNS
from kontor.storage.tagging_rules import make_rule, write_conditions

RULE_COLUMNS = "id, category, conditions, label, is_active, own_category"
USERS_TENANT = "(select tenant_id from users where id = %s)"


async def increment_rules_version(connection: Connection, tenant_id: UUID) -> None:
    """Before rules or categories are changed: others wait, and the tags of all users are out of date."""
    await connection.execute("update tenants set rules_version = rules_version + 1 where id = %s", [tenant_id])


# Rules


async def list_rules(connection: Connection, tenant_id: UUID) -> list[TaggingRule]:
    """In order of age, the oldest first."""
    cursor = await connection.execute(
        f"select {RULE_COLUMNS} from tenant_rules where tenant_id = %s order by created_at, id", [tenant_id]
    )
    return [_rule(row) for row in await cursor.fetchall()]


async def list_users_rules(connection: Connection, user_id: UUID) -> list[TaggingRule]:
    """Those of the user's tenant."""
    cursor = await connection.execute(
        f"select {RULE_COLUMNS} from tenant_rules where tenant_id = {USERS_TENANT} order by created_at, id", [user_id]
    )
    return [_rule(row) for row in await cursor.fetchall()]


def _rule(row: Sequence[Any]) -> TaggingRule:
    rule_id, category, conditions, label, is_active, own_category = row
    return make_rule(rule_id, category, conditions, label, is_active, True, own_category)


async def insert_rule(connection: Connection, tenant_id: UUID, rule: TaggingRule) -> None:
    await connection.execute(
        f"insert into tenant_rules (tenant_id, {RULE_COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s)",
        [
            tenant_id,
            rule.id,
            rule.category,
            Jsonb(write_conditions(rule)),
            rule.name,
            rule.is_active,
            rule.own_category,
        ],
    )


async def update_rule(connection: Connection, tenant_id: UUID, rule: TaggingRule) -> None:
    """The rule keeps its age."""
    await connection.execute(
        "update tenant_rules set category = %s, conditions = %s, label = %s, is_active = %s, own_category = %s"
        " where tenant_id = %s and id = %s",
        [
            rule.category,
            Jsonb(write_conditions(rule)),
            rule.name,
            rule.is_active,
            rule.own_category,
            tenant_id,
            rule.id,
        ],
    )


async def delete_rule(connection: Connection, tenant_id: UUID, rule_id: UUID) -> None:
    await connection.execute("delete from tenant_rules where tenant_id = %s and id = %s", [tenant_id, rule_id])


# Categories


async def list_categories(connection: Connection, tenant_id: UUID) -> list[OwnCategory]:
    cursor = await connection.execute(
        f"select {CATEGORY_COLUMNS} from tenant_categories where tenant_id = %s order by created_at, system_id",
        [tenant_id],
    )
    return [OwnCategory(*row) for row in await cursor.fetchall()]


async def list_users_categories(connection: Connection, user_id: UUID) -> list[OwnCategory]:
    """Those of the user's tenant."""
    cursor = await connection.execute(
        f"select {CATEGORY_COLUMNS} from tenant_categories where tenant_id = {USERS_TENANT}"
        " order by created_at, system_id",
        [user_id],
    )
    return [OwnCategory(*row) for row in await cursor.fetchall()]


async def insert_category(connection: Connection, tenant_id: UUID, category: OwnCategory) -> None:
    await connection.execute(
        f"insert into tenant_categories (tenant_id, {CATEGORY_COLUMNS}) values (%s, %s, %s, %s, %s, %s)",
        [
            tenant_id,
            category.system_id,
            category.system_name,
            category.name,
            category.basis,
            category.description,
        ],
    )


async def update_category(connection: Connection, tenant_id: UUID, category: OwnCategory) -> None:
    await connection.execute(
        "update tenant_categories set display_name = %s, basis = %s, description = %s"
        " where tenant_id = %s and system_id = %s",
        [category.name, category.basis, category.description, tenant_id, category.system_id],
    )


async def delete_category(connection: Connection, tenant_id: UUID, system_id: int) -> None:
    await connection.execute(
        "delete from tenant_categories where tenant_id = %s and system_id = %s", [tenant_id, system_id]
    )
