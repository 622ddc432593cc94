"""Callers of the API: new users and clients, logins, and small applications with operations of one's own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from kontor.api.app import make_app
from kontor.api.operations import Operation, Security, Success
from kontor.config import Settings
from kontor.domain.scopes import MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role


@dataclass(frozen=True)
class Person:
    """A user that a test made for itself."""

    reference: str
    username: str
    password: str
    url: str
    location: str


@pytest.fixture(scope="session")
def secrets_used(shared, neighbour, server_log: Path) -> Iterator[set[str]]:
    """Every secret that tests send or receive; at the end of the run none of them may be in the server's log."""
    used = {secret for tenant in (shared, neighbour) for secret in (tenant.admin[1], tenant.app[1], tenant.password)}
    yield used
    used |= {token for tenant in (shared, neighbour) for token in tenant.tokens.values()}
    text = server_log.read_text()
    assert [secret for secret in used if len(secret) > 7 and secret in text] == []


@pytest.fixture
def login(http: httpx.Client, shared, secrets_used: set[str]) -> Callable[..., httpx.Response]:
    """Ask for a token. Parameters that are None are left out."""

    def ask(client: tuple[str, str] | None = None, **form: str | None) -> httpx.Response:
        sent = {name: value for name, value in form.items() if value is not None}
        answer = http.post("/auth/oauth2/token", data=sent, auth=client or shared.app)
        secrets_used.update(value for name, value in form.items() if name == "password" and value)
        if answer.status_code == 200:
            secrets_used.add(answer.json()["access_token"])
        return answer

    return ask


@pytest.fixture
def password_login(login: Callable[..., httpx.Response]) -> Callable[..., httpx.Response]:
    def ask(username: str, password: str, client: tuple[str, str] | None = None, **form: str) -> httpx.Response:
        return login(client, grant_type="password", username=username, password=password, **form)

    return ask


@pytest.fixture
def new_user(shared, secrets_used: set[str]) -> Callable[..., Person]:
    def make(username: str | None = None, headers: dict[str, str] | None = None, **names: str) -> Person:
        username = username or f"user-{uuid4().hex[:12]}"
        password = f"password of {username}"
        secrets_used.add(password)
        body = {"username": username, "password": password, **names}
        answer = shared.http.post(f"{shared.url}/users", json=body, headers=headers or shared.as_admin)
        assert answer.status_code == 201, answer.text
        location = answer.headers["location"]
        reference = location.rpartition("/")[2]
        return Person(reference, username, password, f"{shared.url}/users/{reference}", location)

    return make


NewClient = Callable[..., Awaitable[tuple[str, str]]]


@pytest.fixture
def new_client(standing_services: Services, shared, secrets_used: set[str]) -> NewClient:
    """A client of the shared tenant; returns what Basic authentication takes."""

    async def make(kind: ClientKind, scopes: Sequence[str], description: str | None = None) -> tuple[str, str]:
        client, secret = await standing_services.tenant_administration.create_client(
            shared.name, f"c-{uuid4().hex[:12]}", kind, scopes, description
        )
        secrets_used.add(secret)
        return client.username, secret

    return make


@pytest.fixture
async def admin_client(new_client: NewClient) -> tuple[str, str]:
    """An admin client of the test's own: its failed logins slow down nobody else."""
    return await new_client(ClientKind.ADMIN, MANAGEMENT_SCOPES)


@pytest.fixture
async def user_client(new_client: NewClient, standing_services: Services, shared) -> tuple[str, str]:
    """A user client of the test's own, without default roles; its role `all` has every scope it can have."""
    login = await new_client(ClientKind.USER, USER_SCOPES + MANAGEMENT_SCOPES)
    role = new_role("all", USER_SCOPES + MANAGEMENT_SCOPES, is_default=False)
    await standing_services.tenant_administration.create_role(shared.name, login[0].partition("/")[2], role)
    return login


@pytest.fixture
def forget_login_failures(owner: psycopg.Connection) -> None:
    owner.execute("delete from login_failures")


def make_operation(handler: Any, path: str = "/small", **facts: Any) -> Operation:
    defaults = {
        "method": "GET",
        "id": "small",
        "summary": "Small",
        "tag": "Test",
        "security": Security.NONE,
        "success": Success(),
    }
    return Operation(**{**defaults, "path": path, "handler": handler, **facts})


StartApp = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def start_app(settings: Settings, standing_services: Services) -> StartApp:
    """An application in this process, with operations of the test's own."""

    @asynccontextmanager
    async def lend_services() -> AsyncIterator[Services]:
        yield standing_services

    @asynccontextmanager
    async def start(*operations: Operation, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:
        app = make_app(replace(settings, **changes), lend_services, operations)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with running(app), httpx.AsyncClient(transport=transport, base_url="http://small") as client:
            yield client

    return start


@asynccontextmanager
async def running(app: Any) -> AsyncIterator[None]:
    """The ASGI lifespan of an application."""
    incoming: asyncio.Queue[Any] = asyncio.Queue()
    outgoing: asyncio.Queue[Any] = asyncio.Queue()
    scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
    task = asyncio.ensure_future(app(scope, incoming.get, outgoing.put))
    await incoming.put({"type": "lifespan.startup"})
    assert (await outgoing.get())["type"] == "lifespan.startup.complete"
    yield
    await incoming.put({"type": "lifespan.shutdown"})
    assert (await outgoing.get())["type"] == "lifespan.shutdown.complete"
    await task


@pytest.fixture
def small_operation() -> Callable[..., Operation]:
    return make_operation
