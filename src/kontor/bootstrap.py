"""The only file that knows every room: builds the application, the worker and the services."""

import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

from litestar.types import ASGIApp
from psycopg.conninfo import conninfo_to_dict

from kontor.api.app import make_app
from kontor.config import Settings, read_settings
from kontor.jobs.worker import Worker
from kontor.logs import configure_logs
from kontor.services.bundle import Services
from kontor.services.encryption import Encryption
from kontor.services.housekeeping import Housekeeping
from kontor.services.passwords import Passwords
from kontor.services.tenants import TenantAdministration, Tenants
from kontor.services.tokens import Tokens
from kontor.services.users import Users
from kontor.storage import embedded
from kontor.storage.database import Database
from kontor.storage.keys import SealingKey, read_master_key
from kontor.storage.migrate import Migration, migrate

EMBEDDED_KEY_FILE = "master.key"


def load_master_key(settings: Settings) -> SealingKey:
    """The key file is for embedded mode: beside an external database the key must come from elsewhere."""
    file = settings.data / EMBEDDED_KEY_FILE if settings.database_url is None or settings.is_embedded else None
    return read_master_key(settings.master_key, settings.master_key_command, file)


@contextmanager
def with_database(settings: Settings) -> Iterator[Settings]:
    """Settings with a database to connect to: the external one, or the embedded one for the time of the block."""
    if settings.database_url is not None:
        yield settings
        return
    with embedded.running(settings.data) as addresses:
        yield attach_embedded(settings, addresses)


def attach_embedded(settings: Settings, addresses: embedded.Addresses) -> Settings:
    return replace(settings, database_url=addresses.app, migration_database_url=addresses.owner, is_embedded=True)


def migrate_database(settings: Settings) -> list[Migration]:
    assert settings.database_url is not None
    owner = settings.migration_database_url or settings.database_url
    app_role = None
    if owner != settings.database_url:
        app_role = str(conninfo_to_dict(settings.database_url.reveal())["user"])
    return migrate(owner, app_role)


@asynccontextmanager
async def open_services(settings: Settings, application_name: str) -> AsyncIterator[Services]:
    assert settings.database_url is not None
    master = load_master_key(settings)
    database = Database(settings.database_url, settings.pool_size, application_name)
    await database.open()
    try:
        yield make_services(database, master)
    finally:
        await database.close()


def make_services(database: Database, master: SealingKey) -> Services:
    passwords = Passwords()
    return Services(
        database=database,
        tenants=Tenants(database),
        tenant_administration=TenantAdministration(database, master),
        users=Users(database, master, passwords),
        tokens=Tokens(database, passwords),
        encryption=Encryption(database, master),
        housekeeping=Housekeeping(database),
    )


def create_app() -> ASGIApp:
    """What each API process runs; settings come from the environment."""
    settings = read_settings()
    configure_logs(settings.log_level, settings.log_format)
    end_with_parent()
    return make_app(settings, lambda: open_services(settings, "kontor api"))


def create_worker(settings: Settings) -> Worker:
    return Worker(settings, lambda: open_services(settings, "kontor worker"))


def end_with_parent() -> None:
    """End this process when the one that started it is gone, however it went: nobody would stop it otherwise."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.25)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
