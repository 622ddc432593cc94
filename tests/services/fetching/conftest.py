"""A database that no worker looks into, for each file."""

from dataclasses import replace

import psycopg
import pytest
from fake_bank import FakeBank
from fetch_harness import FetchHarness, Gate
from refresh_harness import make_user

from kontor import bootstrap
from kontor.connectors.registry import Registry


@pytest.fixture
def bank(monkeypatch):
    bank = FakeBank()
    monkeypatch.setattr(bootstrap, "make_registry", lambda settings: Registry([bank]))
    yield bank
    for gate in Gate.closed:  # a test that failed must not leave threads behind that wait for it
        gate.open.set()


@pytest.fixture
def owner(own):
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection


@pytest.fixture
async def harness(own, bank, owner):
    for table in ("pgqueuer", "accesses", "credential_leases"):
        owner.execute(f"delete from {table}")
    async with bootstrap.open_services(replace(own, pool_size=6), "kontor tests") as services:
        yield FetchHarness(services, await make_user(services, owner), owner)
