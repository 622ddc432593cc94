"""The two tenants of the demo: `demo` may handle credentials, `demo-redirect` may not."""

import secrets
from dataclasses import replace
from typing import Any

from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.tenants import new_role, new_tenant
from kontor.services.users import NewUser

TENANTS = {"demo": True, "demo-redirect": False}
CALLBACK_BASES = {
    "demo": ("https://example.com/", "http://localhost", "http://127.0.0.1"),
    "demo-redirect": ("https://example.com/", "http://localhost", "http://127.0.0.1"),
}
USERNAME = "demo"


async def ensure_demo_tenants(services: Services, base_url: str, known: dict[str, Any]) -> dict[str, Any]:
    """Create what is missing. Secrets that only `demo.json` knew and that are lost are made anew."""
    existing = {one.name for one in await services.tenant_administration.list_tenants()}
    remembered = {one["name"]: one for one in known.get("tenants", [])}
    shown = []
    for name, is_regulated in TENANTS.items():
        if name in existing and name in remembered:
            shown.append(remembered[name])
            continue
        if name not in existing:
            await _create_tenant(services, name, is_regulated=is_regulated)
        shown.append(await _renew_logins(services, name, is_regulated=is_regulated))
    return {"baseUrl": base_url, "tenants": shown}


async def _create_tenant(services: Services, name: str, *, is_regulated: bool) -> None:
    administration = services.tenant_administration
    tenant = replace(
        new_tenant(name, is_regulated=is_regulated, scopes=ALL_SCOPES),
        description="Demo tenant" if is_regulated else "Demo tenant that uses the redirect frontend",
        callback_bases=CALLBACK_BASES[name],
    )
    await administration.create_tenant(tenant)
    await administration.create_client(name, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES, "manages the tenant")
    await administration.create_client(name, "app", ClientKind.USER, USER_SCOPES, "the tenant's application")
    role = new_role("customer", USER_SCOPES, is_default=True, description="what the application's users may do")
    await administration.create_role(name, "app", role)


async def _renew_logins(services: Services, name: str, *, is_regulated: bool) -> dict[str, Any]:
    administration = services.tenant_administration
    password = secrets.token_urlsafe(12)
    users = {one.username for one in await services.users.list_users_by_operator(name)}
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
