"""A database for each file, and background refresh with a clock of one's own; see `refresh_harness`."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from fake_bank import FakeBank
from refresh_harness import HandClock, RefreshHarness, make_user

from kontor import bootstrap
from kontor.config import Settings
from kontor.connectors.registry import Registry
from processes import beside


@pytest.fixture(scope="module")
def own(settings: Settings) -> Iterator[Settings]:
    """A database that no worker looks into, and whose users are all of one file."""
    with beside(settings) as own:
        yield own


@pytest.fixture(scope="module")
def refresh_settings(own: Settings) -> Settings:
    return replace(own, pool_size=6)


@pytest.fixture
def refresh_owner(refresh_settings: Settings) -> Iterator[psycopg.Connection[Any]]:
    assert refresh_settings.migration_database_url is not None
    url = refresh_settings.migration_database_url.reveal()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set timezone = 'UTC'")
        yield connection


@pytest.fixture
def refresh_bank(monkeypatch: pytest.MonkeyPatch) -> FakeBank:
    bank = FakeBank()
    monkeypatch.setattr(bootstrap, "make_registry", lambda *_: Registry([bank]))
    return bank


@pytest.fixture
async def refreshing(
    refresh_settings: Settings,
    refresh_owner: psycopg.Connection[Any],
    refresh_bank: FakeBank,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[RefreshHarness]:
    for table in ("pgqueuer", "accesses", "credential_leases", "provider_outages", "provider_outcomes"):
        refresh_owner.execute(f"delete from {table}")
    clock = HandClock()
    monkeypatch.setattr(bootstrap, "Clock", lambda *_: clock)
    async with bootstrap.open_services(refresh_settings, "kontor tests, refreshing") as services:
        yield RefreshHarness(services, await make_user(services, refresh_owner), refresh_owner, clock)
