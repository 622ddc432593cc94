"""Fixtures: a real PostgreSQL, a real server on a real socket, and tenants of one's own for every test."""

import gc
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest
from httpx._transports import default as transports
from hypothesis import HealthCheck, is_hypothesis_test
from hypothesis import settings as examples

import given_clusters
from address_filter import refuse_outside
from banking import BankCustomer, new_customer
from cheap_passwords import hash_cheaply
from console_site import ConsoleSite, password_of
from kept_connections import close_kept, connect_kept
from kontor import bootstrap
from kontor.bootstrap import attach_embedded, migrate_database, open_services
from kontor.config import Settings, read_settings
from kontor.connectors.aspsps import AspspBank
from kontor.connectors.catalogue import Catalogue, load_catalogue
from kontor.connectors.demo.people import person
from kontor.connectors.profiles import Profiles, load_shipped
from kontor.domain.secrets import Secret
from kontor.services.bundle import Services
from kontor.storage import demo_bank_payments, keys
from kontor.storage.embedded import EmbeddedPostgres
from kontor.storage.lock_order import check_lock_order
from long_tier import LongTier, add_options
from many_examples import count_examples
from plain_http import create_shared_ssl_context, plain_client
from processes import KONTOR, WITH_CHEAP_PASSWORDS, free_port, make_template, running_server, running_worker
from tenants import TenantUnderTest, create_office, create_tenant, generate_rsa_key
from timeouts import WAIT_TIMEOUT_SECONDS

# The same examples in every run, on a fast and on a slow machine: what passed here passes elsewhere. To look for new
# ones, set KONTOR_TEST_NEW_EXAMPLES.
examples.register_profile(
    "kontor",
    max_examples=count_examples(100),
    derandomize="KONTOR_TEST_NEW_EXAMPLES" not in os.environ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
examples.load_profile("kontor")

# No test needs another machine: what would connect to one fails.
refuse_outside()

# Commands that tests start have one compute process instead of two, and it starts at its first task: loading takes 4 s
# of processor time. The server and the worker that most tests share have some that start at once, as installed.
os.environ["KONTOR_COMPUTE_PROCESSES"] = "1"
os.environ["KONTOR_COMPUTE_PRELOAD"] = "false"

# The demo bank keeps eight people in memory. Tests go through all of them, again and again.
person._build_person = lru_cache(maxsize=64)(person._build_person.__wrapped__)

_load_shared_catalogue = lru_cache(maxsize=32)(load_catalogue)


def _load_catalogue(
    enabled_connectors: frozenset[str],
    list_all: bool,
    profiles: Profiles | None = None,
    aspsps: Sequence[AspspBank] = (),
) -> Catalogue:
    """Services of this process share the catalogues of shipped banks: each takes 0.1 s of processor time to make."""
    if profiles is not load_shipped() or aspsps:
        return load_catalogue(enabled_connectors, list_all, profiles, aspsps)
    return _load_shared_catalogue(enabled_connectors, list_all)


bootstrap.load_catalogue = _load_catalogue
demo_bank_payments.connect_blocking = connect_kept
transports.create_ssl_context = create_shared_ssl_context
keys._generate_rsa_key = generate_rsa_key

TESTS = Path(__file__).parent
# They start a browser or whole programs of their own: marked `programs`.
PROGRAMS = (
    "analysis/tagging/test_prepared_knowledge.py",
    "assistants/test_assistants_guide.py",
    "assistants/test_mcp_programs.py",
    "assistants/test_several_processes.py",
    "browser",
    "cli/test_cli_check.py",
    "cli/test_cli_crashes.py",
    "cli/test_cli_demo.py",
    "cli/test_cli_distribute.py",
    "cli/test_cli_enable_banking.py",
    "cli/test_cli_keys.py",
    "cli/test_cli_serve.py",
    "cli/test_cli_trace.py",
    "cli/test_compute_readiness.py",
    "cli/test_core_files.py",
    "cli/test_logs_and_traces.py",
    "cli/test_versions.py",
    "client/test_examples.py",
    "console/test_console_quickstart.py",
    "demobank/test_demobank_command.py",
    "docs/test_enable_banking_guide.py",
    "docs/test_own_model_guide.py",
    "docs/test_payment_guide.py",
    "docs/test_quickstart.py",
    "docs/test_webhook_guide.py",
    "egress/test_filtered_programs.py",
    "exports/test_export_commands.py",
    "exports/test_parquet_export.py",
    "faults",
    "imports/test_import_command.py",
    "isolation/test_compute.py",
    "jobs/test_worker_process.py",
    "journeys",
    "ops/test_ops_workers.py",
    "processes",
    "sca/test_consent_restarts.py",
    "services/test_stopped_worker_process.py",
    "simulation/test_payment_fault_samples.py",
    "spec/test_schemathesis_banking.py",
    "storage/test_backups.py",
    "storage/test_embedded.py",
)
OTHER_TIERS = frozenset({"long", "peers", "official"})
SLOW_FOLDERS = ("connectors/contract", "browser", "cli", "imports", "sca", "webform", "console", "docs", "journeys")


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)
    parser.addoption(
        "--seed", type=int, action="append", help="tests/journeys/test_faulty_banks.py: run these seeds and no others"
    )
    parser.addoption("--write-fields", action="store_true", help="write docs/fields.md instead of comparing it")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--long-tier"):
        config.pluginmanager.register(LongTier(config), "long tier")
    else:
        hash_cheaply()  # the long tier hashes as production does


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The fast tier takes no test of these: importing them would be a part of its time. None: as pytest decides."""
    is_fast = "not programs" in config.option.markexpr
    place = collection_path.relative_to(TESTS).as_posix() if collection_path.is_relative_to(TESTS) else ""
    return True if is_fast and place.startswith(PROGRAMS) else None


def pytest_collection(session: pytest.Session) -> None:
    """Nothing that is collected is garbage: looking for some takes a fifth of the time."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Twelve thousand tests stay until the end: the garbage collector need not look through them again and again."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # a twentieth of the processor time with the default of 700


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files that take longest come first, so that nobody waits for the last one."""
    for item in items:
        place = item.path.relative_to(TESTS).as_posix()
        if place.startswith(PROGRAMS) and not OTHER_TIERS.intersection(item.keywords):
            item.add_marker("programs")
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("examples")
    if not config.getoption("--long-tier"):
        folders = [str(item.path.parent.relative_to(TESTS)) for item in items]
        ranks = {folder: SLOW_FOLDERS.index(folder) for folder in folders if folder in SLOW_FOLDERS}
        order = sorted(range(len(items)), key=lambda number: ranks.get(folders[number], len(SLOW_FOLDERS)))
        items[:] = [items[number] for number in order]


@pytest.fixture(scope="session", autouse=True)
def lock_order() -> Iterator[None]:
    """Every transaction of every test keeps the declared order of locks."""
    with check_lock_order():
        yield


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kontor")


@pytest.fixture(scope="session")
def settings(data_dir: Path) -> Iterator[Settings]:
    """Settings of one database for the whole run, migrated, with the application's restricted role."""
    base = read_settings(
        {}, data=data_dir, base_url=f"http://127.0.0.1:{free_port()}", log_level="warning", demo=True, demo_bank=True
    )
    if given_clusters.is_given():
        yield given_clusters.prepare_cluster(base)
        close_kept()
        return
    server = EmbeddedPostgres(data_dir)
    try:
        ready = attach_embedded(base, server.start())
        migrate_database(ready)
        make_template(ready)
        yield ready
    finally:
        close_kept()
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
def program(request: pytest.FixtureRequest) -> list[str]:
    """How shared servers are started. The long tier hashes passwords as production does, also where many log in."""
    return KONTOR if request.config.getoption("--long-tier") else WITH_CHEAP_PASSWORDS


