"""Servers of one's own, and tenants that are not regulated."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from banking import BankCustomer, new_customer
from kontor.config import Settings
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.tenants import new_role, new_tenant
from kontor.services.users import NewUser
from processes import free_port, running_server

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


@dataclass(frozen=True)
class AtServer:
    """A tenant as it is seen at another server of the same database."""

    tenant: Any
    http: httpx.Client

    @property
    def name(self) -> str:
        return self.tenant.name

    @property
    def url(self) -> str:
        return self.tenant.url


def at_server(customer: BankCustomer, http: httpx.Client) -> BankCustomer:
    return BankCustomer(AtServer(customer.tenant, http), customer.username, customer.reference, customer.token)


@contextmanager
def another_server(settings: Settings, log: Path, **changes: Any) -> Iterator[httpx.Client]:
    """A server process with other settings on the same database."""
    own = replace(settings, base_url=f"http://127.0.0.1:{free_port()}", **changes)
    with running_server(own, log) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client
