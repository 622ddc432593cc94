"""An account of one's own, with transactions that anybody would tag the same way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from banking import BankCustomer, new_customer
from tenants import TenantUnderTest


@dataclass
class PushedAccount:
    customer: BankCustomer
    access_id: str
    product: dict[str, Any]

    @property
    def url(self) -> str:
        return f"/customer/v2/bankzugaenge/{self.access_id}/{self.product['id']}/kontoumsaetze"

    def push(self, *rows: dict[str, Any], batch: str = "batch", at: str = "2026-11-02 00:00:00") -> None:
        body = [{"identifier": {"batchId": batch}, "buchungsdatum": at} | row for row in rows]
        answer = self.customer.post(self.url, body)
        assert answer.status_code == 201, answer.text

    def list(self, **query: Any) -> list[dict[str, Any]]:
        return self.customer.read(self.url, params=query)

    def tags(self, tag: str = "true", **query: Any) -> dict[float, dict[str, Any]]:
        """The one tag of each transaction, by amount."""
        return {row["betrag"]: row["tags"][0] for row in self.list(tag=tag, **query)}

    def names(self, tag: str = "true") -> dict[float, str]:
        return {amount: found["tagTreeItem"]["systemName"] for amount, found in self.tags(tag).items()}

    def correct(self, transaction: dict[str, Any], body: Any, **query: Any) -> Any:
        url = f"{self.url}/{transaction['id']}"
        return self.customer.http.put(url, json=body, headers=self.customer.headers, params=query)


@pytest.fixture
def open_account(bank_server) -> Callable[[TenantUnderTest], PushedAccount]:
    """For a new customer of a tenant."""

    def open_(tenant: TenantUnderTest) -> PushedAccount:
        customer = new_customer(tenant)
        access_id = customer.add_complete("leer+tags")
        return PushedAccount(customer, access_id, customer.products(access_id)[0])

    return open_


@pytest.fixture
def account(open_account, shared) -> PushedAccount:
    return open_account(shared)
