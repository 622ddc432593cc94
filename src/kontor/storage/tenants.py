"""Tenants, clients and roles."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import errors

from kontor.domain.errors import ConflictError
from kontor.domain.tenants import Client, ClientKind, Grant, Role, Tenant
from kontor.storage.database import Connection

TENANT_COLUMNS = (
    "id, name, is_regulated, description, allowed_scopes, callback_bases, is_any_callback_allowed,"
    " min_password_length, payment_retention_days, learns_from_corrections, asks_model"
)
CLIENT_COLUMNS = (
    "c.id, c.tenant_id, t.name, c.name, c.kind, c.granted_scopes, c.grants, c.description, c.may_collect,"
    " c.requires_dpop, c.redirect_addresses"
)
ROLE_COLUMNS = "r.id, r.name, r.is_default, r.granted_scopes, r.description"


def _tenant(row: Sequence[Any]) -> Tenant:
    id_, name, is_regulated, description, scopes, bases, *rest = row
    return Tenant(id_, name, is_regulated, description, tuple(scopes), tuple(bases), *rest)


def _client(row: Sequence[Any]) -> Client:
    id_, tenant_id, tenant_name, name, kind, scopes, grants, description, may_collect, requires_dpop, addresses = row
    return Client(
        id_, tenant_id, tenant_name, name, ClientKind(kind), tuple(scopes), tuple(Grant(grant) for grant in grants),
        description, may_collect, requires_dpop, tuple(addresses),
    )  # fmt: skip


def _role(row: Sequence[Any]) -> Role:
    id_, name, is_default, scopes, description = row
    return Role(id_, name, is_default, tuple(scopes), description)


# Tenants


async def insert_tenant(connection: Connection, tenant: Tenant) -> None:
    try:
        await connection.execute(
            f"insert into tenants ({TENANT_COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                tenant.id,
                tenant.name,
                tenant.is_regulated,
                tenant.description,
                list(tenant.allowed_scopes),
                list(tenant.callback_bases),
                tenant.is_any_callback_allowed,
                tenant.min_password_length,
                tenant.payment_retention_days,
                tenant.learns_from_corrections,
                tenant.asks_model,
            ],
        )
    except errors.UniqueViolation:
        raise ConflictError(f"There is a tenant named {tenant.name} already.") from None


async def update_tenant(connection: Connection, tenant: Tenant) -> None:
    await connection.execute(
        "update tenants set description = %s, allowed_scopes = %s, callback_bases = %s, is_any_callback_allowed = %s,"
        " min_password_length = %s, payment_retention_days = %s, learns_from_corrections = %s, asks_model = %s"
        " where id = %s",
        [
            tenant.description,
            list(tenant.allowed_scopes),
            list(tenant.callback_bases),
            tenant.is_any_callback_allowed,
            tenant.min_password_length,
            tenant.payment_retention_days,
            tenant.learns_from_corrections,
            tenant.asks_model,
            tenant.id,
        ],
    )


async def find_tenant(connection: Connection, name: str) -> Tenant | None:
    cursor = await connection.execute(f"select {TENANT_COLUMNS} from tenants where name = %s", [name])
    row = await cursor.fetchone()
    return None if row is None else _tenant(row)


async def list_tenants(connection: Connection) -> list[Tenant]:
    cursor = await connection.execute(f"select {TENANT_COLUMNS} from tenants order by name")
    return [_tenant(row) for row in await cursor.fetchall()]


# Clients


async def insert_client(connection: Connection, client: Client, secret_hash: bytes) -> None:
    try:
        await connection.execute(
            "insert into clients (id, tenant_id, name, kind, description, secret_hash, granted_scopes, grants,"
            " may_collect, requires_dpop, redirect_addresses) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                client.id,
                client.tenant_id,
                client.name,
                client.kind,
                client.description,
                secret_hash,
                list(client.granted_scopes),
                [str(grant) for grant in client.grants],
                client.may_collect,
                client.requires_dpop,
                list(client.redirect_addresses),
            ],
        )
    except errors.UniqueViolation:
        raise ConflictError(f"There is a client {client.username} already.") from None


async def update_client_secret(connection: Connection, client_id: UUID, secret_hash: bytes) -> None:
    await connection.execute("update clients set secret_hash = %s where id = %s", [secret_hash, client_id])


async def update_requires_dpop(connection: Connection, client_id: UUID, requires_dpop: bool) -> None:
    await connection.execute("update clients set requires_dpop = %s where id = %s", [requires_dpop, client_id])


async def delete_client(connection: Connection, client_id: UUID) -> None:
    await connection.execute("delete from clients where id = %s", [client_id])


async def find_client(connection: Connection, tenant_name: str, name: str) -> Client | None:
    cursor = await connection.execute(
        f"select {CLIENT_COLUMNS} from clients c join tenants t on t.id = c.tenant_id"
        " where t.name = %s and c.name = %s",
        [tenant_name, name],
    )
    row = await cursor.fetchone()
    return None if row is None else _client(row)


async def find_client_login(connection: Connection, tenant_name: str, name: str) -> tuple[Client, bytes] | None:
    """A client with the hash of its secret."""
    cursor = await connection.execute(
        f"select c.secret_hash, {CLIENT_COLUMNS} from clients c join tenants t on t.id = c.tenant_id"
        " where t.name = %s and c.name = %s",
        [tenant_name, name],
    )
    row = await cursor.fetchone()
    return None if row is None else (_client(row[1:]), row[0])


async def list_clients(connection: Connection, tenant_id: UUID) -> list[Client]:
    cursor = await connection.execute(
        f"select {CLIENT_COLUMNS} from clients c join tenants t on t.id = c.tenant_id where t.id = %s order by c.name",
        [tenant_id],
    )
    return [_client(row) for row in await cursor.fetchall()]


# Roles


async def insert_role(connection: Connection, client_id: UUID, role: Role) -> None:
    try:
        await connection.execute(
            "insert into roles (id, client_id, name, description, is_default, granted_scopes)"
            " values (%s, %s, %s, %s, %s, %s)",
            [role.id, client_id, role.name, role.description, role.is_default, list(role.granted_scopes)],
        )
    except errors.UniqueViolation:
        raise ConflictError(f"The client has a role named {role.name} already.") from None


async def delete_role(connection: Connection, role_id: UUID) -> None:
    await connection.execute("delete from roles where id = %s", [role_id])


async def find_role(connection: Connection, client_id: UUID, name: str) -> Role | None:
    cursor = await connection.execute(
        f"select {ROLE_COLUMNS} from roles r where r.client_id = %s and r.name = %s", [client_id, name]
    )
    row = await cursor.fetchone()
    return None if row is None else _role(row)


async def list_roles(connection: Connection, client_id: UUID) -> list[Role]:
    cursor = await connection.execute(
        f"select {ROLE_COLUMNS} from roles r where r.client_id = %s order by r.name", [client_id]
    )
    return [_role(row) for row in await cursor.fetchall()]


async def list_default_roles(connection: Connection, tenant_id: UUID, client_id: UUID | None) -> list[UUID]:
    """Default roles of one client, or of all the tenant's user clients."""
    cursor = await connection.execute(
        "select r.id from roles r join clients c on c.id = r.client_id"
        " where c.tenant_id = %(tenant)s and r.is_default"
        " and (c.id = %(client)s or (%(client)s::uuid is null and c.kind = 'user'))",
        {"tenant": tenant_id, "client": client_id},
    )
    return [row[0] for row in await cursor.fetchall()]


