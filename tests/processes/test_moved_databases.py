"""Connections: several hosts in one address, servers that take no writes any more, notes that come early."""

import asyncio

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ReadOnlySqlTransaction

from kontor.domain.secrets import Secret
from kontor.jobs.queue_driver import TwoConnectionDriver
from kontor.storage.connection_pool import DatabaseMovedError
from kontor.storage.connections import address_writer, connect_alone, connect_blocking
from kontor.storage.database import Database

pytestmark = pytest.mark.long

WRITE = "delete from login_failures where false"


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("postgresql://a,b/kontor", "read-write"),
        ("host=a,b dbname=kontor", "read-write"),
        ("hostaddr=10.0.0.1,10.0.0.2", "read-write"),
        ("postgresql://a:1,b:2/kontor?target_session_attrs=primary", "primary"),
        ("postgresql://a/kontor", None),
        ("host=/run/postgresql user=kontor", None),
    ],
)
def test_among_several_hosts_the_one_that_takes_writes_is_looked_for(address, wanted):
    assert conninfo_to_dict(address_writer(Secret(address))).get("target_session_attrs") == wanted


@pytest.fixture
async def database(settings):
    database = Database(settings.database_url, 2, "kontor tests, moved")
    await database.open()
    yield database
    await database.close()


async def find_backend(database):
    async with database.connect() as connection:
        return connection.info.backend_pid


async def test_a_connection_to_a_server_that_takes_no_writes_any_more_is_dropped(database):
    async with database.connect() as connection:
        await connection.execute("set default_transaction_read_only = on")
    before = await find_backend(database)
    with pytest.raises(DatabaseMovedError):
        async with database.transaction() as connection:
            await connection.execute(WRITE)
    async with database.transaction() as connection:
        await connection.execute(WRITE)
    assert await find_backend(database) != before


async def test_a_write_within_a_snapshot_is_a_defect_and_costs_no_connection(database):
    before = await find_backend(database)
    with pytest.raises(ReadOnlySqlTransaction):
        async with database.snapshot() as connection:
            await connection.execute(WRITE)
    assert await find_backend(database) == before


def test_who_needs_the_database_for_a_moment_waits_for_one_that_is_away(monkeypatch):
    tries = []

    def connect(*_, **facts):
        tries.append(facts)
        if len(tries) < 3:
            raise psycopg.OperationalError("just moving")
        return "connected"

    monkeypatch.setattr(psycopg, "connect", connect)
    assert connect_blocking(Secret("host=a"), autocommit=True, patience_seconds=60) == "connected"
    tries.clear()
    with pytest.raises(psycopg.OperationalError):
        connect_blocking(Secret("host=a"), autocommit=True)
    assert len(tries) == 1


async def test_a_note_that_the_queue_sends_itself_at_once_is_not_lost(settings):
    """Else a worker took its listener for dead ten seconds after its start, whenever the note was faster."""
    async with (
        await connect_alone(settings.database_url, "listener") as listening,
        await connect_alone(settings.database_url, "worker") as working,
    ):
        driver = TwoConnectionDriver(listening, working)
        async with driver:
            await driver.begin_listening("early_notes")
            await driver.notify("early_notes", "first")
            heard = asyncio.Queue()
            await driver.add_listener("early_notes", heard.put_nowait)
            assert await asyncio.wait_for(heard.get(), 10) == "first"
