"""Tenants, clients and roles: reading them over the API, making them on the command line."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from kontor.domain.assistants import GRANTABLE_SCOPES, check_redirect_address
from kontor.domain.callbacks import parse_callback
from kontor.domain.errors import ConflictError, InvalidError, NotFoundError
from kontor.domain.principals import Principal
from kontor.domain.redirects import Branding
from kontor.domain.scopes import ALL_SCOPES, add_included_scopes
from kontor.domain.tenants import Client, ClientKind, Grant, Role, Tenant, check_technical_name, check_text
from kontor.services.identity.branding import (
    BrandingChange,
    check_change,
    check_colours,
    check_origin,
    clean_logo,
    merge_notes,
)
from kontor.services.security import auditing, hash_secret
from kontor.storage import keys, merchants, queue, redirects, system_keys, tenant_rules, tenants, tokens, users
from kontor.storage.database import Connection, Database
from kontor.storage.keys import SealingKey, TransportKey

GRANTS_BY_KIND = {
    ClientKind.ADMIN: (Grant.CLIENT_CREDENTIALS,),
    ClientKind.USER: (Grant.CLIENT_CREDENTIALS, Grant.PASSWORD),
}


class Tenants:
    """Reading, bound to the tenant of the token."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_tenant(self, principal: Principal, name: str) -> Tenant:
        async with self._database.connect() as connection:
            return await find_own_tenant(connection, principal, name)

    async def list_clients(self, principal: Principal, tenant_name: str) -> list[Client]:
        async with self._database.connect() as connection:
            tenant = await find_own_tenant(connection, principal, tenant_name)
            return await tenants.list_clients(connection, tenant.id)

    async def read_client(self, principal: Principal, tenant_name: str, name: str) -> Client:
        async with self._database.connect() as connection:
            return await _find_own_client(connection, principal, tenant_name, name)

    async def list_roles(self, principal: Principal, tenant_name: str, client_name: str) -> list[Role]:
        async with self._database.connect() as connection:
            client = await _find_own_client(connection, principal, tenant_name, client_name)
            return await tenants.list_roles(connection, client.id)

    async def read_role(self, principal: Principal, tenant_name: str, client_name: str, name: str) -> Role:
        async with self._database.connect() as connection:
            return await _find_own_role(connection, principal, tenant_name, client_name, name)

    async def list_role_users(self, principal: Principal, tenant_name: str, client_name: str, name: str) -> list[UUID]:
        async with self._database.connect() as connection:
            role = await _find_own_role(connection, principal, tenant_name, client_name, name)
            return await tenants.list_role_users(connection, role.id)

    async def read_role_user(
        self, principal: Principal, tenant_name: str, client_name: str, name: str, user_id: UUID
    ) -> None:
        """Raises unless the user has the role."""
        async with self._database.connect() as connection:
            role = await _find_own_role(connection, principal, tenant_name, client_name, name)
            if not await tenants.has_role_user(connection, role.id, user_id):
                raise NotFoundError

    async def assign_role(
        self, principal: Principal, tenant_name: str, client_name: str, name: str, user_id: UUID
    ) -> None:
        async with self._database.transaction() as connection:
            role = await _find_own_role(connection, principal, tenant_name, client_name, name)
            user = await users.find_user(connection, principal.tenant_id, user_id)
            if user is None or not user.is_active:
                raise InvalidError("this tenant has no such user", "body")
            await tenants.assign_role(connection, role.id, user.id)
            await auditing.record(
                connection,
                principal.tenant_id,
                auditing.name_actor(principal),
                "role.assign",
                f"user {user.pseudonym} role {client_name}/{name}",
            )

    async def read_certificate(self, tenant_name: str) -> str:
        """Public: a certificate is there to be given away."""
        async with self._database.connect() as connection:
            tenant = await tenants.find_tenant(connection, tenant_name)
            certificate = None if tenant is None else await keys.find_certificate(connection, tenant.id)
            if certificate is None:
                raise NotFoundError
            return certificate


async def find_own_tenant(connection: Connection, principal: Principal, name: str) -> Tenant:
    """The token's own tenant; any other name is as good as unknown."""
    if name != principal.tenant_name:
        raise NotFoundError
    tenant = await tenants.find_tenant(connection, name)
    if tenant is None:
        raise NotFoundError
    return tenant


