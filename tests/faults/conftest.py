"""A service of real processes that can be hurt, for the whole of this folder."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from callers import Payer
from deployments import Deployment, Server, Victim

from banking import BankCustomer, new_customer
from kontor.bootstrap import open_services
from processes import beside
from tenants import create_tenant

FAULTY_SERVERS = 2
SINGLE, DECOUPLED, DOUBTFUL = "test_bank_message", "test_decoupled", "test_vop_nomatch"


@pytest.fixture(scope="session")
def deployment(settings: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("faults")
    with beside(settings, log_level="info", demo=True) as own:
        victims: list[Victim] = []
        try:
            faulty_servers: list[Server] = []
            for number in range(FAULTY_SERVERS):
                faulty_servers.append(Server(own, folder / f"server{number}"))
                victims.append(faulty_servers[-1])
            victims.append(observer := Server(own, folder / "observer"))
            victims.append(worker := Victim(own, folder / "worker", ["worker"]))
            for one in (*faulty_servers, observer):
                one.wait_until_ready()
            assert own.migration_database_url is not None
            connection = psycopg.connect(own.migration_database_url.reveal(), autocommit=True)
            deployment = Deployment(own, faulty_servers, observer, worker, connection)

            async def make_tenant() -> Any:
                async with open_services(replace(own, pool_size=2), "kontor tests") as services:
                    return await create_tenant(services, observer.http)

            with ThreadPoolExecutor(1) as pool:
                deployment.tenant = pool.submit(asyncio.run, make_tenant()).result()
            yield deployment
            connection.close()
        finally:
            for one in victims:
                one.end()


@pytest.fixture(scope="session")
def customers(deployment: Deployment) -> list[BankCustomer]:
    """One for each faulty server."""
    return [new_customer(deployment.tenant) for _ in deployment.faulty_servers]


@pytest.fixture(scope="session")
def payers(customers: list[BankCustomer]) -> dict[str, list[Payer]]:
    """For every kind of login one payer for each server: servers never wait for each other's credentials."""
    found: dict[str, list[Payer]] = {}
    for kind in (SINGLE, DOUBTFUL):
        found[kind] = [add_payer(one, f"{kind}+server{number}") for number, one in enumerate(customers)]
    return found


def add_payer(customer: BankCustomer, login: str) -> Payer:
    access_id = customer.add_complete(login)
    product = next(
        one for one in customer.products(access_id)
        if any(relation["rel"] == "initiate_single_transfer" for relation in one["relations"])
    )  # fmt: skip
    return Payer(customer, login, access_id, product["id"])
