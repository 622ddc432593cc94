"""One row of each of two users in every table with customer data: the same keys, other contents."""

import re
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import psycopg
from psycopg import sql

from kontor.storage.row_policies import PROTECTED

# What `id` is called by the tables that refer to it, so that rows fit together.
NAMES = {
    "accesses": "access_id", "products": "product_id", "transactions": "transaction_id", "fetches": "fetch_id",
    "payments": "payment_id", "transaction_edits": "edit_id", "tagging_rules": "rule_id",
}  # fmt: skip
LEFT_EMPTY = {"form_session_id", "batch_id", "finished_at", "used_at", "refresh_pause", "edited_version", "failure"}
UNIQUE = {"endpoint_digest"}  # among all users
COLUMNS = """
    select a.attname, format_type(a.atttypid, a.atttypmod), exists (
        select 1 from pg_index i where i.indrelid = a.attrelid and i.indisprimary and a.attnum = any(i.indkey)),
        (select string_agg(pg_get_constraintdef(c.oid), ' ') from pg_constraint c
            where c.conrelid = a.attrelid and c.contype = 'c' and a.attnum = any(c.conkey))
    from pg_attribute a where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum
"""
PLAIN: dict[str, Any] = {
    "boolean": True, "jsonb": "[]", "bytea": b"\x01", "date": "2026-11-01", "text[]": "{a}",
}  # fmt: skip


def fill_tables(owner: psycopg.Connection[Any], users: tuple[UUID, UUID]) -> None:
    """Without the checks of foreign keys: what else belongs to the rows does not matter here."""
    owner.execute("set session_replication_role = replica")
    for table in PROTECTED:
        for user_id in users:
            _insert(owner, table, user_id, is_foreign=user_id != users[0])
    owner.execute("set session_replication_role = origin")


def _insert(owner: psycopg.Connection[Any], table: str, user_id: UUID, *, is_foreign: bool) -> None:
    columns = owner.execute(COLUMNS, [table]).fetchall()
    is_by_user = any(name == "user_id" and is_key for name, _, is_key, _ in columns)
    values = {}
    for name, type_name, is_key, checks in columns:
        if name == "user_id":
            values[name] = user_id
        elif is_key or name not in LEFT_EMPTY:
            is_marked = is_foreign and not (is_key and is_by_user) and not name.endswith("_id")
            values[name] = make_value(table, name, type_name, checks, is_marked=is_marked)
    statement = sql.SQL("insert into {} ({}) overriding system value values ({})").format(
        sql.Identifier(table),
        sql.SQL(", ").join(map(sql.Identifier, values)),
        sql.SQL(", ").join(sql.Placeholder() * len(values)),
    )
    owner.execute(statement, list(values.values()))


def make_value(table: str, name: str, type_name: str, checks: str | None, *, is_marked: bool) -> Any:
    """`is_marked`: of the other user, so that a result shows whose row it is."""
    common = NAMES.get(table, f"{table} id") if name == "id" else name
    if type_name == "uuid":
        return uuid5(NAMESPACE_OID, f"{common}{' foreign' * is_marked}")
    if choice := re.search(rf"{name} = ANY \(ARRAY\['([^']+)'", checks or ""):
        return choice[1]
    if type_name.endswith("[]"):
        return PLAIN.get(type_name, "{}")
    if type_name.startswith("timestamp"):
        return "2999-01-01T00:00:00Z" if "expires" in name else f"2026-11-0{1 + is_marked}T12:00:00Z"
    if type_name.startswith(("integer", "bigint", "smallint", "numeric", "real", "double")):
        return 2 if is_marked else 1
    if type_name == "text":
        return f"{common}{' foreign' * is_marked}"
    if name in UNIQUE and is_marked:
        return b"\x02"
    return PLAIN.get(type_name, "1")
