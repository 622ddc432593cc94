"""Clients of the running service."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from banking import DEMO_BANK, BankCustomer, new_customer
from kontor.domain.scopes import ALL_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.users import NewUser
from kontor_client import AsyncKontor, Kontor


@pytest.fixture(scope="session")
def reading(server: str, demo1: tuple[BankCustomer, str]) -> Iterator[Kontor]:
    """A customer with a complete access; for tests that only read."""
    with Kontor(server, demo1[0].token) as client:
        yield client


@pytest.fixture
async def own(bank_server: str, customer: BankCustomer) -> AsyncIterator[AsyncKontor]:
    """A customer of one's own."""
    async with AsyncKontor(bank_server, customer.token) as client:
        yield client


@pytest.fixture
def administrating(server: str, shared: Any) -> Iterator[Kontor]:
    with Kontor.login_client(server, *shared.admin) as client:
        yield client


@pytest.fixture(scope="session")
async def redirect_tenant(standing_services: Services, shared: Any) -> Any:
    """A tenant that may not handle credentials."""
    name = f"c-{uuid4().hex[:12]}"
    administration = standing_services.tenant_administration
    tenant = new_tenant(name, is_regulated=False, scopes=ALL_SCOPES)
    await administration.create_tenant(replace(tenant, callback_bases=("https://example.com/",)))
    _, secret = await administration.create_client(name, "app", ClientKind.USER, USER_SCOPES)
    await administration.create_role(name, "app", new_role("customer", USER_SCOPES, is_default=True))
    await standing_services.users.create_user_by_operator(name, NewUser("anna", Secret("annas password")))
    return replace(shared, name=name, app=(f"{name}/app", secret), tokens={})


@pytest.fixture
def new_user(shared: Any) -> BankCustomer:
    """A user whose password is known."""
    return new_customer(shared)


@pytest.fixture
async def empty(own: AsyncKontor) -> tuple[str, str]:
    """An empty checking account."""
    access = await own.add_access(DEMO_BANK, {"userid": "leer", "pin": "demo"})
    return access.id, (await own.wait_until_complete(access.id)).products[0].id
