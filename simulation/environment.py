"""The environment of a simulation: a database, a tenant with its webhook, users with accesses, a bank, a receiver."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg.rows import TupleRow

from kontor.bootstrap import attach_embedded, migrate_database, open_services
from kontor.config import Settings, read_settings
from kontor.domain.principals import Principal
from kontor.domain.redirects import FormOptions
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.domain.webhooks import EventType
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.users import NewUser
from kontor.services.webhooks.webhooks import NewWebhook
from kontor.storage.embedded import EmbeddedPostgres
from simulation.clocks import SimulatedClock
from simulation.connector import PROVIDERS

TENANT = "simulation"
ACCESSES_PER_USER = 20
WAIT_SECONDS = 30


class SimulationEnvironment:
    """Everything that is not a worker. The database's folder is removed at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server = EmbeddedPostgres(folder / "database")
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "SimulationEnvironment":
        base = read_settings(
            {}, data=self.folder / "database", log_level="warning", allow_loopback=True, demo_bank=True
        )
        self.settings: Settings = attach_embedded(base, self._server.start())
        migrate_database(self.settings)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._server.stop()
        shutil.rmtree(self._server.home, ignore_errors=True)

    # The database

    def restart(self, *, is_crash: bool) -> None:
        """An ordinary restart, or the end of a server whose plug was pulled."""
        if is_crash:
            os.kill(int((self._server.cluster / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)
            time.sleep(0.2)
        else:
            self._server.stop()
        self._server.start()

    def query(self, text: str, *values: object) -> list[TupleRow]:
        assert self.settings.migration_database_url is not None
        with psycopg.connect(self.settings.migration_database_url.reveal(), autocommit=True) as connection:
            return connection.execute(text.encode(), values).fetchall()

    def execute(self, text: str) -> None:
        assert self.settings.migration_database_url is not None
        with psycopg.connect(self.settings.migration_database_url.reveal(), autocommit=True) as connection:
            connection.execute(text.encode())

    # The outside world

    def start_bank(self, clock: SimulatedClock, failure_rate: float, outage_hours: float = 0) -> int:
        arguments = (str(self.folder), clock.setting, str(failure_rate), str(outage_hours))
        return self._start("simulation.bank", "bank.port", *arguments)

    def start_receiver(self, failure_rate: float) -> int:
        return self._start("simulation.receiver", "receiver.port", str(self.folder), str(failure_rate))

    def stop_failures(self) -> None:
        """From now on the bank answers every call."""
        (self.folder / "calm").touch()

    def _start(self, module: str, port_file: str, *arguments: str) -> int:
        with (self.folder / f"{module}.log").open("ab") as log:
            self._processes.append(subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=log, stderr=log))
        end = time.monotonic() + WAIT_SECONDS
        file = self.folder / port_file
        while not (file.exists() and file.read_text()):
            assert time.monotonic() < end, f"{module} does not start"
            time.sleep(0.02)
        return int(file.read_text())

    # Customers

    async def populate(self, clock: SimulatedClock, accesses: int, receiver_port: int) -> None:
        """A tenant with a webhook, and users with accesses that nobody has fetched yet."""
        settings = replace(self.settings, clock=clock.setting)
        async with open_services(settings, "kontor simulation") as services:
            tenant = new_tenant(TENANT, is_regulated=True, scopes=ALL_SCOPES)
            await services.tenant_administration.create_tenant(tenant)
            await services.tenant_administration.create_client(TENANT, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)
            await services.tenant_administration.create_client(TENANT, "app", ClientKind.USER, USER_SCOPES)
            await services.tenant_administration.create_role(
                TENANT, "app", new_role("customer", USER_SCOPES, is_default=True)
            )
            await self._register_webhook(services, receiver_port)
            tenant_id, client_id = self.query("select t.id, c.id from tenants t join clients c on c.tenant_id = t.id")[
                0
            ]
            app = Principal(tenant_id, TENANT, True, client_id, "app", frozenset(USER_SCOPES))
            for first in range(0, accesses, ACCESSES_PER_USER):
                await self._add_user(services, app, first, min(accesses, first + ACCESSES_PER_USER))
            await services.refreshing.repair_schedule()

    async def _register_webhook(self, services: Services, port: int) -> None:
        tenant_id, client_id = self.query("select t.id, c.id from tenants t join clients c on c.tenant_id = t.id")[0]
        admin = Principal(tenant_id, TENANT, True, client_id, "admin", frozenset(MANAGEMENT_SCOPES))
        events = (EventType.TRANSACTIONS_NEW, EventType.ACCESS_ERROR)
        new = NewWebhook(f"http://127.0.0.1:{port}/", events)
        _, secret = await services.webhooks.create_webhook(admin, TENANT, new)
        (self.folder / "webhook.secret").write_text(secret.reveal())

    @staticmethod
    async def _add_user(services: Services, app: Principal, first: int, end: int) -> None:
        user = await services.users.create_user_by_operator(TENANT, NewUser(f"user-{first}", Secret("a password")))
        owner = replace(app, user_id=user.id, user_pseudonym=user.id)
        for number in range(first, end):
            async with services.database.transaction(user.id) as connection:
                await services.accesses.store_opened_access(
                    connection,
                    owner,
                    name_access(number),
                    PROVIDERS[number % len(PROVIDERS)],
                    {"userid": Secret(find_login(name_access(number))), "pin": Secret("pin")},
                    None,
                    FormOptions(),
                )


def name_access(number: int) -> str:
    return f"access-{number}"


def find_login(access_id: str) -> str:
    """The login at the bank that belongs to an access."""
    return f"login of {access_id}"
