"""Callers that want one thing paid once, whatever happens to the servers meanwhile, and remember every answer."""

import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from deployments import WAIT_TIMEOUT_SECONDS, Server

from banking import DEMO_BANK, BankCustomer
from consenting import PRESENT
from kontor.connectors.demo.payees import TEST_IBANS, PayeeScenario

CUSTOMER = "/customer/v2"
CALLBACK = {"callbackUrl": "https://example.com/back"}
IBAN = "DE89370400440532013000"
BY_SCENARIO = {scenario: iban for iban, scenario in TEST_IBANS.items()}
DIES_AFTER_BOOKING = BY_SCENARIO[PayeeScenario.DIES_AFTER_BOOKING]
DIES_BEFORE_BOOKING = BY_SCENARIO[PayeeScenario.DIES_BEFORE_BOOKING]
PAID = {"BA1111", "BA1112"}
# Logins of the demo bank.
SINGLE, DECOUPLED, DOUBTFUL = "test_bank_message", "test_decoupled", "test_vop_nomatch"
PAUSE_SECONDS = 0.05


@dataclass
class Payer:
    """A customer with an account to pay from."""

    customer: BankCustomer
    login: str
    access_id: str = ""
    product_id: str = ""


@dataclass
class PaymentCase:
    """One payment that is to be made. The same keys each time, and so the same payment."""

    payer: Payer
    iban: str = IBAN
    payment_id: str = field(default_factory=lambda: str(uuid4()))
    purpose: str = field(default_factory=lambda: f"Auftrag {uuid4().hex[:16]}")
    told: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    faults_seen: int = 0

    @property
    def recipient(self) -> str:
        """One name has one IBAN: another one is warned of."""
        return "Erika Mustermann" if self.iban == IBAN else f"Erika Mustermann {self.iban[2:4]}"

    # What differs from form to form

    def order(self, at: BankCustomer) -> httpx.Response:
        path = f"{CUSTOMER}/bankzugaenge/{self.payer.access_id}/{self.payer.product_id}/payment/single-transfer"
        return at.post(path, self.write_order(), params=CALLBACK | {"paymentId": self.payment_id}, headers=PRESENT)

    def write_order(self) -> dict[str, Any]:
        details = {"recipient": self.recipient, "purpose": self.purpose, "iban": self.iban, "bic": "COBADEFFXXX"}
        return {"instant": False, "transferDetails": details | {"currency": "EUR", "amount": 0.01}}

    def answer(self, at: BankCustomer, rel: str, path: str) -> httpx.Response:
        body = {"authenticate": {"scaAuthenticationData": "12"}, "confirm_vop": {}}[rel]
        return at.post(path, body)

    # What is common

    def note(self, answer: httpx.Response) -> tuple[dict[str, Any], bool]:
        """The answer, and whether it is the last word."""
        status = answer.json()
        codes = tuple(message["code"] for message in status.get("messages", ()))
        self.told.append((answer.status_code, codes))
        assert status.get("transfer", {}).get("paymentId", self.payment_id) == self.payment_id
        return status, is_final(codes)

    def ask_once(self, at: BankCustomer) -> None:
        """A caller that lost the connection asks again at once, elsewhere."""
        self.note(self.order(at))

    def run(self, server: Server, elsewhere: Server | None = None) -> None:
        """Order and answer until there is nothing left to do. After a fault, begin again with the same key."""
        at, status = server.seat(self.payer.customer), None
        end = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while True:
            assert time.monotonic() < end, f"not settled in time: {self.told}"
            try:
                answer = self.go_on(at, status)
            except httpx.TransportError:
                self.faults_seen += 1
                status = None
                if elsewhere is not None and self.faults_seen == 1:
                    self.ask_once(elsewhere.seat(self.payer.customer))
                time.sleep(PAUSE_SECONDS)
                continue
            status, is_over = self.note(answer)
            if is_over:
                return
            if "relations" not in status:  # 409 while the credentials are in use, 503 without a database
                assert answer.status_code in (409, 500, 503), answer.text
                status = None
            if not any(find_step(status)):
                time.sleep(PAUSE_SECONDS)

    def go_on(self, at: BankCustomer, status: dict[str, Any] | None) -> httpx.Response:
        rel, path = find_step(status)
        return self.order(at) if rel is None or path is None else self.answer(at, rel, path)


class LegacyPaymentCase(PaymentCase):
    """With a TAN, and an `Idempotency-Key` for the only key."""

    def order(self, at: BankCustomer) -> httpx.Response:
        order = {
            "credentials": at.credentials(self.payer.login),
            "empfaenger": self.recipient,
            "verwendungszweck": self.purpose,
            "iban": self.iban,
            "bic": "COBADEFFXXX",
            "waehrung": "EUR",
            "betrag": 0.01,
            "sicherheitsverfahrenKodierung": "901",
        }
        path = f"{CUSTOMER}/ueberweisung/{DEMO_BANK}/{self.payer.product_id}"
        return at.post(path, order, headers=PRESENT | {"Idempotency-Key": self.payment_id})

    def answer(self, at: BankCustomer, rel: str, path: str) -> httpx.Response:
        return at.http.put(path, json={"tan": "12"}, headers=at.headers)


class DecoupledPaymentCase(PaymentCase):
    """Confirmed in an app, with credentials that came with the order."""

    def order(self, at: BankCustomer) -> httpx.Response:
        more = {
            "provider": DEMO_BANK,
            "credentials": at.credentials(self.payer.login),
            "product": self.payer.product_id,
        }
        path = f"{CUSTOMER}/payment/single-transfer"
        return at.post(
            path, self.write_order() | more, params=CALLBACK | {"paymentId": self.payment_id}, headers=PRESENT
        )

    def answer(self, at: BankCustomer, rel: str, path: str) -> httpx.Response:
        return at.post(path, {})


def is_final(codes: tuple[str, ...]) -> bool:
    return bool(PAID & set(codes)) or is_failed(codes)


def is_failed(codes: tuple[str, ...]) -> bool:
    """Told that it was not executed."""
    return codes in {("BA3040",), ("BA1104",), ("BA1051",), ("BA999",)}


def find_step(status: dict[str, Any] | None) -> tuple[str, str] | tuple[None, None]:
    """What is to be answered, and where; on whichever server."""
    for relation in [] if status is None else status["relations"]:
        if relation["rel"] in ("authenticate", "confirm_vop", "submit_text_tan"):
            return relation["rel"], urlsplit(relation["href"]).path
    return None, None
