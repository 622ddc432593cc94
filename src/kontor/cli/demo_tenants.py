"""The two tenants of the demo: `demo` may handle credentials, `demo-redirect` may not."""

import secrets
from dataclasses import replace
from typing import Any
from uuid import UUID

from kontor.domain.principals import Principal
from kontor.domain.scopes import ADVISER_READ, ALL_MANAGEMENT_SCOPES, ALL_SCOPES, ALL_USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.identity import BrandingChange, NewUser, new_role, new_tenant

TENANTS = {"demo": True, "demo-redirect": False}
CALLBACK_BASES = {
    "demo": ("https://example.com/", "http://localhost", "http://127.0.0.1"),
    "demo-redirect": ("https://example.com/", "http://localhost", "http://127.0.0.1"),
}
DISPLAY_NAME = "Demo-App"
FRAME_ORIGINS = tuple(f"http://{host}:{port}" for host in ("127.0.0.1", "localhost") for port in (3000, 8000, 9000))
USERNAME = "demo"
CONSOLE_CLIENT = "console"
# In the console customers and advisers are apart. The application's users can try every call.
CUSTOMER_SCOPES = tuple(scope for scope in ALL_USER_SCOPES if scope != ADVISER_READ)
CUSTOMER_ROLE, ADVISER_ROLE = "customer", "adviser"
KEYS = {"name", "regulated", "adminClient", "userClient", "user", "apiKey", "callbackBases"}


async def ensure_demo_tenants(services: Services, base_url: str, known: Any) -> dict[str, Any]:
    """Create what is missing. Secrets that only `demo.json` knew and that are lost are made anew."""
    existing = {tenant.name for tenant in await services.tenant_administration.list_tenants()}
    remembered = _read_known(known)
    shown = []
    for name, is_regulated in TENANTS.items():
        if name in existing and name in remembered:
            shown.append(remembered[name])
            continue
        if name not in existing:
            await _create_tenant(services, name, is_regulated=is_regulated)
        await ensure_clients(services, name)
        shown.append(await _renew_logins(services, name, is_regulated=is_regulated))
    return {"baseUrl": base_url, "tenants": shown}


def _read_known(known: Any) -> dict[str, dict[str, Any]]:
    """The tenants of an earlier `demo.json`, as far as they are whole."""
    listed = known.get("tenants") if isinstance(known, dict) else None
    whole = [tenant for tenant in listed or [] if isinstance(tenant, dict) and set(tenant) == KEYS]
    return {tenant["name"]: tenant for tenant in whole}


async def _create_tenant(services: Services, name: str, *, is_regulated: bool) -> None:
    tenant = replace(
        new_tenant(name, is_regulated=is_regulated, scopes=ALL_SCOPES),
        description="Demo tenant" if is_regulated else "Demo tenant that uses the redirect frontend",
        callback_bases=CALLBACK_BASES[name],
    )
    await services.tenant_administration.create_tenant(tenant)
    # So that the embeddable component can be tried from a page on this computer.
    branding = BrandingChange(display_name=DISPLAY_NAME, frame_origins=FRAME_ORIGINS)
    await services.tenant_administration.change_branding(name, branding)


async def ensure_clients(services: Services, name: str) -> None:
    """Each by itself: an earlier start may have been killed between any two of them."""
    administration = services.tenant_administration
    clients = {client.name for client in await administration.list_clients(name)}
    if "admin" not in clients:
        await administration.create_client(name, "admin", ClientKind.ADMIN, ALL_MANAGEMENT_SCOPES, "manages the tenant")
    # Before there are users: a role is given to those who are created later.
    await _ensure_user_client(services, name, "app", "the tenant's application", ALL_USER_SCOPES)
    await _ensure_user_client(services, name, CONSOLE_CLIENT, "Kontor's console", CUSTOMER_SCOPES)
    if ADVISER_ROLE not in {role.name for role in await administration.list_roles(name, CONSOLE_CLIENT)}:
        role = new_role(ADVISER_ROLE, ALL_USER_SCOPES, is_default=False, description="what advisers may do")
        await administration.create_role(name, CONSOLE_CLIENT, role)


async def _ensure_user_client(
    services: Services, tenant: str, name: str, description: str, scopes: tuple[str, ...]
) -> None:
    administration = services.tenant_administration
    if name not in {client.name for client in await administration.list_clients(tenant)}:
        await administration.create_client(tenant, name, ClientKind.USER, ALL_USER_SCOPES, description)
    known = {role.name: role for role in await administration.list_roles(tenant, name)}
    users: list[UUID] = []
    if CUSTOMER_ROLE in known and set(known[CUSTOMER_ROLE].granted_scopes) != set(scopes):  # of an earlier version
        administrator = await _find_administrator(services, tenant)
        users = await services.tenants.list_role_users(administrator, tenant, name, CUSTOMER_ROLE)
        await administration.delete_role(tenant, name, CUSTOMER_ROLE)
        del known[CUSTOMER_ROLE]
    if CUSTOMER_ROLE not in known:
        role = new_role(CUSTOMER_ROLE, scopes, is_default=True, description="what the application's users may do")
        await administration.create_role(tenant, name, role)
    for user_id in users:
        await assign_role(services, tenant, name, CUSTOMER_ROLE, user_id)


async def assign_role(services: Services, tenant: str, client: str, role: str, user_id: UUID) -> None:
    """As the tenant's administration does it."""
    await services.tenants.assign_role(await _find_administrator(services, tenant), tenant, client, role, user_id)


async def _find_administrator(services: Services, name: str) -> Principal:
    tenant = await services.tenant_administration.find_tenant(name)
    clients = await services.tenant_administration.list_clients(name)
    client = next(client for client in clients if client.name == "admin")
    scopes = frozenset(ALL_MANAGEMENT_SCOPES)
    return Principal(tenant.id, name, tenant.is_regulated, client.id, client.name, scopes)


async def _renew_logins(services: Services, name: str, *, is_regulated: bool) -> dict[str, Any]:
    administration = services.tenant_administration
    password = secrets.token_urlsafe(12)
    users = {user.username for user in await services.users.list_users_by_operator(name)}
    username = USERNAME
    while username in users:  # its password is lost with demo.json, and only its owner may set a new one
        username = f"{USERNAME}-{secrets.token_hex(2)}"
    await services.users.create_user_by_operator(name, NewUser(username, Secret(password)))
    key = await services.tokens.create_api_key(name, "app", username, "demo")
    return {
        "name": name,
        "regulated": is_regulated,
        "adminClient": {
            "username": f"{name}/admin",
            "password": await administration.renew_client_secret(name, "admin"),
        },
        "userClient": {"username": f"{name}/app", "password": await administration.renew_client_secret(name, "app")},
        "user": {"username": username, "password": password},
        "apiKey": key.reveal(),
        "callbackBases": list(CALLBACK_BASES[name]),
    }
