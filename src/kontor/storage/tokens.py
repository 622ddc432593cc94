"""Access tokens and API keys, stored as hashes."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kontor.domain.principals import Principal
from kontor.storage.assistant_grants import delete_user_grants
from kontor.storage.database import Connection, fetch_row


@dataclass(frozen=True, slots=True)
class StoredToken:
    hash: bytes
    tenant_id: UUID
    client_id: UUID
    user_id: UUID | None
    scopes: tuple[str, ...]
    issued_at: datetime
    expires_at: datetime
    key_thumbprint: bytes | None = None


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: UUID
    client_username: str
    username: str
    description: str | None
    created_at: datetime


# Deactivating a user or revoking a token takes effect with the next request of any process: nothing is cached.
OF_PRINCIPAL = """
    k.tenant_id, t.name, t.is_regulated, k.client_id, c.name, k.scopes, k.user_id, u.pseudonym, c.may_collect,
    k.key_thumbprint
"""
BY_HASH = """
    from access_tokens k
    join tenants t on t.id = k.tenant_id
    join clients c on c.id = k.client_id
    left join users u on u.id = k.user_id
    where k.hash = $1 and k.expires_at > now() and (k.user_id is null or u.is_active)
"""


FIND_PRINCIPAL = f"select {OF_PRINCIPAL} {BY_HASH}"
# Nobody's token binds to nobody.
BIND_PRINCIPAL = f"""
    with found as materialized (select {OF_PRINCIPAL.replace("c.name", "c.name as client")} {BY_HASH}),
    bound as materialized (
        select set_config('kontor.user_id', coalesce((select user_id::text from found), ''), false))
    select found.* from bound left join found on true
"""


async def bind_principal(connection: Connection, token_hash: bytes) -> tuple[Principal | None, UUID | None]:
    """Whose token it is, with the user that the connection is bound to from now on."""
    row = await fetch_row(connection, BIND_PRINCIPAL, [token_hash])
    if row is None or row[0] is None:
        return None, None
    tenant_id, tenant_name, is_regulated, client_id, client_name, scopes, user_id, *rest = row
    principal = Principal(
        tenant_id, tenant_name, is_regulated, client_id, client_name, frozenset(scopes), user_id, *rest
    )
    return principal, user_id


async def insert_token(connection: Connection, token: StoredToken) -> None:
    await connection.execute(
        "insert into access_tokens (hash, tenant_id, client_id, user_id, scopes, issued_at, expires_at, key_thumbprint)"
        " values (%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            token.hash,
            token.tenant_id,
            token.client_id,
            token.user_id,
            list(token.scopes),
            token.issued_at,
            token.expires_at,
            token.key_thumbprint,
        ],
    )


async def find_token(connection: Connection, tenant_id: UUID, token_hash: bytes) -> StoredToken | None:
    """A valid token of the tenant."""
    cursor = await connection.execute(
        "select k.hash, k.tenant_id, k.client_id, k.user_id, k.scopes, k.issued_at, k.expires_at,"
        " k.key_thumbprint from access_tokens k left join users u on u.id = k.user_id"
        " where k.tenant_id = %s and k.hash = %s and k.expires_at > now() and (k.user_id is null or u.is_active)",
        [tenant_id, token_hash],
    )
    row = await cursor.fetchone()
    return None if row is None else StoredToken(row[0], row[1], row[2], row[3], tuple(row[4]), *row[5:])


async def list_user_tokens(connection: Connection, tenant_id: UUID, user_id: UUID) -> list[tuple[StoredToken, str]]:
    """Valid tokens with the names of their clients, the newest first."""
    cursor = await connection.execute(
        "select c.name, k.hash, k.tenant_id, k.client_id, k.user_id, k.scopes, k.issued_at, k.expires_at,"
        " k.key_thumbprint from access_tokens k join clients c on c.id = k.client_id"
        " where k.tenant_id = %s and k.user_id = %s and k.expires_at > now() order by k.issued_at desc, k.hash",
        [tenant_id, user_id],
    )
    return [
        (StoredToken(row[1], row[2], row[3], row[4], tuple(row[5]), *row[6:]), row[0])
        for row in await cursor.fetchall()
    ]


async def delete_token(connection: Connection, tenant_id: UUID, token_hash: bytes) -> bool:
    cursor = await connection.execute(
        "delete from access_tokens where tenant_id = %s and hash = %s", [tenant_id, token_hash]
    )
    return cursor.rowcount > 0


async def delete_user_tokens(connection: Connection, tenant_id: UUID, user_id: UUID) -> int:
    """With what the user has granted to assistants, so that they renew nothing."""
    await delete_user_grants(connection, tenant_id, user_id)
    cursor = await connection.execute(
        "delete from access_tokens where tenant_id = %s and user_id = %s", [tenant_id, user_id]
    )
    return cursor.rowcount


async def delete_unbound_tokens(connection: Connection, client_id: UUID) -> int:
    cursor = await connection.execute(
        "delete from access_tokens where client_id = %s and key_thumbprint is null", [client_id]
    )
    return cursor.rowcount


async def delete_expired_tokens(connection: Connection, batch: int) -> int:
    cursor = await connection.execute(
        "delete from access_tokens where hash in (select hash from access_tokens where expires_at < now() limit %s)",
        [batch],
    )
    return cursor.rowcount


# API keys


async def insert_api_key(
    connection: Connection, key_id: UUID, key_hash: bytes, client_id: UUID, user_id: UUID, description: str | None
) -> None:
    await connection.execute(
        "insert into api_keys (id, hash, client_id, user_id, description) values (%s, %s, %s, %s, %s)",
        [key_id, key_hash, client_id, user_id, description],
    )


async def find_api_key(connection: Connection, key_hash: bytes) -> tuple[UUID, UUID, str, str] | None:
    """The active user behind a key: (user id, client id, tenant name, client name)."""
    cursor = await connection.execute(
        "select u.id, c.id, t.name, c.name from api_keys a join clients c on c.id = a.client_id"
        " join tenants t on t.id = c.tenant_id join users u on u.id = a.user_id where a.hash = %s and u.is_active",
        [key_hash],
    )
    row = await cursor.fetchone()
    return None if row is None else (row[0], row[1], row[2], row[3])


async def list_api_keys(connection: Connection, tenant_id: UUID) -> list[ApiKey]:
    cursor = await connection.execute(
        "select a.id, t.name || '/' || c.name, u.username, a.description, a.created_at from api_keys a"
        " join clients c on c.id = a.client_id join tenants t on t.id = c.tenant_id join users u on u.id = a.user_id"
        " where c.tenant_id = %s order by a.created_at",
        [tenant_id],
    )
    return [ApiKey(*row) for row in await cursor.fetchall()]


async def delete_api_key(connection: Connection, tenant_id: UUID, key_id: UUID) -> bool:
    cursor = await connection.execute(
        "delete from api_keys a using clients c where c.id = a.client_id and c.tenant_id = %s and a.id = %s",
        [tenant_id, key_id],
    )
    return cursor.rowcount > 0
