"""Accounts whose bookings a test knows by heart."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from banking import BankCustomer, new_customer


@dataclass
class KnownAccount:
    customer: BankCustomer
    access_id: str
    product_id: str

    @property
    def url(self) -> str:
        return f"/customer/v2/bankzugaenge/{self.access_id}/{self.product_id}"

    def push(self, rows: list[dict[str, Any]], batch: str = "batch") -> None:
        body = [{"identifier": {"batchId": batch}, **row} for row in rows]
        answer = self.customer.post(f"{self.url}/kontoumsaetze", body)
        assert answer.status_code == 201, answer.text

    def get(self, **query: Any) -> Any:
        return self.customer.get(f"{self.url}/kontoumsaetze", params=query)

    def read(self, **query: Any) -> list[dict[str, Any]]:
        return self.customer.read(f"{self.url}/kontoumsaetze", params=query)

    def amounts(self, **query: Any) -> list[float]:
        return [row["betrag"] for row in self.read(**query)]

    def page_through(self, **query: Any) -> list[list[dict[str, Any]]]:
        """All pages, following the Link header."""
        answer, pages = self.get(**query), []
        while True:
            assert answer.status_code == 200, answer.text
            pages.append(answer.json())
            if "next" not in answer.links:
                return pages
            answer = self.customer.get(answer.links["next"]["url"])


def open_account(tenant: Any) -> KnownAccount:
    """A new customer with an empty account."""
    customer = new_customer(tenant)
    access_id = customer.add_complete("leer+exports")
    return KnownAccount(customer, access_id, customer.products(access_id)[0]["id"])


def day(number: int) -> str:
    return str(date(2026, 1, 1) + timedelta(number))
