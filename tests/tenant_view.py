"""What a tenant can see of an access through the API: every operation that reads, asked with the user's token."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg

from banking import ACCESSES, DEMO_BANK, BankCustomer, rels
from consenting import PRESENT
from form_client import DETAILS
from kontor.connectors.demo.people import person_for
from kontor.domain.accesses import make_product_id
from kontor.domain.clocks import BERLIN

CUSTOMER = "/customer/v2"
# They name the access, the session or the audit trail, and change while the form is used.
CHANGING = (
    CUSTOMER,
    ACCESSES,
    f"{CUSTOMER}/export",
    f"{CUSTOMER}/bankzugaenge/{{access-id}}",
    f"{CUSTOMER}/regprotect/sessions",
)
EXPORTS = ("json", "csv", "beancount", "hledger", "gnucash")
VARIANTS = {
    f"{CUSTOMER}/export": [{"format": export_format} for export_format in EXPORTS],
    f"{ACCESSES}/{{access-id}}/{{product-id}}/kontoumsaetze": [{}, {"tag": "categories"}, {"search": "a"}],
    f"{ACCESSES}/{{access-id}}/{{product-id}}": [{}, {"form": "en"}],
}
LONG = 10  # shorter texts may stand anywhere by chance
_readable: dict[str, list[str]] = {}


def list_readable(http: httpx.Client) -> list[str]:
    """Paths of all operations that read a customer's data; the document is read once per server."""
    address = str(http.base_url)
    if address not in _readable:
        paths = http.get("/openapi.json").json()["paths"]
        _readable[address] = sorted(
            path for path, operations in paths.items() if path.startswith(CUSTOMER) and "get" in operations
        )
    return _readable[address]


