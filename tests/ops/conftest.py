"""A database of its own without a worker: what is put there stays as it is, so that counts can be exact."""

import asyncio
import io
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import httpx
import psycopg
import pytest
from operating import OperatorClient, make_tenant, running

from kontor.api.app import make_app
from kontor.bootstrap import open_services
from kontor.cli import commands
from kontor.config import Settings, export_settings
from kontor.services.bundle import Services
from kontor.services.operations import refresh_outcomes as ops_outcomes
from kontor.services.runtime import single_flight_cache
from processes import beside


@pytest.fixture(scope="session")
def ops_settings(settings: Settings) -> Iterator[Settings]:
    with beside(settings) as own:
        yield replace(own, pool_size=6)


@pytest.fixture(scope="session")
async def shared_operator(ops_settings: Settings) -> AsyncIterator[OperatorClient]:
    assert ops_settings.migration_database_url is not None
    async with open_services(ops_settings, "kontor ops tests") as services:

        @asynccontextmanager
        async def lend_services() -> AsyncIterator[Services]:
            yield services

        app = make_app(ops_settings, lend_services)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with running(app), httpx.AsyncClient(transport=transport, base_url=ops_settings.base_url) as http:
            with psycopg.connect(ops_settings.migration_database_url.reveal(), autocommit=True) as owner:
                operator = OperatorClient(ops_settings, services, http, owner)
                await make_tenant(operator, "north")
                await make_tenant(operator, "south")
                _, token = await services.operators.create_operator("olga", 1)
                operator.tokens["operator"] = token.reveal()
                yield operator


@pytest.fixture
def operator(shared_operator: OperatorClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[OperatorClient]:
    """Empty again for every test, and nothing is cached between two calls."""
    monkeypatch.setattr(single_flight_cache, "MIN_TTL_SECONDS", 0)
    monkeypatch.setattr(single_flight_cache, "TTL_FACTOR", 0)
    monkeypatch.setattr(ops_outcomes, "SETTLED", timedelta(days=2))
    shared_operator.clear()
    yield shared_operator
    shared_operator.clear()


@pytest.fixture
def kontor(
    operator: OperatorClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Awaitable[tuple[int, str, str]]]:
    """Runs a command as the program would, in a thread, since it brings an event loop of its own."""
    for name, value in export_settings(operator.settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("kontor.logs.configure_logs", lambda *_: None)  # it would bind this test's standard error
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # for the main thread alone

    async def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        capsys.readouterr()
        code = await asyncio.to_thread(commands.run, list(arguments))
        return code, *capsys.readouterr()

    return run
