"""Tenants that are not regulated, and users with services of their own."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from consenting_users import ConsentingUser, new_principal, open_consenting_user

from banking import BankCustomer, new_customer
from kontor.config import Settings
from kontor.domain.principals import Principal
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.users import NewUser

BASES = ("https://example.com/", "http://localhost", "http://127.0.0.1")


async def make_tenant(services: Services, like: Any, *, is_regulated: bool, bases: tuple[str, ...] = BASES) -> Any:
    """A tenant as the shared one, but not regulated, or with other callback bases."""
    name = f"s-{uuid4().hex[:12]}"
    administration = services.tenant_administration
    tenant = new_tenant(name, is_regulated=is_regulated, scopes=ALL_SCOPES)
    await administration.create_tenant(replace(tenant, callback_bases=bases))
    _, admin_secret = await administration.create_client(name, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)
    _, app_secret = await administration.create_client(name, "app", ClientKind.USER, USER_SCOPES)
    await administration.create_role(name, "app", new_role("customer", USER_SCOPES, is_default=True))
    user = await services.users.create_user_by_operator(name, NewUser("anna", Secret("annas password")))
    return replace(
        like,
        name=name,
        admin=(f"{name}/admin", admin_secret),
        app=(f"{name}/app", app_secret),
        user_reference=str(user.id),
        tokens={},
    )


@pytest.fixture(scope="session")
async def redirecting(standing_services: Services, shared: Any) -> Any:
    """A tenant that may not handle credentials; its callback bases are those of the demo's redirect tenant."""
    return await make_tenant(standing_services, shared, is_regulated=False)


@pytest.fixture(scope="session")
async def unlisted(standing_services: Services, shared: Any) -> Any:
    """A regulated tenant without a list of callback bases."""
    return await make_tenant(standing_services, shared, is_regulated=True, bases=())


@pytest.fixture
def visitor(bank_server: str, redirecting: Any) -> BankCustomer:
    """A new user of a tenant that is not regulated."""
    return new_customer(redirecting)


@pytest.fixture(scope="session")
def make_like() -> Any:
    """Makes a regulated tenant with services of any database: `await make_like(services, like)`."""

    async def make(services: Services, like: Any) -> Any:
        return await make_tenant(services, like, is_regulated=True)

    return make


@pytest.fixture(scope="module")
async def principal(standing_services: Services, shared: Any) -> Principal:
    return await new_principal(standing_services, shared)


@pytest.fixture
async def user(
    settings: Settings, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ConsentingUser]:
    """With a bank that can be held up."""
    async with open_consenting_user(settings, principal, monkeypatch) as user:
        yield user
