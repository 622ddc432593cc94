"""While one user does the worst it can, a user of another tenant is served nearly as if it were alone."""

import json
import statistics
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from banking import href, login, new_customer, new_id
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction
from plain_http import plain_client
from statement_files import write

pytestmark = pytest.mark.long

SAMPLES = 5  # per phase
PHASES = 3  # an attack slows others down in each of them; other load on the machine, in some
FACTOR = 3
CALLBACK = {"callbackUrl": "https://example.com/done"}
PRESENT = {"Customer-IP-Address": "8.8.8.8"}
NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
AI = "/customer/v2/ai"


@pytest.fixture(scope="module")
def victim(bank_server, shared):
    customer = new_customer(shared)
    access_id = customer.add_complete(f"familie+{new_id()[:8]}")
    return customer, customer.product(access_id, "GIROKONTO")


@pytest.fixture(scope="module")
def attacker(bank_server, neighbour):
    """Of another tenant, with a large account."""
    customer = new_customer(neighbour)
    access_id = customer.add_complete(f"leer+{new_id()[:8]}")
    product = customer.products(access_id)[0]
    for batch in range(2):
        answer = customer.post(href(product, "get_kontoumsaetze"), make_pushed(5000, f"batch {batch}"), timeout=200)
        assert answer.status_code == 201, answer.text
    return customer, product


def describe(number):
    payees = ("REWE SAGT DANKE", "Hausverwaltung Sommer", "Stadtwerke Musterstadt", "Buchladen am Markt", "E. Muster")
    return payees[number % len(payees)], f"EREF+{number:09} SVWZ+Rechnung {number} vom Monat {number % 12}"


def make_pushed(count, batch, padding=""):
    rows = []
    for number in range(count):
        payee, purpose = describe(number)
        rows.append(
            {
                "betrag": -1 - number % 90,
                "waehrung": "EUR",
                "buchungsdatum": str((NOON - timedelta(days=number % 900)).date()),
                "verwendungszweck": purpose + padding,
                "gegenkontoInhaber": payee,
                "identifier": {"batchId": batch},
            }
        )
    return rows


def make_stateless(count):
    rows = []
    for number in range(count):
        payee, purpose = describe(number)
        day = NOON - timedelta(days=number % 900)
        rows.append(
            {"betrag": -1 - number % 90, "buchungsdatum": day.isoformat(), "verwendungszweck": purpose}
            | {"gegenkontoInhaber": payee, "user": "u", "provider": "p", "product": "giro", "tenant": "t"}
        )
    return rows


def make_statement(product):
    account = Product(product["iban"], ProductCategory.CHECKING, "Konto", "", "EUR", iban=product["iban"])
    rows = []
    for number in range(40_000):
        payee, purpose = describe(number)
        rows.append(
            Transaction(
                Decimal(-1 - number % 90), "EUR", NOON - timedelta(days=number % 60), counterparty_name=payee,
                purpose=purpose + " und noch ein laengerer Text dazu", counterparty_iban="DE89370400440532013000",
            )
        )  # fmt: skip
    rows.sort(key=lambda row: row.booked_at)
    return write("mt940", account, [replace(row, value_at=row.booked_at) for row in rows])


def make_plan(kind, product, folder):
    """(connections at a time, requests)"""
    transactions = href(product, "get_kontoumsaetze").partition("/customer")[2]
    transactions = f"/customer{transactions}"

    def keep(name, data):
        file = folder / name
        file.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return str(file)

    match kind:
        case "file":
            data = make_statement(product)
            assert len(data) > 6_000_000
            return 2, [["POST", f"{transactions}?preview=true", "text/plain", keep("statement", data)]]
        case "stateless":
            body = keep("rows", make_stateless(400))
            return 140, [["POST", "/ai/v1/transactions/tags", "application/json", body]]
        case "analysis":
            body = {"analyses": ["contracts", "cashflow", "life-events"], "transactions": make_stateless(50_000)}
            file = keep("analysis", body)
            assert Path(file).stat().st_size > 9_000_000
            return 2, [["POST", "/ai/v1/analyses", "application/json", file]]
        case "push":
            files = [keep(f"push{number}", make_pushed(10_000, new_id(), "x" * 900)) for number in range(3)]
            return 2, [["POST", transactions, "application/json", path] for path in files]
        case "stored":
            options = [
                f"?focus={focus}&explain=true&catLevel={level}"
                for focus in ("time", "tag")
                for level in ("sub", "main")
            ]
            paths = [f"{AI}/cashflow{option}" for option in options] + [
                f"{AI}/contracts?explain=true",
                f"{AI}/life-events",
            ]
            body = keep("one", make_pushed(1, new_id()))
            return 20, [
                ["POST", transactions, "application/json", body],
                *(["GET", path, None, None] for path in paths),
            ]


