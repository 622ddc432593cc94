"""Users' tagging rules, and the transactions whose tags a rule may change."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from kontor.domain.json_fields import JsonField
from kontor.domain.tagging_rules import RuleConditions, Sign, TaggingRule
from kontor.storage.database import Connection, fetch_rows, stream_rows
from kontor.storage.json_rows import object_expression
from kontor.storage.tags import ROW_COLUMNS, TAG_COLUMNS, TaggedRow, make_row

LIST = """
    select id, category, counterparty_iban, counterparty_name, conditions, label, is_active, is_for_all,
        own_category
    from tagging_rules where user_id = %s order by created_at, id
"""


async def list_rules(connection: Connection, user_id: UUID) -> list[TaggingRule]:
    """In order of age, the oldest first."""
    cursor = await connection.execute(LIST, [user_id])
    return [_read_rule(row) for row in await cursor.fetchall()]


async def insert_rule(connection: Connection, user_id: UUID, rule: TaggingRule) -> None:
    await connection.execute(
        "insert into tagging_rules (user_id, id, category, counterparty_iban, counterparty_name, conditions, label,"
        " is_active, is_for_all, own_category, iban_key, name_key, created_at)"
        " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, '', %s, clock_timestamp())",
        [user_id, rule.id, *_values(rule), str(rule.id)],
    )


async def update_rule(connection: Connection, user_id: UUID, rule: TaggingRule) -> None:
    """The rule keeps its age."""
    await connection.execute(
        "update tagging_rules set category = %s, counterparty_iban = %s, counterparty_name = %s, conditions = %s,"
        " label = %s, is_active = %s, is_for_all = %s, own_category = %s, iban_key = '', name_key = %s"
        " where user_id = %s and id = %s",
        [*_values(rule), str(rule.id), user_id, rule.id],
    )


async def delete_rules(connection: Connection, user_id: UUID, rule_ids: Sequence[UUID]) -> None:
    await connection.execute("delete from tagging_rules where user_id = %s and id = any(%s)", [user_id, list(rule_ids)])


def _values(rule: TaggingRule) -> tuple[object, ...]:
    """Columns of a rule that programs without conditions apply correctly hold its counterparty, else `conditions`."""
    is_plain = rule.is_active and not rule.conditions.count and not rule.own_category
    iban, name = (rule.counterparty_iban, rule.counterparty_name) if is_plain else ("", "")
    conditions = None if is_plain else Jsonb(write_conditions(rule))
    return rule.category, iban, name, conditions, rule.name, rule.is_active, rule.is_for_all, rule.own_category


def write_conditions(rule: TaggingRule) -> dict[str, str]:
    conditions = rule.conditions
    given = {
        "counterparty_iban": rule.counterparty_iban,
        "counterparty_name": rule.counterparty_name,
        "text": conditions.text,
        "partner": conditions.partner,
        "amount_from": conditions.amount_from,
        "amount_to": conditions.amount_to,
        "sign": conditions.sign,
        "product_id": conditions.product_id,
    }
    return {key: str(value) for key, value in given.items() if value is not None and value != ""}


def _read_rule(row: Sequence[Any]) -> TaggingRule:
    rule_id, category, iban, name, given, label, is_active, is_for_all, own_category = row
    given = given or {"counterparty_iban": iban, "counterparty_name": name}
    return make_rule(rule_id, category, given, label, is_active, is_for_all, own_category)


def make_rule(
    rule_id: UUID, category: str, given: Mapping[str, str], label: str, is_active: bool, is_for_all: bool, own: str
) -> TaggingRule:
    """From conditions as `write_conditions` writes them."""
    conditions = RuleConditions(
        text=given.get("text", ""),
        partner=given.get("partner", ""),
        amount_from=Decimal(given["amount_from"]) if "amount_from" in given else None,
        amount_to=Decimal(given["amount_to"]) if "amount_to" in given else None,
        sign=Sign(given["sign"]) if "sign" in given else None,
        product_id=UUID(given["product_id"]) if "product_id" in given else None,
    )
    iban, name = given.get("counterparty_iban", ""), given.get("counterparty_name", "")
    return TaggingRule(rule_id, category, iban, name, conditions, label, is_active, is_for_all, own)


# Transactions of rules

AFFECTED = f"""
    select t.product_id, t.id, {ROW_COLUMNS}, {TAG_COLUMNS}
    from transaction_tags g join lateral (
        select * from transactions
        where user_id = %(user)s and product_id = g.product_id and id = g.transaction_id limit 1
    ) t on true
    where g.user_id = %(user)s and g.source <> 'USER' and (
        g.source = 'RULE' and (g.rule_id = any(%(rules)s) or g.rule_id is null)
        or %(is_searched)s and (g.product_id = %(product)s or %(product)s::uuid is null)
            and (abs(t.amount) >= %(from)s or %(from)s::numeric is null)
            and (abs(t.amount) <= %(to)s or %(to)s::numeric is null)
    )
"""


async def list_affected(
    connection: Connection, user_id: UUID, rule_ids: Sequence[UUID], rule: TaggingRule | None
) -> list[TaggedRow]:
    """Transactions that these rules have decided, or an earlier program by a rule, and those that `rule` may fit.

    Not those whose category the user has set.
    """
    conditions = RuleConditions() if rule is None else rule.conditions
    cursor = await connection.execute(
        AFFECTED,
        {
            "user": user_id,
            "rules": list(rule_ids),
            "is_searched": rule is not None,
            "product": conditions.product_id,
            "from": conditions.amount_from,
            "to": conditions.amount_to,
        },
    )
    return [make_row(row) async for row in stream_rows(cursor)]


EXAMPLES = """
    select {} from (
        select t.*, p.access_id from transactions t join products p on p.user_id = t.user_id and p.id = t.product_id
        where t.user_id = $1 and t.product_id = any($2) and t.id = any($3)
        order by t.booked_on desc, t.product_id desc, t.ordinal desc limit $4
    ) page order by booked_on desc, product_id desc, ordinal desc
"""


@lru_cache(maxsize=4)
def _examples_query(fields: tuple[JsonField, ...]) -> str:
    return sql.SQL(EXAMPLES).format(object_expression(fields)).as_string()


async def list_examples(
    connection: Connection, user_id: UUID, rows: Sequence[TaggedRow], fields: tuple[JsonField, ...], limit: int
) -> list[str]:
    """The JSON objects of the newest of these transactions."""
    product_ids = list({row.product_id for row in rows})
    values = [user_id, product_ids, [row.id for row in rows], limit]
    return [row[0] for row in await fetch_rows(connection, _examples_query(fields), values)]
