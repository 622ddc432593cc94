"""A service of real processes that can be hurt, for the whole of this folder."""

from collections.abc import Iterator
from typing import Any

import pytest
from callers import DOUBTFUL, SINGLE, Payer
from deployments import Deployment, running_deployment

from banking import BankCustomer, new_customer
from processes import beside


@pytest.fixture(scope="session")
def deployment(settings: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with (
        beside(settings, log_level="info", demo=True) as own,
        running_deployment(own, tmp_path_factory.mktemp("faults")) as deployment,
    ):
        yield deployment


@pytest.fixture(scope="session")
def customers(deployment: Deployment) -> list[BankCustomer]:
    """One for each faulty server."""
    return [new_customer(deployment.tenant) for _ in deployment.faulty_servers]


@pytest.fixture(scope="session")
def payers(customers: list[BankCustomer]) -> dict[str, list[Payer]]:
    """For every kind of login one payer for each server: servers never wait for each other's credentials."""
    found: dict[str, list[Payer]] = {}
    for kind in (SINGLE, DOUBTFUL):
        found[kind] = [add_payer(customer, f"{kind}+server{number}") for number, customer in enumerate(customers)]
    return found


def add_payer(customer: BankCustomer, login: str) -> Payer:
    access_id = customer.add_complete(login)
    product = next(
        product for product in customer.products(access_id)
        if any(relation["rel"] == "initiate_single_transfer" for relation in product["relations"])
    )  # fmt: skip
    return Payer(customer, login, access_id, product["id"])
