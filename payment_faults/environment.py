"""What faults happen to: a database, the demo bank over three connectors, and customers with accounts to pay from.

The bank books an order each time it arrives. Its FinTS and XS2A servers run in threads of this process, started once.
"""

import os
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool

from kontor import bootstrap
from kontor.bootstrap import attach_embedded, make_services, migrate_database
from kontor.config import read_settings
from kontor.connectors.base import Context
from kontor.connectors.demo.people import person_for
from kontor.connectors.demo.people.numbers import DEMO_BANK_CODE
from kontor.connectors.profile_checks import load_bank_profiles
from kontor.demobank.certificates import ensure_certificates
from kontor.demobank.fints import FintsBank, FintsOptions, FintsServer
from kontor.demobank.xs2a import DemoAspsp, make_xs2a_app
from kontor.demobank.xs2a.serving import AppServer
from kontor.domain.accesses import make_product_id
from kontor.domain.clocks import BERLIN
from kontor.domain.principals import Principal
from kontor.domain.providers import Provider
from kontor.domain.redirects import FormOptions
from kontor.domain.scopes import ALL_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.banks import gateway
from kontor.services.bundle import Services
from kontor.services.compute import Compute
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.users import NewUser
from kontor.services.payments import recovery
from kontor.services.runtime import DaemonThreads
from kontor.storage import demo_bank_payments, products
from kontor.storage.database import Database
from kontor.storage.demo_bank_pages import DemoBankPages
from kontor.storage.embedded import EmbeddedPostgres
from kontor.storage.keys import SealingKey, refuse_wrong_master_key
from kontor.storage.system_keys import load_digest_key
from payment_faults.plans import LOGINS, Connector, Sca

TENANT = "faults"
BANK_NAMES = {Connector.DEMO: "Demo-Bank", Connector.FINTS: "FinTS-Bank", Connector.XS2A: "XS2A-Bank"}
BOOKS = "demo_bank_bookings, demo_bank_standing_orders, demo_bank_payments, demo_bank_arrivals, demo_bank_pages"
CLEAN_EVERY = 50  # faults; a longer statement makes every look-up slower
BANK_SECONDS, REQUEST_SECONDS = 20, 1


@dataclass(frozen=True, slots=True)
class Payer:
    """A user with an access and an account, at one bank, by one login."""

    principal: Principal
    provider: Provider
    credentials: dict[str, Secret]
    access_id: str
    product_id: UUID
    iban: str


