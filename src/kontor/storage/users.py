"""Users of a tenant. Every query names the tenant: a user is never found by its id alone."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import errors, sql

from kontor.domain.errors import ConflictError
from kontor.domain.tenants import User
from kontor.storage.database import Connection, fetch_row
from kontor.storage.distribution import DELETED_WITH_USER

COLUMNS = "id, tenant_id, username, is_active, pseudonym, created_at"
DELETE_DISTRIBUTED = [
    sql.SQL("delete from {} where user_id = %s").format(sql.Identifier(table)) for table in DELETED_WITH_USER
]
FIND_USER = f"select {COLUMNS} from users where tenant_id = $1 and id = $2"
UNCHANGED = "from users where tenant_id = %s and id = %s and password_hash = %s and is_active"
HOLD_PASSWORD = f"select 1 {UNCHANGED} for share"
HOLD_PASSWORD_ALONE = f"select 1 {UNCHANGED} for no key update"


def _user(row: Sequence[Any]) -> User:
    return User(*row)


async def insert_user(
    connection: Connection,
    user: User,
    password_hash: str,
    first_name: str | None,
    last_name: str | None,
    data_key: bytes,
    wrapping_key_id: UUID,
) -> None:
    try:
        await connection.execute(
            "insert into users (id, tenant_id, username, password_hash, first_name, last_name, is_active, pseudonym,"
            " data_key, wrapping_key_id, created_at) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                user.id,
                user.tenant_id,
                user.username,
                password_hash,
                first_name,
                last_name,
                user.is_active,
                user.pseudonym,
                data_key,
                wrapping_key_id,
                user.created_at,
            ],
        )
    except errors.UniqueViolation:
        raise ConflictError("This username is taken.") from None


async def find_user(connection: Connection, tenant_id: UUID, user_id: UUID) -> User | None:
    row = await fetch_row(connection, FIND_USER, [tenant_id, user_id])
    return None if row is None else _user(row)


async def find_user_login(connection: Connection, tenant_id: UUID, username: str) -> tuple[User, str] | None:
    """A user with the hash of the password."""
    cursor = await connection.execute(
        f"select password_hash, {COLUMNS} from users where tenant_id = %s and username = %s", [tenant_id, username]
    )
    row = await cursor.fetchone()
    return None if row is None else (_user(row[1:]), row[0])


async def list_users(connection: Connection, tenant_id: UUID, *, include_inactive: bool) -> list[User]:
    cursor = await connection.execute(
        f"select {COLUMNS} from users where tenant_id = %s and (is_active or %s) order by created_at, id",
        [tenant_id, include_inactive],
    )
    return [_user(row) for row in await cursor.fetchall()]


async def rename_user(connection: Connection, tenant_id: UUID, user_id: UUID, username: str) -> None:
    try:
        await connection.execute(
            "update users set username = %s where tenant_id = %s and id = %s", [username, tenant_id, user_id]
        )
    except errors.UniqueViolation:
        raise ConflictError("This username is taken.") from None


async def update_names(
    connection: Connection, tenant_id: UUID, user_id: UUID, first_name: str | None, last_name: str | None
) -> None:
    await connection.execute(
        "update users set first_name = coalesce(%s, first_name), last_name = coalesce(%s, last_name)"
        " where tenant_id = %s and id = %s",
        [first_name, last_name, tenant_id, user_id],
    )


async def update_password(connection: Connection, tenant_id: UUID, user_id: UUID, password_hash: str) -> None:
    await connection.execute(
        "update users set password_hash = %s where tenant_id = %s and id = %s", [password_hash, tenant_id, user_id]
    )


async def hold_password(
    connection: Connection, tenant_id: UUID, user_id: UUID, password_hash: str, *, for_change: bool = False
) -> bool:
    """Is the user active, with this password? If so, both stay until the transaction ends. Logins share the lock."""
    query = HOLD_PASSWORD_ALONE if for_change else HOLD_PASSWORD
    cursor = await connection.execute(query, [tenant_id, user_id, password_hash])
    return await cursor.fetchone() is not None


async def set_active(connection: Connection, tenant_id: UUID, user_id: UUID, *, is_active: bool) -> None:
    await connection.execute(
        "update users set is_active = %s where tenant_id = %s and id = %s", [is_active, tenant_id, user_id]
    )


async def lock_accesses(connection: Connection, user_id: UUID) -> None:
    """Before a user is deleted: whoever writes for one of its accesses holds the access first, and is waited for."""
    query = 'select 1 from accesses where user_id = %s order by id collate "C" for update'
    await connection.execute(query, [user_id])


async def delete_user(connection: Connection, tenant_id: UUID, user_id: UUID) -> None:
    """Everything that belongs to the user goes with the row, the data key first of all."""
    # On a cluster no cascade leads to distributed tables. The row is held first: whoever writes for the user holds it.
    await connection.execute("select 1 from users where tenant_id = %s and id = %s for update", [tenant_id, user_id])
    for statement in DELETE_DISTRIBUTED:
        await connection.execute(statement, [user_id])
    await connection.execute("delete from users where tenant_id = %s and id = %s", [tenant_id, user_id])


async def is_active(connection: Connection, user_id: UUID) -> bool:
    """For background work, which has no tenant at hand."""
    cursor = await connection.execute("select is_active from users where id = %s", [user_id])
    row = await cursor.fetchone()
    return row is not None and bool(row[0])
