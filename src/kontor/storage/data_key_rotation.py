"""Replacing the data keys of users (ADR 0082): first the key, then what is sealed with the one before, one by one.

Each step is a transaction of its own, and each can be the last one before the process is killed: as long as the key
before is kept, everything opens.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString
from uuid import UUID

from psycopg import errors, sql

from kontor.storage.database import Connection
from kontor.storage.keys import DataKey, SealingKey, wrap_data_key

# A transaction that has begun with the key before has ended by then, and what it has sealed is found.
KEPT_HOURS: Final = 24
OWN: Final = "t.access_id"
OF_PRODUCT: Final = "(select p.access_id from products p where p.user_id = %(user)s and p.id = t.product_id)"
OF_PAYMENT: Final = "coalesce(t.access_id, '')"


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """`access` and `what` are SQL: what a value is bound to, as the code that seals it says."""

    table: LiteralString
    name: LiteralString
    key: LiteralString = "id"
    access: LiteralString = OWN
    what: LiteralString = ""


# In the order of locks (`lock_order.py`), although no two rows are locked at a time.
SEALED_COLUMNS: Final = (
    SealedColumn("payments", "sealed", access=OF_PAYMENT, what="'payment ' || t.id"),
    SealedColumn("payments", "credentials", access=OF_PAYMENT, what="'payment ' || t.id || ' credentials'"),
    SealedColumn("accesses", "credentials", access="t.id", what="'credentials'"),
    SealedColumn("accesses", "memory", access="t.id", what="'memory'"),
    SealedColumn("permissions", "credentials", what="'credentials'"),
    SealedColumn("permissions", "memory", what="'memory'"),
    SealedColumn("dialogues", "sealed", what="'dialogue ' || t.id"),
    SealedColumn("fetches", "resume_state", what="'rest'"),
    SealedColumn("staged_fetches", "headers", key="access_id", what="'staged headers'"),
    SealedColumn("staged_fetches", "result", key="access_id", what="'staged result'"),
    SealedColumn("push_subscriptions", "sealed", access="t.id::text", what="'push'"),
    SealedColumn("account_statements", "content", access=OF_PRODUCT, what="'account statement'"),
)


@dataclass(frozen=True, slots=True)
class OldValue:
    column: SealedColumn
    key: UUID | str
    access_id: str
    what: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class OldKey:
    """A user's data key, wrapped."""

    user_id: UUID
    data_key: bytes
    wrapping_key_id: UUID


@dataclass(frozen=True, slots=True)
class WrappingKey:
    id: UUID
    key: SealingKey


# Keys

TAKE_USERS = """
    select u.id, u.data_key, u.wrapping_key_id from users u
    where u.tenant_id = %s and coalesce(u.data_key_at, u.created_at) < %s and u.previous_data_key is null
        and (%s::uuid is null or u.id > %s)
    order by u.id limit %s for no key update skip locked
"""
LIST_UNFINISHED = """
    select id from users where previous_data_key is not null and (%(after)s::uuid is null or id > %(after)s)
        and (%(tenant)s::uuid is null or tenant_id = %(tenant)s)
    order by id limit %(limit)s
"""


async def take_old_keys(
    connection: Connection, tenant_id: UUID, made_before: datetime, after: UUID | None, limit: int
) -> list[OldKey]:
    """Of users who have none before it. They stay locked until the transaction ends."""
    cursor = await connection.execute(TAKE_USERS, [tenant_id, made_before, after, after, limit])
    return [OldKey(*row) for row in await cursor.fetchall()]


async def replace_data_key(connection: Connection, user_id: UUID, key: DataKey, wrapping: WrappingKey) -> None:
    await connection.execute(
        "update users set data_key = %s, previous_data_key = %s, wrapping_key_id = %s, data_key_at = now()"
        " where id = %s",
        [*wrap_data_key(wrapping.key, user_id, key), wrapping.id, user_id],
    )


async def list_unfinished(connection: Connection, tenant_id: UUID | None, after: UUID | None, limit: int) -> list[UUID]:
    """Users for whom the key before is still kept; without a tenant, of all."""
    values = {"tenant": tenant_id, "after": after, "limit": limit}
    cursor = await connection.execute(LIST_UNFINISHED, values)
    return [row[0] for row in await cursor.fetchall()]


