"""A service of several real processes on one database, in which single processes can be made to fail."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import fault_hooks
import httpx
import psycopg
from psycopg.conninfo import make_conninfo

from banking import BankCustomer, wait_for
from consenting import AtServer
from kontor.bootstrap import open_services
from kontor.config import Settings, export_settings
from kontor.domain.secrets import Secret
from plain_http import plain_client
from processes import free_port, wait_until_ready
from tenants import create_tenant

FAULTY_SERVERS = 2
WAIT_TIMEOUT_SECONDS = 90
LONE = httpx.Limits(max_keepalive_connections=0)  # a connection for each request: none leads to a dead process


@dataclass(frozen=True)
class Moment:
    """The `count`th time that `name` is met, counted from the order on."""

    name: str
    count: int

    def __str__(self) -> str:
        return f"{self.name} #{self.count}"


def drop_vain_tries(record: list[dict[str, str]]) -> list[dict[str, str]]:
    """Without asking for a lease that somebody else had."""
    wanted, got = "before write of take_lease", "after write of take_lease"
    following = [*(entry["name"] for entry in record[1:]), ""]
    return [entry for entry, after in zip(record, following, strict=True) if entry["name"] != wanted or after == got]


@dataclass
class Victim:
    """A server or a worker, with all its processes, that fails where it is told to."""

    settings: Settings
    folder: Path
    arguments: list[str]
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        assert self.settings.database_url is not None
        url = make_conninfo(self.settings.database_url.reveal(), application_name=f"{self.folder.name} bank")
        settings = replace(self.settings, database_url=Secret(url))
        paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        own = {"PYTHONPATH": os.pathsep.join(paths), fault_hooks.FOLDER: str(self.folder)}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", "import fault_hooks; fault_hooks.main()", *self.arguments],
                env=os.environ | export_settings(settings) | own,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    # Faults

    def arm(self, moment: Moment, action: str) -> str:
        """Let it happen once. Returns a name for it."""
        token = uuid4().hex[:8]
        plan = {"token": token, "name": moment.name, "count": moment.count, "action": action}
        draft = self.folder / f"draft-{token}"
        draft.write_text(json.dumps(plan))
        draft.rename(self.folder / "plan")
        return token

    def is_met(self, token: str) -> bool:
        return (self.folder / f"met-{token}").exists()

    def escape_formula(self) -> None:
        (self.folder / "plan").unlink(missing_ok=True)

    def resume(self) -> None:
        """A process that was stopped goes on, as if nothing had happened."""
        os.kill(int((self.folder / "pid").read_text()), signal.SIGCONT)

    def release(self, token: str) -> None:
        (self.folder / f"go-{token}").touch()

    def start_record(self) -> None:
        (self.folder / "record").touch()

    def read_record(self) -> list[dict[str, str]]:
        """All that was met since, and no more from now on."""
        taken = (self.folder / "record").rename(self.folder / f"record-{uuid4().hex[:8]}")
        return drop_vain_tries([json.loads(line) for line in taken.read_text().splitlines()])


class Server(Victim):
    """`kontor serve` with one API process, which is replaced when it dies."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        own = replace(settings, base_url=f"http://127.0.0.1:{free_port()}")
        super().__init__(own, folder, ["serve", "--port", own.base_url.rpartition(":")[2]])
        self.http = plain_client(base_url=own.base_url, timeout=WAIT_TIMEOUT_SECONDS, limits=LONE)

    def wait_until_ready(self) -> None:
        wait_until_ready(self.settings.base_url, self.process, self.log, WAIT_TIMEOUT_SECONDS)

    def end(self) -> None:
        self.http.close()
        super().end()

    def seat(self, customer: BankCustomer) -> BankCustomer:
        """The same customer at this server."""
        tenant = AtServer(customer.tenant, self.http)
        return BankCustomer(tenant, customer.username, customer.reference, customer.token)


@dataclass
class Deployment:
    """`faulty_servers` fail, each for itself; `observer` never does, nor does the worker unless a test is about it."""

    settings: Settings
    faulty_servers: list[Server]
    observer: Server
    worker: Victim
    connection: psycopg.Connection[Any]
    tenant: Any = None
    cases: list[Any] = field(default_factory=list)

    def query(self, text: str, *values: Any) -> list[Any]:
        """With all rights. One connection, for threads in turn."""
        return self.connection.execute(text, values).fetchall()  # type: ignore[arg-type]

    def cut_connections(self, victim: Victim) -> int:
        """PostgreSQL ends every session of one server: the pool's, and those of the bank behind it."""
        rows = self.query(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and starts_with(application_name, %s)",
            f"{victim.folder.name} ",
        )
        return len(rows)

    def wait_until_met(self, victim: Victim, token: str) -> None:
        wait_for(lambda: victim.is_met(token), lambda is_met: is_met, WAIT_TIMEOUT_SECONDS)


@contextmanager
def running_deployment(settings: Settings, folder: Path) -> Iterator[Deployment]:
    """With a tenant. `settings` are those of a migrated database."""
    victims: list[Victim] = []
    try:
        faulty_servers: list[Server] = []
        for number in range(FAULTY_SERVERS):
            faulty_servers.append(Server(settings, folder / f"server{number}"))
            victims.append(faulty_servers[-1])
        victims.append(observer := Server(settings, folder / "observer"))
        victims.append(worker := Victim(settings, folder / "worker", ["worker"]))
        for server in (*faulty_servers, observer):
            server.wait_until_ready()
        assert settings.migration_database_url is not None
        with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as connection:
            deployment = Deployment(settings, faulty_servers, observer, worker, connection)

            async def make_tenant() -> Any:
                async with open_services(replace(settings, pool_size=2), "kontor tests") as services:
                    return await create_tenant(services, observer.http, may_collect=True)

            with ThreadPoolExecutor(1) as pool:
                deployment.tenant = pool.submit(asyncio.run, make_tenant()).result()
            yield deployment
    finally:
        for victim in victims:
            victim.end()
