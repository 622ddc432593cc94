"""Two API processes behind one address, two workers, a primary and its standby."""

import asyncio
import base64
import os
import secrets
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from replicated_clusters import Cluster, replicated
from round_robins import RoundRobin

from kontor.bootstrap import migrate_database, open_services
from kontor.config import Settings, export_settings, read_settings
from kontor.domain.secrets import Secret
from kontor.storage.embedded_host import find_binaries
from plain_http import plain_client
from process_tree import Running, clean_environment, find_port
from tenants import TenantUnderTest, create_tenant
from timeouts import WAIT_TIMEOUT_SECONDS

DEPLOY = Path(__file__).parents[2] / "deploy"
OWNER, APP, DATABASE = "kontor_owner", "kontor", "kontor"


@dataclass
class Fleet:
    settings: Settings
    primary: Cluster
    standby: Cluster | None
    servers: dict[str, Running]  # by base address
    workers: list[Running]
    tenant: TenantUnderTest
    clients: dict[str, httpx.Client] = field(default_factory=dict)

    @property
    def processes(self) -> list[Running]:
        return [*self.servers.values(), *self.workers]

    @property
    def logs(self) -> str:
        return "\n".join(running.printed for running in self.processes)

    def at(self, address: str) -> TenantUnderTest:
        """The tenant, as seen through one of the servers."""
        if address not in self.clients:
            self.clients[address] = plain_client(base_url=address, timeout=WAIT_TIMEOUT_SECONDS)
        return replace(self.tenant, http=self.clients[address])

    def query(self, text: str, *values: Any) -> list[Any]:
        with self.primary.connect(DATABASE) as connection:
            return connection.execute(text, values).fetchall()

    def create_user(self, tenant: TenantUnderTest, username: str) -> httpx.Response | None:
        """None when the connection broke: nobody knows what became of it."""
        body = {"username": username, "password": "a long passphrase"}
        try:
            return tenant.http.post(f"{tenant.url}/users", json=body, headers=tenant.as_admin)
        except httpx.TransportError:
            return None

    def assert_all_live(self) -> None:
        for running in self.processes:
            assert running.process.poll() is None, running.printed
        assert "Traceback" not in "\n".join(server.printed for server in self.servers.values())


@contextmanager
def running_fleet(folder: Path) -> Iterator[Fleet]:
    with ExitStack() as stack:
        primary, standby = stack.enter_context(replicated())
        create_roles(primary, folder)
        proxy = RoundRobin()
        stack.callback(proxy.close)
        hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        settings = replace(
            read_settings(
                {},
                data=folder,
                base_url=f"http://127.0.0.1:{proxy.port}",
                demo=True,
                demo_bank=True,
                demo_slow_seconds=4,
                compute_processes=1,
            ),
            # One of the two says what it wants, the other leaves it to Kontor.
            database_url=Secret(f"postgresql://{APP}@{hosts}/{DATABASE}?target_session_attrs=read-write"),
            migration_database_url=Secret(f"postgresql://{OWNER}@{hosts}/{DATABASE}"),
            master_key=Secret(base64.b64encode(secrets.token_bytes(32)).decode()),
        )
        migrate_database(settings)
        start = _starter(settings, folder, stack)
        ports = [find_port(), find_port()]
        servers = {f"http://127.0.0.1:{port}": start("serve", "--port", str(port)) for port in ports}
        workers = [start("worker"), start("worker")]
        for address, server in servers.items():
            server.wait_until_ready(address)
        for worker in workers:
            worker.wait_for("worker.ready")
        proxy.start(ports)
        http = stack.enter_context(plain_client(base_url=settings.base_url, timeout=WAIT_TIMEOUT_SECONDS))
        fleet = Fleet(settings, primary, standby, servers, workers, make_tenant(settings, http))
        yield fleet
        for client in fleet.clients.values():
            client.close()
        for running in fleet.processes:  # all at once; whoever is left is waited for in turn
            running.process.terminate()


def create_roles(cluster: Cluster, folder: Path) -> None:
    """With the script that a container of PostgreSQL runs when it is new."""
    for name in ("owner_password", "app_password"):
        (folder / name).write_text(f"it's the {name}")
    tools = find_binaries(cluster.user)
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}", "PGHOST": "127.0.0.1", "PGPORT": str(cluster.port),
        "KONTOR_SECRETS": str(folder),
    }  # fmt: skip
    subprocess.run(["sh", DEPLOY / "compose/create-roles.sh"], env=environment, check=True)


def _starter(settings: Settings, folder: Path, stack: ExitStack) -> Callable[..., Running]:
    environment = clean_environment(**export_settings(settings))

    def start(*arguments: str) -> Running:
        process = Running(list(arguments), folder / f"{arguments[0]}-{uuid4().hex[:6]}.log", environment)
        stack.callback(process.discard)
        return process

    return start


def make_tenant(settings: Settings, http: httpx.Client) -> TenantUnderTest:
    """Without this process's event loop."""

    async def create() -> TenantUnderTest:
        async with open_services(replace(settings, pool_size=2), "kontor tests") as services:
            return await create_tenant(services, http)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, create()).result()