async def forget_previous_key(connection: Connection, user_id: UUID) -> bool:
    """Once nothing is sealed with it. False while a transaction may still have it in hand."""
    cursor = await connection.execute(
        "update users set previous_data_key = null where id = %s and data_key_at < now() - make_interval(hours => %s)",
        [user_id, KEPT_HOURS],
    )
    return cursor.rowcount > 0


# What is sealed


async def find_old_value(
    connection: Connection, column: SealedColumn, user_id: UUID, key_id: bytes, skipped: int
) -> OldValue | None:
    """The first that is sealed with another key than this one, after so many that are left alone."""
    values = {"user": user_id, "key": key_id, "skipped": skipped}
    row = await (await connection.execute(_find_statement(column), values)).fetchone()
    return None if row is None else OldValue(column, row[0], row[1], row[2], bytes(row[3]))


async def replace_value(connection: Connection, user_id: UUID, old: OldValue, sealed: bytes) -> None:
    """Unless it has changed meanwhile."""
    await connection.execute(_replace_statement(old.column), [sealed, user_id, old.key, old.sealed])


def _find_statement(column: SealedColumn) -> sql.Composed:
    return sql.SQL(
        "select t.{key}, {access}, {what}, t.{name} from {table} t where t.user_id = %(user)s"
        " and t.{name} is not null and substr(t.{name}, 2, 8) <> %(key)s order by t.{key} offset %(skipped)s limit 1"
    ).format(
        key=sql.Identifier(column.key),
        access=sql.SQL(column.access),
        what=sql.SQL(column.what),
        name=sql.Identifier(column.name),
        table=sql.Identifier(column.table),
    )


def _replace_statement(column: SealedColumn) -> sql.Composed:
    return sql.SQL("update {table} set {name} = %s where user_id = %s and {key} = %s and {name} = %s").format(
        table=sql.Identifier(column.table), name=sql.Identifier(column.name), key=sql.Identifier(column.key)
    )


async def replace_statement(connection: Connection, user_id: UUID, old: OldValue, sealed: bytes, digest: bytes) -> None:
    """A file, with its keyed hash. If it was fetched again meanwhile, the new hash is there already: this one goes."""
    try:
        await connection.execute(
            "update account_statements set content = %s, digest = %s where user_id = %s and id = %s and content = %s",
            [sealed, digest, user_id, old.key, old.sealed],
        )
    except errors.UniqueViolation:
        await connection.execute("delete from account_statements where user_id = %s and id = %s", [user_id, old.key])


# Wrapping keys

DELETE_UNUSED = """
    delete from tenant_keys k where k.tenant_id = %(tenant)s and k.kind = 'wrapping'
        and k.created_at < now() - make_interval(hours => %(hours)s)
        and exists (select 1 from tenant_keys n where n.tenant_id = k.tenant_id and n.kind = 'wrapping'
            and n.created_at > k.created_at and n.created_at < now() - make_interval(hours => %(hours)s))
        and not exists (select 1 from users u where u.wrapping_key_id = k.id)
        and not exists (select 1 from webhooks w where w.wrapping_key_id = k.id)
"""


async def is_wrapping_key_older(connection: Connection, tenant_id: UUID, made_before: datetime) -> bool:
    cursor = await connection.execute(
        "select max(created_at) < %s from tenant_keys where tenant_id = %s and kind = 'wrapping'",
        [made_before, tenant_id],
    )
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


async def list_old_secrets(connection: Connection, tenant_id: UUID, key_id: UUID) -> list[tuple[UUID, UUID, bytes]]:
    """Webhooks with secrets under another wrapping key, and that key."""
    cursor = await connection.execute(
        "select id, wrapping_key_id, secrets from webhooks where tenant_id = %s and wrapping_key_id <> %s order by id",
        [tenant_id, key_id],
    )
    return [(row[0], row[1], bytes(row[2])) for row in await cursor.fetchall()]


async def replace_secrets(connection: Connection, webhook_id: UUID, key_id: UUID, old: bytes, sealed: bytes) -> None:
    """Unless they have changed meanwhile."""
    await connection.execute(
        "update webhooks set wrapping_key_id = %s, secrets = %s where id = %s and secrets = %s",
        [key_id, sealed, webhook_id, old],
    )


async def delete_unused_wrapping_keys(connection: Connection, tenant_id: UUID) -> int:
    """Those that nothing has been wrapped with for a day."""
    cursor = await connection.execute(DELETE_UNUSED, {"tenant": tenant_id, "hours": KEPT_HOURS})
    return cursor.rowcount
