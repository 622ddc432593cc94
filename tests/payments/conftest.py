"""The whole service in this process, at a scripted bank: no socket, no worker, the real database."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from paying import Payer, PaymentEnvironment, make_tenant
from scripted_bank import ScriptedBank

from kontor import bootstrap
from kontor.api.app import make_app
from kontor.connectors.registry import Registry
from lifespans import serving
from processes import beside


@pytest.fixture(scope="session")
async def environment(settings: Any) -> AsyncIterator[PaymentEnvironment]:
    """The service and its bank, with one regulated and one redirect tenant."""
    bank = ScriptedBank()
    async with AsyncExitStack() as stack:
        # In a database that no worker looks into: one would fetch from another bank after each payment.
        own = replace(stack.enter_context(beside(settings)), pool_size=8, demo=False)
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
        yield PaymentEnvironment(services, bank, http, regulated, redirecting, own.migration_database_url)


@pytest.fixture
async def payer(environment: PaymentEnvironment) -> Payer:
    """A new user with an access and a product to pay from, at the scripted bank."""
    return await environment.new_payer()
