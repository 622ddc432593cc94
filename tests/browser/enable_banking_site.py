"""Kontor with one bank through Enable Banking: our service in its place, web form and console, and a worker."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from enablebanking_talk import DEMO_BANK, TODAY, ServiceUnderTest, running_service
from kontor.bootstrap import open_services
from kontor.config import Settings
from kontor.connectors.aspsps import write_bank_list
from kontor.domain.secrets import Secret
from plain_http import plain_client
from processes import WITH_CHEAP_PASSWORDS, beside, running_server, running_worker
from tenants import TenantUnderTest, create_tenant

RETURN_PATHS = ("/customer/v2/webform/return", "/console/connect/back")  # as the guide registers them


@dataclass
class EnableBankingSite:
    """Tenants as those of `ConsoleSite`. `port` and `visits` are what a watch over browsers asks of another host."""

    address: str
    bank: ServiceUnderTest
    regulated: TenantUnderTest
    redirecting: TenantUnderTest
    visits: tuple[object, ...] = ()

    @property
    def url(self) -> str:
        return f"{self.address}/console"

    @property
    def port(self) -> int:
        return httpx.URL(self.bank.url).port or 0

    def end_sessions(self) -> None:
        """The customers have taken their consents back at the bank."""
        for session in self.bank.service._sessions.list_all():
            self.bank.service.revoke(session.id)


@contextmanager
def running_site(settings: Settings, folder: Path) -> Iterator[EnableBankingSite]:
    with ExitStack() as stack:
        own = stack.enter_context(beside(settings))
        bank = stack.enter_context(running_service(own, folder / "application"))
        addresses = tuple(own.base_url + path for path in RETURN_PATHS)
        bank.service.application = replace(bank.service.application, redirect_urls=addresses)
        banks = folder / "banks.json"
        banks.write_bytes(write_bank_list([DEMO_BANK]))
        http = stack.enter_context(plain_client(base_url=own.base_url, timeout=60))
        with ThreadPoolExecutor(1) as threads:  # a browser's event loop may run in this thread
            regulated, redirecting = threads.submit(asyncio.run, make_tenants(own, http)).result()
        own = replace(
            own,
            enable_banking_application=bank.service.application.id,
            enable_banking_key=bank.key_file,
            enable_banking_banks=banks,
            enable_banking_url=bank.url,
            console_clients=Secret(" ".join(":".join(tenant.app) for tenant in (regulated, redirecting))),
            demo_bank=False,
            today=TODAY,
        )
        stack.enter_context(running_server(own, folder / "server.log", program=WITH_CHEAP_PASSWORDS))
        stack.enter_context(running_worker(own, folder / "worker.log"))
        yield EnableBankingSite(own.base_url, bank, regulated, redirecting)


async def make_tenants(settings: Settings, http: httpx.Client) -> tuple[TenantUnderTest, TenantUnderTest]:
    async with open_services(replace(settings, pool_size=2), "kontor tests, enable banking") as services:
        return await create_tenant(services, http), await create_tenant(services, http, is_regulated=False)