class FaultEnvironment:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._keys: tuple[SealingKey, SealingKey] | None = None
        self._payers = 0

    # Life

    def __enter__(self) -> Self:
        server = EmbeddedPostgres(self._folder / "database")
        self._stack.callback(shutil.rmtree, server.home, ignore_errors=True)
        self._stack.callback(server.stop)
        base = read_settings({}, data=self._folder / "database", log_level="error", demo=True, demo_bank=True)
        self.settings = replace(
            attach_embedded(base, server.start()),
            pool_size=4,
            bank_seconds=BANK_SECONDS,
            request_seconds=REQUEST_SECONDS,
        )
        migrate_database(self.settings)
        assert self.settings.migration_database_url is not None
        owner = psycopg.connect(self.settings.migration_database_url.reveal(), autocommit=True)
        self._owner = self._stack.enter_context(closing(owner))
        self._start_banks()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start_banks(self) -> None:
        assert self.settings.database_url is not None
        pages = f"{self.settings.base_url}/demobank/confirm"
        self._keep_connections()
        Context.wait = _move_clock  # type: ignore[method-assign]  # between two polls of the verification of payees
        recovery.WAIT_TIMEOUT_SECONDS = BANK_SECONDS  # a busy machine must not make look-ups end elsewhere
        self._bank = DemoBankPages(self.settings.database_url, pages, pays_twice=True)
        files = ensure_certificates(self._folder / "certificates", "127.0.0.1")
        self.authority = files.authority
        fints = FintsServer("127.0.0.1", 0, files.certificate, files.key)
        address = f"127.0.0.1:{fints.port}/fints"
        fints.start(FintsBank(self._bank, FintsOptions(address, slow_seconds=0), lambda: datetime.now(UTC)))
        self._stack.callback(fints.stop)
        xs2a_port = _find_free_port()
        xs2a = AppServer("127.0.0.1", xs2a_port, make_xs2a_app(DemoAspsp(self._bank)))
        xs2a.start()
        self._stack.callback(xs2a.stop)
        banks = self._folder / "banks.toml"
        banks.write_text(
            f'[[bank]]\ncode = "{DEMO_BANK_CODE}"\nname = "{BANK_NAMES[Connector.FINTS]}"\n'
            f'fints = "https://{address}"\n'
            f'[[bank]]\ncode = "99999997"\nname = "{BANK_NAMES[Connector.XS2A]}"\n'
            f'[bank.xs2a]\nbase_url = "http://127.0.0.1:{xs2a_port}"\nhas_bulk = true\nhas_periodic = true\n'
            "cancels_periodic = true\n"
        )
        self.settings = replace(
            self.settings, banks=banks, fints_product_id="KONTORTEST", bank_authorities=files.authority
        )
        threads = DaemonThreads(gateway.BANK_THREADS, "bank")
        gateway.DaemonThreads = lambda *_: threads  # type: ignore[assignment,misc]  # those of the dead would stay
        bank = self._bank
        bootstrap.DemoBankMemory = lambda *_: bank  # type: ignore[assignment,misc]
        # The catalogue is read-only, and reading it takes longer than a payment.
        catalogue = bootstrap.load_catalogue(
            bootstrap.make_registry(self.settings).kinds, True, load_bank_profiles(banks)
        )
        bootstrap.load_catalogue = lambda *_: catalogue

    def _keep_connections(self) -> None:
        """The bank opens a connection for each statement, which takes longer than the statement."""
        assert self.settings.database_url is not None
        pools = {
            autocommit: ConnectionPool(
                self.settings.database_url.reveal(),
                kwargs={"autocommit": autocommit},
                min_size=1,
                max_size=8,
                open=True,
            )
            for autocommit in (True, False)
        }
        for pool in pools.values():
            self._stack.callback(pool.close)

        def lend(_: Secret, *, autocommit: bool, patience_seconds: float) -> Any:
            return pools[autocommit].connection()

        demo_bank_payments.connect_blocking = lend

    # Kontor

    @asynccontextmanager
    async def open_process(self) -> AsyncIterator[Services]:
        """Services with connections of their own, as a process has them."""
        assert self.settings.database_url is not None
        database = Database(self.settings.database_url, self.settings.pool_size, "kontor faults")
        try:
            await database.open()
            if self._keys is None:
                master = bootstrap.load_master_key(self.settings)
                async with database.connect() as connection:
                    await refuse_wrong_master_key(connection, master)
                    self._keys = master, await load_digest_key(connection, master)
            yield make_services(self.settings, database, *self._keys, Compute())
        finally:
            await database.close()

    async def populate(self) -> None:
        async with self.open_process() as services:
            administration = services.tenant_administration
            await administration.create_tenant(new_tenant(TENANT, is_regulated=True, scopes=ALL_SCOPES))
            await administration.create_client(TENANT, "app", ClientKind.USER, USER_SCOPES)
            await administration.create_role(TENANT, "app", new_role("customer", USER_SCOPES, is_default=True))
            self._providers = {provider.name: provider for provider in services.providers.search(None)}
        self.query("create table kept_accesses as select * from accesses")

    async def add_payer(self, connector: Connector, sca: Sca) -> Payer:
        """A user with an access to one bank, by a login of the user's own."""
        async with self.open_process() as services:
            return await self._add_payer(services, self._providers[BANK_NAMES[connector]], connector, sca)

    async def _add_payer(self, services: Services, provider: Provider, connector: Connector, sca: Sca) -> Payer:
        self._payers += 1
        number = self._payers
        user = await services.users.create_user_by_operator(TENANT, NewUser(f"user-{number}", Secret("a password")))
        principal = Principal(user.tenant_id, TENANT, True, uuid4(), "app", frozenset(), user.id, user.pseudonym, True)
        login, access_id = f"{LOGINS[sca]}+{number}", str(uuid4())
        credentials = {"userid": Secret(login), "pin": Secret("demo")}
        person = person_for(login, today())
        assert person is not None
        account = next(account.product for account in person.accounts if account.product.can_bulk_transfer)
        assert account.iban is not None
        product = account if connector is Connector.DEMO else replace(account, key=account.iban)
        product_id = make_product_id(user.id, access_id, product.key)
        async with services.database.transaction(user.id) as connection:
            await services.accesses.store_opened_access(
                connection, principal, access_id, provider, credentials, None, FormOptions()
            )
        async with services.database.transaction(user.id) as connection:
            await products.upsert_product(connection, user.id, product_id, access_id, 0, product)
        return Payer(principal, provider, credentials, access_id, product_id, account.iban)

    # The database, as its owner

    def query(self, text: str, *values: Any) -> list[TupleRow]:
        cursor = self._owner.execute(text.encode(), values)
        return cursor.fetchall() if cursor.description else []

    def keep_access(self, payer: Payer) -> None:
        """As it is now is how every fault finds it."""
        self.query("insert into kept_accesses select * from accesses where id = %s", payer.access_id)

    def tidy(self, payer: Payer, number: int) -> None:
        """Before a fault: no payment, no lease, the access as it was."""
        self.query("delete from standing_orders")
        self.tidy_payments(payer)
        if number % CLEAN_EVERY == 0:
            self.query(f"truncate {BOOKS}, pgqueuer, pgqueuer_log")

    def tidy_payments(self, payer: Payer) -> None:
        """No payment and no lease; standing orders stay."""
        for table in ("payments", "payment_fingerprints", "credential_leases", "fetches", "unattended_calls"):
            self.query(f"delete from {table}")
        self.query(
            "update accesses a set memory = k.memory, consent_until = k.consent_until, messages = k.messages,"
            " active_method = k.active_method, active_medium = k.active_medium, refresh_pause = k.refresh_pause"
            " from kept_accesses k where k.user_id = a.user_id and k.id = a.id and a.id = %s",
            payer.access_id,
        )

    # The clock, moved

    def expire_leases(self) -> None:
        self.query("update credential_leases set until = clock_timestamp() - interval '1 second'")

    def make_lookups_due(self) -> None:
        self.query("update payments set next_lookup_at = now() where next_lookup_at is not null")

    def expire_dialogues(self) -> None:
        self.query("update payments set expires_at = now() where state in ('DRAFT', 'OPEN', 'SENDING')")


def today() -> date:
    return datetime.now(BERLIN).date()


def _move_clock(context: Context, seconds: float) -> bool:
    """Instead of sleeping."""
    return seconds < context.remaining_seconds()


def _find_free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def clear_environment() -> None:
    """No setting of the caller's environment reaches the environment."""
    for name in [name for name in os.environ if name.startswith("KONTOR_")]:
        del os.environ[name]