async def _find_own_client(connection: Connection, principal: Principal, tenant_name: str, name: str) -> Client:
    if tenant_name != principal.tenant_name:
        raise NotFoundError
    client = await tenants.find_client(connection, tenant_name, name)
    if client is None:
        raise NotFoundError
    return client


async def _find_own_role(
    connection: Connection, principal: Principal, tenant_name: str, client_name: str, name: str
) -> Role:
    client = await _find_own_client(connection, principal, tenant_name, client_name)
    role = await tenants.find_role(connection, client.id, name)
    if role is None:
        raise NotFoundError
    return role


class TenantAdministration:
    """What the interface has no call for; used by the operator on the command line."""

    def __init__(self, database: Database, master: SealingKey) -> None:
        self._database = database
        self._master = master

    async def list_tenants(self) -> list[Tenant]:
        async with self._database.connect() as connection:
            return await tenants.list_tenants(connection)

    async def find_tenant(self, name: str) -> Tenant:
        async with self._database.connect() as connection:
            return await _require_tenant(connection, name)

    async def create_tenant(self, tenant: Tenant) -> None:
        """A tenant, its wrapping key, its transport key and certificate."""
        check_technical_name(tenant.name)
        _check_tenant(tenant)
        private, certificate = keys.generate_transport_key(tenant.name)
        async with self._database.transaction() as connection:
            await tenants.insert_tenant(connection, tenant)
            await keys.store_wrapping_key(connection, self._master, tenant.id)
            await keys.store_transport_key(connection, self._master, tenant.id, private, certificate)
            await auditing.record(connection, tenant.id, auditing.OPERATOR, "tenant.create", f"tenant {tenant.name}")

    async def change_tenant(self, name: str, **changes: object) -> Tenant:
        async with self._database.transaction() as connection:
            before = await _require_tenant(connection, name)
            tenant = replace(before, **changes)  # type: ignore[arg-type]
            _check_tenant(tenant)
            await tenants.update_tenant(connection, tenant)
            said = tenant.learns_from_corrections, tenant.asks_model
            if said != (before.learns_from_corrections, before.asks_model):
                await tenant_rules.increment_rules_version(connection, tenant.id)
                await queue.enqueue_retag_tenant(connection, tenant.id)
            if tenant.asks_model != before.asks_model:
                await merchants.forget_open(connection, tenant.id)
            await auditing.record(connection, tenant.id, auditing.OPERATOR, "tenant.change", f"tenant {name}")
        return tenant

    async def read_branding(self, name: str) -> Branding:
        async with self._database.connect() as connection:
            return await redirects.find_branding(connection, (await _require_tenant(connection, name)).id)

    async def change_branding(self, name: str, change: BrandingChange) -> Branding:
        """How the web form looks for the tenant's users, and which pages may embed it."""
        async with self._database.transaction() as connection:
            tenant = await _require_tenant(connection, name)
            before = Branding(name) if change.is_reset else await redirects.find_branding(connection, tenant.id)
            check_change(change, before)
            kept_logo = None if change.is_reset else await redirects.find_logo(connection, name)
            origins = before.frame_origins
            if change.frame_origins is not None:
                origins = tuple(check_origin(origin) for origin in change.frame_origins)
            await redirects.store_branding(
                connection,
                tenant.id,
                display_name=change.display_name or before.display_name,
                logo=kept_logo if change.logo is None else clean_logo(change.logo),
                colours=check_colours(dict(before.colours) | (change.colours or {})),
                notes=merge_notes(change, dict(before.notes)),
                legal_text=change.legal_text or before.legal_text,
                legal_version=change.legal_version or before.legal_version,
                frame_origins=origins,
            )
            await auditing.record(connection, tenant.id, auditing.OPERATOR, "tenant.look", f"tenant {name}")
            return await redirects.find_branding(connection, tenant.id)

    async def list_clients(self, tenant_name: str) -> list[Client]:
        async with self._database.connect() as connection:
            tenant = await _require_tenant(connection, tenant_name)
            return await tenants.list_clients(connection, tenant.id)

    async def create_client(
        self,
        tenant_name: str,
        name: str,
        kind: ClientKind,
        scopes: Sequence[str],
        description: str | None = None,
        *,
        may_collect: bool = False,
        requires_dpop: bool = False,
    ) -> tuple[Client, str]:
        """A client and its secret, which is shown now and never again."""
        check_technical_name(name)
        async with self._database.transaction() as connection:
            tenant = await _require_tenant(connection, tenant_name)
            _check_scopes(scopes, tenant.allowed_scopes, f"tenant {tenant.name}")
            client = Client(
                uuid4(), tenant.id, tenant.name, name, kind, tuple(scopes), GRANTS_BY_KIND[kind],
                check_text(description, "description") if description else None, may_collect, requires_dpop,
            )  # fmt: skip
            secret = secrets.token_urlsafe(32)
            await tenants.insert_client(connection, client, hash_secret(secret))
            await auditing.record(
                connection, tenant.id, auditing.OPERATOR, "client.create", f"client {client.username}"
            )
        return client, secret

    async def create_assistant(
        self, tenant_name: str, name: str, addresses: Sequence[str], description: str | None = None
    ) -> Client:
        """A client that users sign in through: without a secret, and sent back to these addresses only."""
        check_technical_name(name)
        if not addresses:
            raise InvalidError("name at least one", "redirect address")
        checked = tuple(check_redirect_address(address) for address in addresses)
        async with self._database.transaction() as connection:
            tenant = await _require_tenant(connection, tenant_name)
            scopes = tuple(scope for scope in GRANTABLE_SCOPES if scope in tenant.allowed_scopes)
            client = Client(
                uuid4(), tenant.id, tenant.name, name, ClientKind.USER, scopes, (),
                check_text(description, "description") if description else None, redirect_addresses=checked,
            )  # fmt: skip
            nobodys_secret = hash_secret(secrets.token_urlsafe(32))
            await tenants.insert_client(connection, client, nobodys_secret)
            await auditing.record(
                connection, tenant.id, auditing.OPERATOR, "client.create", f"client {client.username}"
            )
        return client

    async def renew_client_secret(self, tenant_name: str, name: str) -> str:
        secret = secrets.token_urlsafe(32)
        async with self._database.transaction() as connection:
            client = await _require_client(connection, tenant_name, name)
            if client.redirect_addresses:
                raise ConflictError(f"The client {client.username} is an assistant, and has no secret.")
            await tenants.update_client_secret(connection, client.id, hash_secret(secret))
            await auditing.record(
                connection, client.tenant_id, auditing.OPERATOR, "client.renew-secret", f"client {client.username}"
            )
        return secret

    async def require_dpop(self, tenant_name: str, name: str, is_required: bool) -> Client:
        """From now on the client gets and uses bound tokens only; those that are not bound end at once."""
        async with self._database.transaction() as connection:
            client = await _require_client(connection, tenant_name, name)
            await tenants.update_requires_dpop(connection, client.id, is_required)
            if is_required:
                await tokens.delete_unbound_tokens(connection, client.id)
            await auditing.record(
                connection, client.tenant_id, auditing.OPERATOR, "client.change", f"client {client.username}"
            )
        return replace(client, requires_dpop=is_required)

    async def delete_client(self, tenant_name: str, name: str) -> None:
        async with self._database.transaction() as connection:
            client = await _require_client(connection, tenant_name, name)
            await tenants.delete_client(connection, client.id)
            await auditing.record(
                connection, client.tenant_id, auditing.OPERATOR, "client.delete", f"client {client.username}"
            )

    async def list_roles(self, tenant_name: str, client_name: str) -> list[Role]:
        async with self._database.connect() as connection:
            client = await _require_client(connection, tenant_name, client_name)
            return await tenants.list_roles(connection, client.id)

    async def create_role(self, tenant_name: str, client_name: str, role: Role) -> None:
        check_technical_name(role.name)
        async with self._database.transaction() as connection:
            client = await _require_client(connection, tenant_name, client_name)
            _check_scopes(role.granted_scopes, client.granted_scopes, f"client {client.username}")
            await tenants.insert_role(connection, client.id, role)
            await auditing.record(
                connection, client.tenant_id, auditing.OPERATOR, "role.create", f"role {client.username}/{role.name}"
            )

    async def delete_role(self, tenant_name: str, client_name: str, name: str) -> None:
        async with self._database.transaction() as connection:
            client = await _require_client(connection, tenant_name, client_name)
            role = await tenants.find_role(connection, client.id, name)
            if role is None:
                raise NotFoundError(f"The client {client.username} has no role named {name}.")
            await tenants.delete_role(connection, role.id)
            await auditing.record(
                connection, client.tenant_id, auditing.OPERATOR, "role.delete", f"role {client.username}/{name}"
            )

    async def rotate_transport_key(self, tenant_name: str) -> UUID:
        """A new key and certificate; values under the previous key still decrypt, older ones do not."""
        private, certificate = keys.generate_transport_key(tenant_name)
        async with self._database.transaction() as connection:
            tenant = await _require_tenant(connection, tenant_name)
            key_id = await keys.store_transport_key(connection, self._master, tenant.id, private, certificate)
            await auditing.record(connection, tenant.id, auditing.OPERATOR, "key.rotate", f"transport key {key_id}")
        return key_id

    async def list_transport_keys(self, tenant_name: str) -> list[TransportKey]:
        async with self._database.connect() as connection:
            tenant = await _require_tenant(connection, tenant_name)
            return await keys.list_transport_keys(connection, tenant.id)

    async def rewrap_keys(self, new_master: SealingKey) -> int:
        """Put all keys under a new master key, all at once. Returns how many tenant keys were not; safe to repeat."""
        async with self._database.transaction() as connection:
            await keys.refuse_wrong_master_key(connection, self._master, new_master)
            count = await keys.rewrap_tenant_keys(connection, self._master, new_master)
            await system_keys.rewrap_system_keys(connection, self._master, new_master)
            if count:
                await auditing.record(connection, None, auditing.OPERATOR, "key.rewrap", f"{count} tenant keys")
        return count

    async def replace_lost_keys(self) -> int:
        """The master key is lost: everything gets new keys under the present one, and customers log in again.

        What was sealed is deleted, since nobody can open it; all other data stays. Returns the number of accesses.
        """
        async with self._database.transaction() as connection:
            count = await system_keys.forget_all_secrets(connection)
            for tenant in await tenants.list_tenants(connection):
                private, certificate = keys.generate_transport_key(tenant.name)
                wrapping = await keys.store_wrapping_key(connection, self._master, tenant.id)
                transport = await keys.store_transport_key(connection, self._master, tenant.id, private, certificate)
                for user_id in await system_keys.list_users(connection, tenant.id):
                    wrapping_id, data_key = await keys.make_data_key(connection, self._master, tenant.id, user_id)
                    await system_keys.replace_data_key(connection, user_id, data_key, wrapping_id)
                await system_keys.replace_tenant_keys(connection, tenant.id, [wrapping, transport])
            await auditing.record(connection, None, auditing.OPERATOR, "key.replace-lost", f"{count} accesses")
        return count


