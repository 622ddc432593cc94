"""What users have granted to assistants: codes, refresh tokens, and the access tokens issued with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from kontor.storage.database import Connection


@dataclass(frozen=True, slots=True)
class AssistantGrant:
    id: UUID
    tenant_id: UUID
    client_id: UUID
    user_id: UUID
    scopes: tuple[str, ...]
    redirect_address: str
    challenge: str
    code_expires_at: datetime
    code_used_at: datetime | None
    created_at: datetime
    expires_at: datetime


COLUMNS = (
    "g.id, g.tenant_id, g.client_id, g.user_id, g.scopes, g.redirect_address, g.challenge, g.code_expires_at,"
    " g.code_used_at, g.created_at, g.expires_at"
)


def _grant(row: Sequence[Any]) -> AssistantGrant:
    id_, tenant_id, client_id, user_id, scopes, *rest = row
    return AssistantGrant(id_, tenant_id, client_id, user_id, tuple(scopes), *rest)


async def insert_grant(connection: Connection, grant: AssistantGrant, code_hash: bytes) -> None:
    await connection.execute(
        "insert into assistant_grants (id, tenant_id, client_id, user_id, scopes, redirect_address, challenge,"
        " code_expires_at, code_used_at, created_at, expires_at, code_hash)"
        " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            grant.id, grant.tenant_id, grant.client_id, grant.user_id, list(grant.scopes), grant.redirect_address,
            grant.challenge, grant.code_expires_at, grant.code_used_at, grant.created_at, grant.expires_at, code_hash,
        ],
    )  # fmt: skip


async def lock_by_code(connection: Connection, code_hash: bytes) -> AssistantGrant | None:
    cursor = await connection.execute(
        f"select {COLUMNS} from assistant_grants g where g.code_hash = %s for update", [code_hash]
    )
    row = await cursor.fetchone()
    return None if row is None else _grant(row)


async def lock_by_refresh_token(connection: Connection, token_hash: bytes) -> tuple[AssistantGrant, bool] | None:
    """The grant, and whether the token has been used. Expired ones belong to no grant."""
    cursor = await connection.execute(
        f"select {COLUMNS} from assistant_grants g where g.expires_at > now()"
        " and g.id = (select grant_id from refresh_tokens where hash = %s) for update",
        [token_hash],
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    # Looked at after the lock: another process may have used it meanwhile.
    cursor = await connection.execute("select used_at from refresh_tokens where hash = %s", [token_hash])
    found = await cursor.fetchone()
    return None if found is None else (_grant(row), found[0] is not None)


async def use_code(connection: Connection, grant_id: UUID, used_at: datetime) -> None:
    await connection.execute("update assistant_grants set code_used_at = %s where id = %s", [used_at, grant_id])


async def use_refresh_token(connection: Connection, token_hash: bytes) -> None:
    """The access token that was issued with it ends, too."""
    await connection.execute(
        "delete from access_tokens where hash = (select access_hash from refresh_tokens where hash = %s)", [token_hash]
    )
    await connection.execute("update refresh_tokens set used_at = now() where hash = %s", [token_hash])


async def insert_refresh_token(
    connection: Connection, grant_id: UUID, token_hash: bytes, access_hash: bytes, issued_at: datetime, ends: datetime
) -> None:
    await connection.execute(
        "insert into refresh_tokens (hash, grant_id, access_hash, issued_at) values (%s, %s, %s, %s)",
        [token_hash, grant_id, access_hash, issued_at],
    )
    await connection.execute("update assistant_grants set expires_at = %s where id = %s", [ends, grant_id])


async def find_by_token(connection: Connection, client_id: UUID, token_hash: bytes) -> UUID | None:
    """The grant of a refresh token or access token that belongs to the client."""
    cursor = await connection.execute(
        "select g.id from refresh_tokens r join assistant_grants g on g.id = r.grant_id"
        " where (r.hash = %(hash)s or r.access_hash = %(hash)s) and g.client_id = %(client)s",
        {"hash": token_hash, "client": client_id},
    )
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def list_user_grants(connection: Connection, tenant_id: UUID, user_id: UUID) -> list[tuple[AssistantGrant, str]]:
    """With the names of their clients, the newest first. Codes that were never used are none."""
    cursor = await connection.execute(
        f"select {COLUMNS}, c.name from assistant_grants g join clients c on c.id = g.client_id"
        " where g.tenant_id = %s and g.user_id = %s and g.expires_at > now() and g.code_used_at is not null"
        " order by g.created_at desc, g.id",
        [tenant_id, user_id],
    )
    return [(_grant(row[:-1]), row[-1]) for row in await cursor.fetchall()]


async def list_access_hashes(connection: Connection, user_id: UUID) -> dict[bytes, UUID]:
    """Of access tokens that were issued by grants of the user."""
    cursor = await connection.execute(
        "select r.access_hash, r.grant_id from refresh_tokens r join assistant_grants g on g.id = r.grant_id"
        " where g.user_id = %s",
        [user_id],
    )
    return {bytes(row[0]): row[1] for row in await cursor.fetchall()}


async def delete_grant(connection: Connection, grant_id: UUID) -> None:
    await connection.execute(
        "delete from access_tokens where hash in (select access_hash from refresh_tokens where grant_id = %s)",
        [grant_id],
    )
    await connection.execute("delete from assistant_grants where id = %s", [grant_id])


async def delete_user_grants(connection: Connection, tenant_id: UUID, user_id: UUID) -> None:
    """Their access tokens end with all others of the user."""
    await connection.execute("delete from assistant_grants where tenant_id = %s and user_id = %s", [tenant_id, user_id])


async def delete_expired_grants(connection: Connection, batch: int) -> int:
    cursor = await connection.execute(
        "delete from assistant_grants where id in (select id from assistant_grants where expires_at < now() limit %s)",
        [batch],
    )
    return cursor.rowcount


async def list_tenant_scopes(connection: Connection, tenant_id: UUID, user_id: UUID) -> list[str]:
    """The union of the scopes of the user's roles at all clients of the tenant."""
    cursor = await connection.execute(
        "select distinct unnest(r.granted_scopes) from role_users ru join roles r on r.id = ru.role_id"
        " join clients c on c.id = r.client_id where ru.user_id = %s and c.tenant_id = %s",
        [user_id, tenant_id],
    )
    return [row[0] for row in await cursor.fetchall()]
