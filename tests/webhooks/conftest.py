"""The service in this process, with loopback webhooks allowed: the real database, real receivers, no worker."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from kontor import bootstrap
from kontor.api.app import make_app
from kontor.domain.principals import Principal
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.domain.webhooks import Event, EventType, RetrySchedule
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.users import NewUser
from kontor.services.webhooks.deliveries import Deliveries
from lifespans import serving
from processes import beside
from receivers import Receiver

# As the real one, a thousand times faster.
FAST = RetrySchedule((0, 0.005, 0.03, 0.12, 0.3, 0.6), 300, 0.004)


@dataclass
class Office:
    """A tenant and its admin client at the API, users, and the use cases behind them."""

    services: Any
    deliveries: Deliveries
    owner: psycopg.Connection
    http: httpx.AsyncClient
    tenant_id: UUID
    name: str
    admin: tuple[str, str]
    token: str = ""

    @property
    def url(self) -> str:
        return f"/auth/mgmt/v1/tenants/{self.name}/webhooks"

    async def call(self, method: str, path: str = "", body: Any = None, **facts: Any) -> httpx.Response:
        if not self.token:
            self.token = await self.log_in()
        headers = {"Authorization": f"Bearer {facts.pop('token', self.token)}"}
        content = {} if body is None else {"json": body}
        return await self.http.request(method, f"{self.url}{path}", headers=headers, **content, **facts)

    async def log_in(self, scope: str | None = None) -> str:
        form = {"grant_type": "client_credentials"} | ({"scope": scope} if scope else {})
        answer = await self.http.post("/auth/oauth2/token", data=form, auth=self.admin)
        assert answer.status_code == 200, answer.text
        return answer.json()["access_token"]

    async def register(self, receiver: Receiver, **facts: Any) -> dict[str, Any]:
        """The webhook as the API shows it once, with its secret."""
        answer = await self.call("POST", body={"url": receiver.url} | facts)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def read(self, path: str, **facts: Any) -> Any:
        answer = await self.call("GET", path, **facts)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def new_user(self) -> Principal:
        user = await self.services.users.create_user_by_operator(
            self.name, NewUser(f"user-{uuid4().hex[:12]}", Secret("a password"))
        )
        return Principal(
            self.tenant_id, self.name, True, uuid4(), "app", frozenset(ALL_SCOPES), user.id, user.pseudonym
        )

    async def publish(self, *events: Event) -> int:
        async with self.services.database.transaction() as connection:
            return await self.services.events.publish(connection, *events)

    async def tell(self, user: Principal, kind: EventType = EventType.ACCESS_ERROR, access_id: str = "a") -> int:
        return await self.publish(Event(kind, user.user_id, access_id))

    def open_ids(self) -> list[UUID]:
        return [
            row[0]
            for row in self.owner.execute(
                "select d.id from webhook_deliveries d join webhooks w on w.id = d.webhook_id"
                " where w.tenant_id = %s and d.state = 'PENDING' order by d.serial",
                [self.tenant_id],
            )
        ]

    async def run_open(self) -> list[float | None]:
        """One look at each open delivery, as the jobs would."""
        return [await self.deliveries.run(delivery_id) for delivery_id in self.open_ids()]

    async def run_out(self) -> None:
        """Until nothing is open."""
        for _ in range(2000):
            pauses = [pause for pause in await self.run_open() if pause is not None]
            if not self.open_ids():
                return
            await asyncio.sleep(min(pauses, default=0))
        raise AssertionError("there is no end")

    def jobs(self) -> list[UUID]:
        rows = self.owner.execute("select payload from pgqueuer where entrypoint = 'deliver'").fetchall()
        return [UUID(bytes=row[0]) for row in rows]

    def audited(self) -> list[str]:
        query = "select action from audit_entries where chain = %s and action like 'webhook.%%' order by serial"
        return [row[0] for row in self.owner.execute(query, [self.tenant_id])]


async def make_office(services: Any, deliveries: Deliveries, owner: Any, http: httpx.AsyncClient) -> Office:
    name = f"w-{uuid4().hex[:12]}"
    administration = services.tenant_administration
    tenant = new_tenant(name, is_regulated=True, scopes=ALL_SCOPES)
    await administration.create_tenant(tenant)
    _, secret = await administration.create_client(name, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)
    await administration.create_client(name, "app", ClientKind.USER, USER_SCOPES)
    await administration.create_role(name, "app", new_role("customer", USER_SCOPES, is_default=True))
    return Office(services, deliveries, owner, http, tenant.id, name, (f"{name}/admin", secret))


@pytest.fixture(scope="session")
def webhook_settings(settings: Any) -> Iterator[Any]:
    with beside(settings, allow_loopback=True) as own:
        yield replace(own, pool_size=8)


@pytest.fixture(scope="session")
def webhook_owner(webhook_settings: Any) -> Iterator[psycopg.Connection]:
    with psycopg.connect(webhook_settings.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
async def building(webhook_settings: Any, webhook_owner: Any) -> AsyncIterator[Any]:
    """(services, deliveries with fast retries, owner, HTTP client): one for all tests of this folder."""
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(bootstrap.open_services(webhook_settings, "kontor tests, webhooks"))

        @asynccontextmanager
        async def lend() -> AsyncIterator[Any]:
            yield services

        app = make_app(webhook_settings, lend)
        await stack.enter_async_context(serving(app))
        http = await stack.enter_async_context(
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=webhook_settings.base_url, timeout=60)
        )
        original = services.deliveries
        deliveries = Deliveries(services.database, original._user_encryption, original._calls, original._render, FAST)
        yield services, deliveries, webhook_owner, http


@pytest.fixture(scope="session")
async def shared_office(building: Any) -> Office:
    """A tenant's keys take a second, so that one serves all; its webhooks are removed before each test."""
    return await make_office(*building)


@pytest.fixture
def office(shared_office: Office) -> Office:
    shared_office.owner.execute("delete from pgqueuer")
    shared_office.owner.execute("delete from webhooks")
    return shared_office


@pytest.fixture(scope="session")
async def neighbouring_office(building: Any) -> Office:
    return await make_office(*building)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
async def user(office: Office) -> Principal:
    return await office.new_user()
