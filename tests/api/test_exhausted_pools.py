"""All database connections of a process are taken: callers get 503 with a time to wait, and all is well afterwards."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from kontor.api.app import make_app
from kontor.bootstrap import open_services
from lifespans import serving

CONNECTIONS, CALLERS = 3, 30


@pytest.fixture
async def small(settings):
    """An API process with three connections, which waits for one of them briefly."""
    async with AsyncExitStack() as stack:
        own = replace(settings, pool_size=CONNECTIONS)
        services = await stack.enter_async_context(open_services(own, "kontor tests, small pool"))
        services.database._connections._wait_seconds = 0.3

        @asynccontextmanager
        async def lend():
            yield services

        app = make_app(own, lend)
        await stack.enter_async_context(serving(app))
        transport = httpx.ASGITransport(app)
        http = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url=own.base_url))
        yield services, http


async def test_callers_without_a_connection_get_503_and_are_served_afterwards(small, shared):
    services, http = small
    headers = shared.as_user

    async def call():
        return await http.get("/customer/v2", headers=headers)

    assert (await call()).status_code == 200
    async with AsyncExitStack() as taken:
        for _ in range(CONNECTIONS):
            await taken.enter_async_context(services.database.connect())
        answers = await asyncio.gather(*(call() for _ in range(CALLERS)))
        assert {answer.status_code for answer in answers} == {503}
        assert {answer.headers["retry-after"] for answer in answers} == {"5"}
        assert {answer.json()["message"] for answer in answers} == {"The database is not reachable at the moment."}
        assert (await http.get("/health/live")).status_code == 200
    services.database._connections._wait_seconds = 60  # as long as thirty callers may take on a busy machine
    answers = await asyncio.gather(*(call() for _ in range(CALLERS)))
    assert {answer.status_code for answer in answers} == {200}


async def test_a_caller_that_waits_gets_the_connection_that_becomes_free(small, shared):
    services, http = small
    async with AsyncExitStack() as taken:
        for _ in range(CONNECTIONS):
            await taken.enter_async_context(services.database.connect())
        services.database._connections._wait_seconds = 60
        waiting = asyncio.create_task(http.get("/customer/v2", headers=shared.as_user))
        await asyncio.sleep(0)
    assert (await waiting).status_code == 200
