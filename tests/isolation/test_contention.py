"""Calls of all kinds for the same few customers at once: nobody is refused for it, and nothing is lost or doubled.

Deadlocks may happen between transactions; they are retried, and no caller sees them.
"""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from banking import ACCESSES, BankCustomer, href, new_customer, rels
from consenting import PRESENT
from kontor.domain.products import Product, ProductCategory
from plain_http import plain_client
from statement_files import write_csv

IBAN = "DE89370400440532013000"
EXPECTED = {200, 201, 202, 204, 400, 404, 408, 409, 423, 429}
THREADS = 8


@dataclass
class Crowd:
    """Few customers, each with a kept access `a`, and one `b` that comes and goes. Counts what was acknowledged."""

    customers: list[BankCustomer]
    products: list[dict]
    end: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    pushed: dict[int, list[str]] = field(default_factory=dict)
    paid: dict[int, list[str]] = field(default_factory=dict)
    told: list[tuple[str, int, str]] = field(default_factory=list)

    def act(self, seed):
        """Random calls until the time is over."""
        choices = random.Random(seed)
        acts = (self.push, self.push, self.import_file, self.refresh, self.pay, self.add_both, self.add_second,
                self.delete_second, self.renew, self.read_analyses)  # fmt: skip
        while time.monotonic() < self.end:
            act = choices.choice(acts)
            answer = act(choices.randrange(len(self.customers)))
            if answer is not None:
                with self.lock:
                    self.told.append((act.__name__, answer.status_code, answer.text[:300]))

    def account(self, number):
        return f"{ACCESSES}/a/{self.products[number]['id']}"

    def push(self, number):
        batch = uuid4().hex
        entry = {
            "betrag": -1.25, "identifier": {"batchId": batch}, "buchungsdatum": "2026-11-13 00:00:00",
            "verwendungszweck": batch,
        }  # fmt: skip
        answer = self.customers[number].post(f"{self.account(number)}/kontoumsaetze", [entry])
        if answer.status_code == 201:
            with self.lock:
                self.pushed.setdefault(number, []).append(batch)
        return answer

    def import_file(self, number):
        customer, iban = self.customers[number], self.products[number]["iban"]
        product = Product(iban, ProductCategory.CHECKING, "Konto", "", "EUR", iban=iban)
        rows = [(f"{day:02}.11.26", f"Laden {day}", f"-{day},00") for day in range(1, 8)]
        return customer.http.post(
            f"{self.account(number)}/kontoumsaetze",
            content=write_csv(product, *rows),
            headers=customer.headers | {"Content-Type": "text/csv"},
        )

    def refresh(self, number):
        return self.customers[number].post(f"{ACCESSES}?refresh=true", {"a": {}}, headers=PRESENT)

    def pay(self, number):
        purpose = uuid4().hex
        details = {"recipient": "Erika Mustermann", "purpose": purpose, "iban": IBAN, "bic": "COBADEFFXXX"}
        order = {"instant": False, "transferDetails": details | {"currency": "EUR", "amount": 0.01}}
        query = {"paymentId": str(uuid4()), "callbackUrl": "https://example.com/back"}
        url = f"{self.account(number)}/payment/single-transfer"
        customer = self.customers[number]
        answer = customer.post(url, order, params=query, headers=PRESENT)
        if answer.status_code == 200 and "authenticate" in rels(answer.json()):
            answer = customer.post(href(answer.json(), "authenticate"), {"scaAuthenticationData": "12"})
        if answer.status_code == 200 and [message["code"] for message in answer.json()["messages"]] == ["BA1111"]:
            with self.lock:
                self.paid.setdefault(number, []).append(purpose)
        return answer

    def add_both(self, number):
        customer = self.customers[number]
        return customer.post(f"{ACCESSES}?refresh=true", {"b": self.second(number), "a": {}}, headers=PRESENT)

    def add_second(self, number):
        return self.customers[number].post(ACCESSES, {"b": self.second(number)}, headers=PRESENT)

    def second(self, number):
        return self.customers[number].access(f"leer+crowd{number}")

    def delete_second(self, number):
        return self.customers[number].delete(f"{ACCESSES}/b")

    def renew(self, number):
        return self.customers[number].post(f"{ACCESSES}/a/consent", {}, headers=PRESENT)

    def read_analyses(self, number):
        return self.customers[number].get("/customer/v2/ai/contracts")


@pytest.fixture
def crowd(bank_server, shared):
    """With HTTP connections of their own, as many as there are threads."""
    with plain_client(base_url=bank_server, timeout=120) as http:
        customers = [new_customer(shared) for _ in range(3)]
        products = []
        for number, customer in enumerate(customers):
            access_id = customer.add(f"test_products+crowd{number}{uuid4().hex[:8]}", access_id="a")
            customer.wait_until_complete(access_id)
            products.append(customer.product(access_id, "GIROKONTO"))
            customer.tenant = _Tenant(shared, http)
        yield Crowd(customers, products, 0)


class _Tenant:
    def __init__(self, tenant, http):
        self._tenant = tenant
        self.http = http

    def __getattr__(self, name):
        return getattr(self._tenant, name)


@pytest.mark.parametrize(
    "seconds",
    [pytest.param(10, id="short"), pytest.param(600, id="long", marks=[pytest.mark.long, pytest.mark.timeout(1800)])],
)
def test_calls_for_the_same_customers_at_once_lose_nothing_and_fail_nobody(crowd, owner, seconds):
    crowd.end = time.monotonic() + seconds
    with ThreadPoolExecutor(THREADS) as threads:
        for outcome in [threads.submit(crowd.act, seed) for seed in range(THREADS)]:
            outcome.result()
    unexpected = [told for told in crowd.told if told[1] not in EXPECTED]
    assert unexpected == []
    assert {status for name, status, _ in crowd.told if name in ("push", "import_file", "read_analyses")} <= {200, 201}
    for number, customer in enumerate(crowd.customers):
        assert customer.post(f"{ACCESSES}?refresh=true", {"a": {}}, headers=PRESENT).status_code == 201
        assert customer.issue_codes("a") == []
        texts = [row.get("verwendungszweck") or "" for row in customer.transactions(crowd.products[number])]
        for told in crowd.pushed.get(number, []) + crowd.paid.get(number, []):
            assert len([text for text in texts if told in text]) == 1, told
    rows = owner.execute(
        "select state, count(*) from fetches f join users u on u.id = f.user_id where u.username = any(%s) group by 1",
        [[customer.username for customer in crowd.customers]],
    ).fetchall()
    assert "INTERRUPTED" not in dict(rows)
    assert crowd.pushed
    assert crowd.paid