@dataclass
class TenantView:
    """`login` is the demo bank's customer whose accounts are being connected under `access_id`."""

    customer: BankCustomer
    owner: psycopg.Connection
    login: str
    access_id: str
    before: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        person = person_for(self.login, datetime.now(BERLIN).date())
        self.accounts = () if person is None else person.accounts
        self.product_ids = [
            str(make_product_id(UUID(self.customer.reference), self.access_id, account.product.key))
            for account in self.accounts
        ]
        self.bank_strings = self._list_bank_strings()
        self.readable = list_readable(self.customer.http)
        assert len(self.readable) > 25
        self.before = self._read_unchanging()

    def _list_bank_strings(self) -> set[str]:
        found = {*self.product_ids, DEMO_BANK, "Demo-Bank", "mockTAN", "photoTAN", "chipTAN", "iTAN", "pushTAN"}
        for account in self.accounts:
            product = account.product
            found |= {text for text in (product.iban, product.account_number, product.holder) if text}
            if product.balance is not None and abs(product.balance) > 99:
                found.add(str(product.balance))
            for entry in account.entries:
                texts = (entry.transaction.purpose, entry.transaction.counterparty_iban)
                found |= {text for text in texts if text and len(text) > LONG}
        return found

    # Before the choice

    def see_nothing(self, *, is_stored: bool) -> None:
        """`is_stored`: an access is stored already, so that the tenant sees that it is there."""
        self._check_access(is_stored=is_stored)
        unchanging = self._check_bodies(is_stored=is_stored)
        self._check_operators_lists()
        assert unchanging == {path: text for path, text in self.before.items() if path.startswith("/")}
        assert self._count("products") == self._count("transactions") == self._count("webhook_deliveries") == 0

    def _check_access(self, *, is_stored: bool) -> None:
        listed = self.customer.read(ACCESSES)
        if not is_stored:
            assert self.access_id not in listed
            assert self.customer.get(f"{ACCESSES}/{self.access_id}").status_code == 404
            return
        access = self.customer.read_access(self.access_id)
        assert access == listed[self.access_id] == self.customer.read(CUSTOMER)["bankzugaenge"][self.access_id]
        assert set(access) == {"id", "status", "sync", "aktualisierungszeitpunkt", "messages", "relations"}
        assert (access["status"], access["sync"]) == ("GESTARTET", True)
        assert [message["code"] for message in access["messages"]] == ["BA3000"]
        assert rels(access) == ["self", "delete_bankzugang", "get_issues", "start_sca"]
        issues = self.customer.read(f"{ACCESSES}/{self.access_id}/issues")
        assert set(issues) == {"id", "aktualisierungszeitpunkt", "messages", "relations"}
        assert issues["messages"] == access["messages"]
        assert issues["aktualisierungszeitpunkt"] == access["aktualisierungszeitpunkt"]
        self.before.setdefault("created", access["aktualisierungszeitpunkt"])
        assert access["aktualisierungszeitpunkt"] == self.before["created"]

    def _check_bodies(self, *, is_stored: bool) -> dict[str, str]:
        """Returns the bodies that stay as they were before the form was opened."""
        unchanging = {}
        for path in self.readable:
            for query in VARIANTS.get(path, [{}]):
                for url in self._fill(path):
                    answer = self.customer.get(url, params=query)
                    found = [text for text in self.bank_strings if text in answer.text]
                    assert not found, (url, query, found[:5])
                    if "{" in path:
                        is_shown = is_stored and path in (
                            f"{ACCESSES}/{{access-id}}",
                            f"{ACCESSES}/{{access-id}}/issues",
                        )
                        assert answer.status_code == (200 if is_shown else 404), url
                    elif path not in CHANGING:
                        unchanging[path] = answer.text
        return unchanging

    def _check_operators_lists(self) -> None:
        """The tenant's own administrators may look at them, too."""
        states = [("/ops/v1/refreshes", {"state": state}) for state in ("due", "late", "running", "failing", "paused")]
        for url, query in [("/ops/v1/accesses", {}), *states]:
            answer = self.customer.http.get(url, params=query | {"limit": 500}, headers=self.customer.tenant.as_admin)
            assert answer.status_code == 200, answer.text
            assert "next" not in answer.links
            assert self.access_id not in answer.text, url

    def refuse_everything_else(self) -> None:
        """Whatever would change or use a product answers as for one that is not there."""
        headers = self.customer.headers | PRESENT
        transfer = {"instant": False, "transferDetails": DETAILS}
        payee = {"recipient": DETAILS["recipient"], "iban": DETAILS["iban"]}
        row = {"betrag": 1, "buchungsdatum": "2026-01-02T00:00:00.000", "verwendungszweck": "x", "batchId": "1"}
        for product_id in self.product_ids[:2]:
            url = f"{ACCESSES}/{self.access_id}/{product_id}"
            for method, path, body in (
                ("POST", f"{url}/kontoumsaetze", [row]),
                ("PUT", f"{url}/kontoumsaetze/{uuid4()}", {"tags": []}),
                ("POST", f"{url}/payment/single-transfer", transfer),
                ("POST", f"{url}/payment/vop", payee),
            ):
                answer = self.customer.http.request(method, path, json=body, headers=headers)
                assert answer.status_code == 404, (method, path, answer.text)

    # After it

    def see_only(self, chosen: list[str]) -> None:
        access = self.customer.wait_until_complete(self.access_id)
        assert access["providerId"] == DEMO_BANK
        assert [product["id"] for product in access["bankprodukte"]] == chosen
        for product_id, account in zip(self.product_ids, self.accounts, strict=True):
            url = f"{ACCESSES}/{self.access_id}/{product_id}"
            if product_id not in chosen:
                assert self.customer.get(url).status_code == 404
            elif account.entries:
                assert len(self.customer.read(f"{url}/kontoumsaetze")) == len(account.entries)
        assert self._count("products") == len(chosen)
        self.left_nothing_sealed()

    def left_nothing(self) -> None:
        assert self.customer.get(f"{ACCESSES}/{self.access_id}").status_code == 404
        self.see_nothing(is_stored=False)
        self.left_nothing_sealed()

    def left_nothing_sealed(self) -> None:
        assert self._count("staged_fetches") == 0

    # Parts

    def _fill(self, path: str) -> list[str]:
        """With the ids that the access's objects have, or would have."""
        if "{product-id}" in path:
            return [
                re.sub(
                    r"\{[^}]*\}",
                    str(uuid4()),
                    path.replace("{access-id}", self.access_id).replace("{product-id}", product_id),
                )
                for product_id in self.product_ids[:2]
            ]
        if "{consent-id}" in path:
            return [path.replace("{consent-id}", consent_id) for consent_id in self.consent_ids()] or []
        path = path.replace("{access-id}", self.access_id)
        return [re.sub(r"\{[^}]*\}", str(uuid4()), path)]

    def consent_ids(self) -> list[str]:
        rows = self.owner.execute(
            "select id from dialogues where user_id = %s and access_id = %s", [self.customer.reference, self.access_id]
        ).fetchall()
        return [str(row[0]) for row in rows]

    def _read_unchanging(self) -> dict[str, Any]:
        paths = [path for path in self.readable if "{" not in path and path not in CHANGING]
        return {path: self.customer.get(path).text for path in paths}

    def _count(self, table: str) -> int:
        by_product = " and product_id = any(%(ids)s::uuid[])" if table == "transactions" else ""
        by_access = " and access_id = %(access)s" if table in ("products", "staged_fetches") else ""
        row = self.owner.execute(
            f"select count(*) from {table} where user_id = %(user)s{by_product}{by_access}",
            {"user": self.customer.reference, "access": self.access_id, "ids": self.product_ids},
        ).fetchone()
        assert row is not None
        return int(row[0])
