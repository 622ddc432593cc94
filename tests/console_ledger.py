"""A customer of the console whose only account has what a test pushed."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import httpx

from banking import ACCESSES, BankCustomer, new_customer, new_id
from console_site import ConsoleSite, read_token

ROW = re.compile(r'<li id="t-([0-9a-f-]{36})">(.*?)</li>', re.DOTALL)
PAGE = "/console/transactions"
LAST = date(2026, 10, 30)


class Ledger:
    """A customer whose only account has what a test pushed, in front of the console."""

    def __init__(self, customer: BankCustomer, visitor: httpx.Client) -> None:
        self.customer, self.visitor = customer, visitor
        self.access_id = self.customer.add_complete("leer+ledger")
        self.product = self.customer.product(self.access_id, "GIROKONTO")
        self.path = f"{ACCESSES}/{self.access_id}/{self.product['id']}/kontoumsaetze"

    def push(self, *rows: dict[str, Any]) -> None:
        batch = [{"identifier": {"batchId": new_id()}} | row for row in rows]
        assert self.customer.post(self.path, batch).status_code == 201

    def list(self, **query: Any) -> list[tuple[str, str]]:
        """The rows of the page: id and text."""
        answer = self.visitor.get(PAGE, params=query)
        assert answer.status_code == 200, answer.text
        return [(found[1], html.unescape(found[2])) for found in ROW.finditer(answer.text)]

    def details_url(self, entry_id: str) -> str:
        found = re.search(rf'data-url="([^"]*{entry_id}[^"]*)"', self.visitor.get(PAGE).text)
        assert found is not None
        return html.unescape(found[1])

    def open(self, url: str) -> str:
        """A page, with its entities as the signs they stand for."""
        answer = self.visitor.get(url, follow_redirects=True)
        assert answer.status_code == 200, answer.text
        return html.unescape(answer.text)

    def act(self, url: str, action: str, fields: dict[str, str]) -> httpx.Response:
        """What a form of a page sends."""
        token = read_token(self.visitor.get(url).text)
        return self.visitor.post(url, data={"action": action, "token": token} | fields)

    def correct(self, entry_id: str, category: str, **fields: str) -> httpx.Response:
        return self.act(self.details_url(entry_id), "correct", {"category": category} | fields)

    def read(self, entry_id: str, tag: str = "categories") -> dict[str, Any]:
        """The transaction, as the API has it."""
        rows = self.customer.read(f"{self.path}?tag={tag}&explain=true")
        return next(row for row in rows if row["id"] == entry_id)

    def find(self, words: str) -> str:
        """The id of the only transaction that is found."""
        ((entry_id, _),) = self.list(search=words)
        return entry_id


def booking(day: date, amount: str, name: str | None, purpose: str, **more: Any) -> dict[str, Any]:
    given = {"buchungsdatum": day.isoformat(), "betrag": float(amount), "verwendungszweck": purpose}
    return given | ({"gegenkontoInhaber": name} if name else {}) | more


@contextmanager
def open_ledger(site: ConsoleSite) -> Iterator[Ledger]:
    customer = new_customer(site.regulated)
    with site.visit(customer) as visitor:
        yield Ledger(customer, visitor)
