"""Fixtures: a real PostgreSQL, a real server on a real socket, and tenants of one's own for every test."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest

from kontor.bootstrap import attach_embedded, migrate_database, open_services
from kontor.config import Settings, export_settings, read_settings
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.tenants import new_role, new_tenant
from kontor.services.users import NewUser
from kontor.storage.embedded import EmbeddedPostgres


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kontor")


@pytest.fixture(scope="session")
def settings(data_dir: Path) -> Iterator[Settings]:
    """Settings of one database for the whole run, migrated, with the application's restricted role."""
    server = EmbeddedPostgres(data_dir)
    try:
        port = free_port()
        base = read_settings({}, data=data_dir, base_url=f"http://127.0.0.1:{port}", log_level="warning", demo=True)
        ready = attach_embedded(base, server.start())
        migrate_database(ready)
        yield ready
    finally:
        server.stop()
        shutil.rmtree(server.home)  # run by root, it lies outside of pytest's closed folder


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    """The use cases, in this process. Not shared between tests: an event loop must own its pool."""
    async with open_services(replace(settings, pool_size=4), "kontor tests") as services:
        yield services


@pytest.fixture(scope="session")
def server_log(data_dir: Path) -> Path:
    return data_dir / "server.log"


@pytest.fixture(scope="session")
def server(settings: Settings, server_log: Path) -> Iterator[str]:
    """A server process of its own; yields its base address."""
    verbose = replace(settings, log_level="info")
    with running_server(verbose, server_log) as address:
        yield address


@pytest.fixture(scope="session")
def http(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, timeout=30) as client:
        yield client


@dataclass
class TenantUnderTest:
    """A tenant with everything needed to call the API as each of its parts."""

    name: str
    admin: tuple[str, str]
    app: tuple[str, str]
    username: str
    password: str
    user_reference: str
    http: httpx.Client
    tokens: dict[str, str] = field(default_factory=dict)

    def client_token(self, login: tuple[str, str] | None = None, scope: str | None = None) -> str:
        form = {"grant_type": "client_credentials"} | ({"scope": scope} if scope else {})
        answer = self.http.post("/auth/oauth2/token", data=form, auth=login or self.admin)
        assert answer.status_code == 200, answer.text
        return answer.json()["access_token"]

    def user_token(self, scope: str | None = None) -> str:
        form = {"grant_type": "password", "username": self.username, "password": self.password}
        answer = self.http.post("/auth/oauth2/token", data=form | ({"scope": scope} if scope else {}), auth=self.app)
        assert answer.status_code == 200, answer.text
        return answer.json()["access_token"]

    @property
    def as_admin(self) -> dict[str, str]:
        """Headers of a management call."""
        if "admin" not in self.tokens:
            self.tokens["admin"] = self.client_token()
        return {"Authorization": f"Bearer {self.tokens['admin']}"}

    @property
    def as_user(self) -> dict[str, str]:
        """Headers of a customer's call."""
        if "user" not in self.tokens:
            self.tokens["user"] = self.user_token()
        return {"Authorization": f"Bearer {self.tokens['user']}"}

    @property
    def url(self) -> str:
        return f"/auth/mgmt/v1/tenants/{self.name}"


async def create_tenant(services: Services, http: httpx.Client, *, is_regulated: bool = True) -> TenantUnderTest:
    name = f"t-{uuid4().hex[:12]}"
    administration = services.tenant_administration
    tenant = replace(
        new_tenant(name, is_regulated=is_regulated, scopes=ALL_SCOPES),
        callback_bases=("https://example.com/", "http://localhost", "http://127.0.0.1"),
    )
    await administration.create_tenant(tenant)
    _, admin_secret = await administration.create_client(name, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)
    _, app_secret = await administration.create_client(name, "app", ClientKind.USER, USER_SCOPES)
    await administration.create_role(name, "app", new_role("customer", USER_SCOPES, is_default=True))
    user = await services.users.create_user_by_operator(name, NewUser("anna", Secret("annas password")))
    return TenantUnderTest(
        name, (f"{name}/admin", admin_secret), (f"{name}/app", app_secret), "anna", "annas password", str(user.id), http
    )


@pytest.fixture(scope="session")
async def standing_services(settings: Settings) -> AsyncIterator[Services]:
    """The use cases for the whole run, for fixtures that many tests share."""
    async with open_services(replace(settings, pool_size=4), "kontor tests, standing") as services:
        yield services


@pytest.fixture(scope="session")
async def shared(standing_services: Services, http: httpx.Client) -> TenantUnderTest:
    """A tenant for tests that leave its clients, roles and the user `anna` alone: a tenant's keys take a second."""
    return await create_tenant(standing_services, http)


@pytest.fixture(scope="session")
async def neighbour(standing_services: Services, http: httpx.Client) -> TenantUnderTest:
    """A second tenant, whose objects must never be seen from the first."""
    return await create_tenant(standing_services, http)


@pytest.fixture
async def tenant(services: Services, http: httpx.Client) -> TenantUnderTest:
    return await create_tenant(services, http)


@pytest.fixture
async def other_tenant(services: Services, http: httpx.Client) -> TenantUnderTest:
    return await create_tenant(services, http)


@pytest.fixture
def owner(settings: Settings) -> Iterator[psycopg.Connection]:
    """A connection with all rights, for looking behind the scenes."""
    assert settings.migration_database_url is not None
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection


class running_server:  # noqa: N801 (reads as a statement)
    """`kontor serve` for the time of a block."""

    def __init__(self, settings: Settings, log: Path, workers: int = 1) -> None:
        self.settings = settings
        self.log = log
        self.command = ["serve", "--port", settings.base_url.rpartition(":")[2], "--workers", str(workers)]

    def __enter__(self) -> str:
        self.process = start_kontor(self.settings, self.command, self.log)
        wait_until_ready(self.settings.base_url, self.process, self.log)
        return self.settings.base_url

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        assert self.process.wait(40) == 0, self.log.read_text()


def start_kontor(settings: Settings, arguments: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "kontor", *arguments],
            env=os.environ | export_settings(settings),
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def wait_until_ready(base_url: str, process: subprocess.Popen[bytes], log: Path, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(f"{base_url}/health/ready", timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError(f"not ready in time:\n{log.read_text()}")


def free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
