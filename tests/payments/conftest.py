"""The whole service in this process, at a scripted bank: no socket, no worker, the real database."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from paying import Desk, Payer, make_tenant
from scripted_bank import ScriptedBank

from kontor import bootstrap
from kontor.api.app import make_app
from kontor.connectors.registry import Registry
from lifespans import serving


@pytest.fixture(scope="session")
async def desk(settings: Any) -> AsyncIterator[Desk]:
    """The service and its bank, with one regulated and one redirect tenant."""
    bank = ScriptedBank()
    own = replace(settings, pool_size=8, demo=False)
    async with AsyncExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:  # only while they are made: others have their own bank
            patch.setattr(bootstrap, "make_registry", lambda _: Registry([bank]))
            opening = bootstrap.open_services(own, "kontor tests, payments")
            services = await stack.enter_async_context(opening)

        @asynccontextmanager
        async def lend() -> AsyncIterator[Any]:
            yield services

        app = make_app(own, lend)
        await stack.enter_async_context(serving(app))
        transport = httpx.ASGITransport(app)
        http = await stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url=own.base_url, timeout=120)
        )
        regulated = await make_tenant(services, is_regulated=True)
        redirecting = await make_tenant(services, is_regulated=False)
        yield Desk(services, bank, http, regulated, redirecting)


@pytest.fixture
async def payer(desk: Desk) -> Payer:
    """A new user with an access and a product to pay from, at the scripted bank."""
    return await desk.new_payer()
