"""For a tenant's admin client: the tenant, its clients, their roles, and users in full."""

from typing import Any

from kontor_client.models.users import Client, Role, Tenant, User, UserReference
from kontor_client.operations.management import present, tenant_path
from kontor_client.plans import Call, Plan, fetch, send

TENANTS = "/auth/mgmt/v1/tenants"


def list_tenants() -> Plan[list[Tenant]]:
    """The token's own tenant."""
    return fetch(list[Tenant], TENANTS)


def read_tenant(tenant: str) -> Plan[Tenant]:
    return fetch(Tenant, tenant_path(tenant))


def read_certificate(tenant: str) -> Plan[bytes]:
    """The certificate under which credentials are encrypted, as PEM."""
    answer = yield from send(Call("GET", tenant_path(tenant, "certificate"), headers={"Accept": "*/*"}))
    return answer.content


def list_clients(tenant: str) -> Plan[list[Client]]:
    return fetch(list[Client], tenant_path(tenant, "clients"))


def read_client(tenant: str, client: str) -> Plan[Client]:
    return fetch(Client, tenant_path(tenant, "clients", client))


# Roles


def list_roles(tenant: str, client: str) -> Plan[list[Role]]:
    return fetch(list[Role], _role_path(tenant, client))


def read_role(tenant: str, client: str, role: str) -> Plan[Role]:
    return fetch(Role, _role_path(tenant, client, role))


def list_role_users(tenant: str, client: str, role: str) -> Plan[list[UserReference]]:
    return fetch(list[UserReference], _role_path(tenant, client, role, "users"))


def assign_role(tenant: str, client: str, role: str, user_reference: str) -> Plan[None]:
    """The user's next token has the scopes of the role."""
    path = _role_path(tenant, client, role, "users")
    yield from send(Call("POST", path, json=user_reference, is_repeatable=True))


def read_role_user(tenant: str, client: str, role: str, user_reference: str) -> Plan[UserReference]:
    return fetch(UserReference, _role_path(tenant, client, role, "users", user_reference))


# Users


def read_user(tenant: str, user_reference: str) -> Plan[User]:
    return fetch(User, tenant_path(tenant, "users", user_reference))


def rename_user(
    tenant: str, user_reference: str, username: str, *, first_name: str | None = None, last_name: str | None = None
) -> Plan[None]:
    body = present(username=username, firstname=first_name, lastname=last_name)
    yield from send(Call("PUT", tenant_path(tenant, "users", user_reference), json=body, is_repeatable=True))


def deactivate_user(tenant: str, user_reference: str) -> Plan[None]:
    """The user cannot log in, and its tokens are void."""
    path = tenant_path(tenant, "users", user_reference, "deactivate")
    yield from send(Call("PUT", path, is_repeatable=True))


def reactivate_user(tenant: str, user_reference: str, username: str, password: str) -> Plan[None]:
    body: dict[str, Any] = {"username": username, "password": password}
    yield from send(Call("POST", tenant_path(tenant, "users", user_reference, "reactivate"), json=body))


def erase_user(tenant: str, user_reference: str) -> Plan[None]:
    """Erase a deactivated user with all data, for good."""
    yield from send(Call("DELETE", tenant_path(tenant, "users", user_reference), is_repeatable=False))


def _role_path(tenant: str, client: str, *parts: object) -> str:
    return tenant_path(tenant, "clients", client, "roles", *parts)
