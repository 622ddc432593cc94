"""A customer of the demo bank with real books, and what a test wants to know about it."""

from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg

from kontor.connectors.base import (
    AcceptPayees,
    ChooseMedium,
    ChooseMethod,
    Context,
    Continue,
    Done,
    Failed,
    Fetch,
    LookUp,
    NeedMedium,
    NeedMethod,
    NeedPayeeDecision,
    NeedTan,
    Pay,
    Progress,
    Step,
    Tan,
    VerifyPayees,
)
from kontor.connectors.demo import DemoConnector
from kontor.connectors.demo.connector import CHANNEL
from kontor.connectors.demo.memory import find_owner
from kontor.connectors.demo.payees import TEST_IBANS, PayeeScenario
from kontor.connectors.demo.people import Account, person_for
from kontor.domain.payments import Order, PayeeResult, PaymentOutcome
from kontor.domain.products import Product
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret
from kontor.domain.transactions import Transaction, mark_channel
from kontor.storage.demo_bank import DemoBankMemory

TODAY = date(2026, 11, 13)
OUTSIDE = "DE89370400440532013000"
PROVIDER = Provider(UUID(int=0), "Demobank", "demo", (), ())


def find_iban(scenario: PayeeScenario) -> str:
    return next(iban for iban, candidate in TEST_IBANS.items() if candidate is scenario)


def make_order(
    amount: str | Decimal = "10.00", iban: str = OUTSIDE, recipient: str = "Erika Muster", **facts: Any
) -> Order:
    return Order(recipient, iban, Decimal(amount), **({"purpose": "Rechnung 4711"} | facts))


@dataclass(frozen=True)
class Payer:
    """One user of Kontor with one login. Every call is a connector made from scratch."""

    url: Secret
    login: str = "test_bank_message"
    customer: str = field(default_factory=lambda: str(uuid4()))
    today: date = TODAY
    slow_seconds: float = 0

    def on(self, today: date) -> "Payer":
        return replace(self, today=today)

    def as_login(self, login: str) -> "Payer":
        """Another login of the same user."""
        return replace(self, login=login)

    @property
    def context(self) -> Context:
        return Context(self.today, self.customer, callback_url="https://caller.example/")

    @property
    def bank(self) -> DemoBankMemory:
        return DemoBankMemory(self.url, "https://bank.example/confirm")

    @property
    def accounts(self) -> tuple[Account, ...]:
        """As the people are, without any payment."""
        person = person_for(self.login, self.today)
        assert person is not None
        return person.accounts

    @property
    def main(self) -> Product:
        return self.accounts[0].product

    def begin(self, job: Any) -> Step:
        credentials = {"userid": Secret(self.login), "pin": Secret("demo")}
        return DemoConnector(self.bank, self.slow_seconds).begin(PROVIDER, credentials, job, None, self.context)

    def resume(self, state: dict[str, Any], answer: Any) -> Step:
        connector = DemoConnector(self.bank, self.slow_seconds)
        return connector.resume(PROVIDER, {}, state, answer, self.context)

    def ask_tan(self, *orders: Order, payment_id: UUID | None = None, **facts: Any) -> Step:
        """Up to the last question, or to an earlier end."""
        facts = {"is_payee_accepted": True, "is_bulk": len(orders) > 1} | facts
        step = self.begin(Pay(payment_id or uuid4(), facts.pop("product_key", self.main.key), orders, **facts))
        while True:
            match step:
                case NeedPayeeDecision(state=state):
                    step = self.resume(state, AcceptPayees())
                case NeedMethod(methods, state):
                    step = self.resume(state, ChooseMethod(methods[0].code))
                case NeedMedium(media, state):
                    step = self.resume(state, ChooseMedium(media[0].name))
                case _:
                    return step

    def pay(self, *orders: Order, **facts: Any) -> Done | Failed:
        step = self.ask_tan(*orders, **facts)
        if isinstance(step, NeedTan):
            step = self.resume(step.state, Tan(Secret("24")))
        assert isinstance(step, Done | Failed), step
        return step

    def look_up(self, payment_id: UUID) -> tuple[PaymentOutcome, str | None]:
        step = self.begin(LookUp(Pay(payment_id, self.main.key, ())))
        assert isinstance(step, Done), step
        return step.result.outcome, step.result.detail

    def verify(self, *orders: Order) -> tuple[PayeeResult, ...]:
        step = self.begin(VerifyPayees(self.main.key, orders))
        assert isinstance(step, Done)
        return step.result.results

    def fetch(self) -> tuple[dict[str, Product], dict[str, tuple[Transaction, ...]]]:
        progress = self.begin(Fetch())
        assert isinstance(progress, Progress)
        done = self.resume(progress.state, Continue())
        assert isinstance(done, Done)
        return {product.key: product for product in progress.partial.products}, dict(done.result.transactions)

    def read_moved(self) -> dict[str, Decimal]:
        """How far balances are away from what they were without payments, where they are."""
        shown, _ = self.fetch()
        plain = {account.product.key: account.product.balance for account in self.accounts}
        moved = {key: shown[key].balance - plain[key] for key in shown if plain[key] is not None}
        return {key: amount for key, amount in moved.items() if amount}

    def list_new(self, key: str | None = None) -> list[Transaction]:
        """What payments have put onto the statement of an account."""
        key = key or self.main.key
        _, rows = self.fetch()
        plain = next(account for account in self.accounts if account.product.key == key)
        known = set(mark_channel([entry.transaction for entry in plain.entries], CHANNEL))
        return [row for row in rows[key] if row not in known]

    def list_events(self, connection: psycopg.Connection, payment_id: UUID) -> list[str]:
        """What reached the bank about a payment."""
        owner = find_owner(self.login, self.context)
        rows = connection.execute(
            "select event from demo_bank_arrivals where owner = %s and payment_id = %s order by id",
            [owner.key, payment_id],
        ).fetchall()
        return [row[0] for row in rows]