@contextmanager
def attacking(plan):
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("attackers.py")), str(plan)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    told = {}
    try:
        assert process.stdout.readline() == "begun\n"
        yield told
        process.stdin.close()
        told |= json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Probe:
    """Asks whether the process lives, all the time."""

    def __init__(self, address):
        self.address = address
        self.failures = []
        self.count = 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        with plain_client(base_url=self.address, timeout=20) as client:
            while not self.stopping.wait(0.1):
                try:
                    status = client.get("/health/live").status_code
                except httpx.HTTPError as error:
                    status = type(error).__name__
                self.count += 1
                if status != 200:
                    self.failures.append(status)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


def measure(customer, product):
    """Seconds of a login, of a list and of a payment."""
    started = time.perf_counter()
    login(customer.tenant, customer.username, f"password of {customer.username}")
    logged_in = time.perf_counter()
    assert customer.transactions(product, limit=100)
    listed = time.perf_counter()
    details = {"recipient": "Erika Mustermann", "iban": "DE89370400440532013000", "bic": "COBADEFFXXX"}
    details |= {"purpose": f"Auftrag {new_id()}", "currency": "EUR", "amount": 0.01}
    url = href(product, "initiate_single_transfer")
    body = {"instant": False, "transferDetails": details}
    answer = customer.post(url, body, params=CALLBACK | {"paymentId": new_id()}, headers=PRESENT)
    assert answer.status_code == 200, answer.text
    answer = customer.post(href(answer.json(), "authenticate"), {"scaAuthenticationData": "12"})
    assert answer.json()["messages"][-1]["code"] == "BA1111", answer.text
    return logged_in - started, listed - logged_in, time.perf_counter() - listed


def take_medians(customer, product):
    samples = zip(*(measure(customer, product) for _ in range(SAMPLES)), strict=True)
    return dict(zip(("login", "list", "payment"), map(statistics.median, samples), strict=True))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["file", "stateless", "analysis", "stored", "push"])
def test_a_user_who_does_the_worst_holds_up_nobody_else(victim, attacker, bank_server, tmp_path, kind):
    customer, product = victim
    threads, requests = make_plan(kind, attacker[1], tmp_path)
    plan = tmp_path / "plan.json"
    facts = {"address": bank_server, "token": attacker[0].token, "threads": threads, "requests": requests}
    plan.write_text(json.dumps(facts))
    measure(customer, product)
    alone, beside, told = [], [], []
    for _ in range(PHASES):
        alone.append(take_medians(customer, product))
        with Probe(bank_server) as probe, attacking(plan) as statuses:
            beside.append(take_medians(customer, product))
        assert probe.count > 0
        assert not probe.failures
        told.append(statuses)
    for report in told:
        assert report["without_retry_after"] == 0
        assert set(report["statuses"]) <= {"200", "201", "413", "429", "503", "504"}, report
        assert set(report["statuses"]) - {"429"}, "nothing was done at all"
    ratios = {name: min(phase[name] for phase in beside) / min(phase[name] for phase in alone) for name in alone[0]}
    assert all(ratio <= FACTOR for ratio in ratios.values()), (ratios, told)


def test_beyond_the_limit_calls_are_refused_and_afterwards_taken_again(attacker, bank_server, tmp_path):
    threads, requests = make_plan("stateless", attacker[1], tmp_path)
    plan = tmp_path / "plan.json"
    facts = {"address": bank_server, "token": attacker[0].token, "threads": threads, "requests": requests}
    plan.write_text(json.dumps(facts))
    with attacking(plan) as told:
        deadline = time.monotonic() + 120
        statuses = set()
        while 429 not in statuses and time.monotonic() < deadline:
            answer = attacker[0].post("/ai/v1/transactions/tags", make_stateless(1), timeout=60)
            statuses.add(answer.status_code)
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0
        assert "in progress" in answer.text
    assert told["without_retry_after"] == 0
    deadline = time.monotonic() + 120
    while answer.status_code == 429 and time.monotonic() < deadline:
        time.sleep(0.2)
        answer = attacker[0].post("/ai/v1/transactions/tags", make_stateless(1), timeout=60)
    assert answer.status_code == 200, answer.text