async def list_role_users(connection: Connection, role_id: UUID) -> list[UUID]:
    cursor = await connection.execute(
        "select u.id from role_users ru join users u on u.id = ru.user_id"
        " where ru.role_id = %s and u.is_active order by u.created_at, u.id",
        [role_id],
    )
    return [row[0] for row in await cursor.fetchall()]


async def has_role_user(connection: Connection, role_id: UUID, user_id: UUID) -> bool:
    cursor = await connection.execute(
        "select 1 from role_users ru join users u on u.id = ru.user_id"
        " where ru.role_id = %s and ru.user_id = %s and u.is_active",
        [role_id, user_id],
    )
    return await cursor.fetchone() is not None


async def assign_role(connection: Connection, role_id: UUID, user_id: UUID) -> None:
    await connection.execute(
        "insert into role_users (role_id, user_id) values (%s, %s) on conflict do nothing", [role_id, user_id]
    )


async def list_user_scopes(connection: Connection, client_id: UUID, user_id: UUID) -> list[str]:
    """The union of the scopes of the user's roles at a client."""
    cursor = await connection.execute(
        "select distinct unnest(r.granted_scopes) from role_users ru join roles r on r.id = ru.role_id"
        " where ru.user_id = %s and r.client_id = %s",
        [user_id, client_id],
    )
    return [row[0] for row in await cursor.fetchall()]