def new_tenant(name: str, *, is_regulated: bool, scopes: Iterable[str] = ALL_SCOPES) -> Tenant:
    return Tenant(uuid4(), name, is_regulated, allowed_scopes=tuple(scopes))


def new_role(name: str, scopes: Iterable[str], *, is_default: bool, description: str | None = None) -> Role:
    return Role(uuid4(), name, is_default, tuple(scopes), description)


async def _require_tenant(connection: Connection, name: str) -> Tenant:
    tenant = await tenants.find_tenant(connection, name)
    if tenant is None:
        raise NotFoundError(f"There is no tenant named {name}.")
    return tenant


async def _require_client(connection: Connection, tenant_name: str, name: str) -> Client:
    await _require_tenant(connection, tenant_name)
    client = await tenants.find_client(connection, tenant_name, name)
    if client is None:
        raise NotFoundError(f"The tenant {tenant_name} has no client named {name}.")
    return client


def _check_tenant(tenant: Tenant) -> None:
    if tenant.description is not None:
        check_text(tenant.description, "description")
    _check_scopes(tenant.allowed_scopes, ALL_SCOPES, "Kontor")
    for base in tenant.callback_bases:
        parse_callback(base, "--callback-base")
    if not tenant.is_regulated and not tenant.callback_bases and not tenant.is_any_callback_allowed:
        raise ConflictError("A redirect tenant needs callback bases, or an explicit --any-callback.")


def _check_scopes(scopes: Sequence[str], allowed: Sequence[str], owner: str) -> None:
    covered = add_included_scopes(allowed)
    for scope in scopes:
        if scope not in covered:
            raise InvalidError(f"{scope} is not among the scopes of {owner}", "scope")