@pytest.fixture(scope="session")
def shared_settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Of shared servers and workers: one compute process each. The long tier has as many as are installed."""
    verbose = replace(settings, log_level="info")
    return verbose if request.config.getoption("--long-tier") else replace(verbose, compute_processes=1)


@pytest.fixture(scope="session")
def server(shared_settings: Settings, server_log: Path, program: list[str]) -> Iterator[str]:
    """A server process of its own; yields its base address."""
    with running_server(shared_settings, server_log, program=program) as address:
        yield address


@pytest.fixture(scope="session")
def worker_log(data_dir: Path) -> Path:
    return data_dir / "worker.log"


@pytest.fixture(scope="session")
def bank_server(server: str, shared_settings: Settings, worker_log: Path) -> Iterator[str]:
    """The server, and a worker beside it that asks the banks; yields the server's base address."""
    with running_worker(shared_settings, worker_log):
        yield server


@pytest.fixture(scope="session")
def http(server: str) -> Iterator[httpx.Client]:
    with plain_client(base_url=server, timeout=WAIT_TIMEOUT_SECONDS) as client:
        yield client


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
    return await create_tenant(standing_services, http, has_own_key=True)


@pytest.fixture
async def tenant(services: Services, http: httpx.Client) -> TenantUnderTest:
    return await create_tenant(services, http)


@pytest.fixture
async def other_tenant(services: Services, http: httpx.Client) -> TenantUnderTest:
    return await create_tenant(services, http, has_own_key=True)


@pytest.fixture
def customer(bank_server: str, shared: TenantUnderTest) -> BankCustomer:
    """A new user without any access, at a service that asks banks."""
    return new_customer(shared)


@pytest.fixture(scope="session")
def demo1(bank_server: str, shared: TenantUnderTest) -> tuple[BankCustomer, str]:
    """A customer with a complete access of all product kinds; for tests that only read. (customer, access id)"""
    reader = new_customer(shared)
    return reader, reader.add_complete("demo1+reader")


@pytest.fixture
def owner(settings: Settings) -> Iterator[psycopg.Connection]:
    """A connection with all rights, for looking behind the scenes."""
    assert settings.migration_database_url is not None
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
async def console_site(
    bank_server: str,
    settings: Settings,
    standing_services: Services,
    http: httpx.Client,
    data_dir: Path,
    program: list[str],
) -> AsyncIterator[ConsoleSite]:
    """A second API process beside the first, which serves the console to users of two tenants."""
    regulated = await create_tenant(standing_services, http)
    redirecting = await create_tenant(standing_services, http, is_regulated=False)
    advised = await create_tenant(standing_services, http)
    office = await create_office(standing_services, advised.name)
    clients = " ".join(f"{name}:{secret}" for name, secret in (regulated.app, redirecting.app, office))
    base_url = f"http://127.0.0.1:{free_port()}"
    rich = new_customer(regulated)
    access_id = rich.add_complete("hauskauf+console")
    own = replace(
        settings,
        base_url=base_url,
        console_clients=Secret(clients),
        console_sample=Secret(f"{regulated.name}/{rich.username}:{password_of(rich)}"),
        allow_loopback=True,
        log_level="info",
        compute_processes=1,
        compute_preload=False,
    )
    _, token = await standing_services.operators.create_operator(f"console-{uuid4().hex[:8]}", 1)
    with running_server(own, data_dir / "console.log", program=program) as address:
        yield ConsoleSite(address, regulated, redirecting, rich, access_id, token.reveal(), advised)
