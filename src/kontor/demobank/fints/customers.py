"""The demo bank's customers as the wire knows them. Everything comes from the same connector as in process."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from kontor.connectors.base import (
    Answer,
    Context,
    Continue,
    Done,
    Failed,
    FailureKind,
    Fetch,
    Fetched,
    Pay,
    ProblemKind,
    Progress,
    State,
    Step,
)
from kontor.connectors.demo import DemoConnector, authentication
from kontor.connectors.demo.memory import Bank, find_owner
from kontor.connectors.demo.paying import Payments
from kontor.connectors.demo.people import person_for
from kontor.connectors.demo.scenarios import find_scenario
from kontor.connectors.demo.standing_orders import execute_due, find_active
from kontor.connectors.demo.statements import move_balance
from kontor.connectors.job_state import serialize_job
from kontor.domain.demo_books import BookOwner, ScheduledCollection, ScheduledTransfer, StandingOrderAction
from kontor.domain.products import Product
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret

CONSENT_DAYS = 180
# On the wire nobody tells which of Kontor's users asks: all who use one login are one customer.
WIRE_CUSTOMER = ""
PROVIDER = Provider(UUID(int=0), "Kontor Demobank", "demo", (), ())


@dataclass(frozen=True, slots=True)
class Customer:
    """`products` carry today's balances, payments included."""

    login: str
    products: tuple[Product, ...]

    def find_product(self, *names: str) -> Product | None:
        """By IBAN or account number."""
        wanted = {name for name in names if name}
        return next(
            (product for product in self.products if wanted & {product.iban, product.account_number, product.key}), None
        )


class Customers:
    def __init__(self, bank: Bank, slow_seconds: float) -> None:
        self._bank = bank
        self._connector = DemoConnector(bank, slow_seconds)
        self._payments = Payments(bank, slow_seconds)

    def log_in(self, login: str, pin: Secret, today: date) -> Customer | FailureKind:
        """The customer, or why not. A wrong PIN is counted, as everywhere at this bank."""
        memory = {"consent_until": str(today + timedelta(days=1))}
        credentials = {"userid": Secret(login), "pin": pin}
        step = self._connector.begin(PROVIDER, credentials, Fetch(), memory, self._tell(today))
        match step:
            case Progress(partial):
                return Customer(login, partial.products)
            case Failed(kind):
                return kind
        raise AssertionError("with a consent the bank asks for no authentication")

    def find(self, login: str, today: date) -> Customer:
        """A customer who is logged in, as the books are now."""
        person = person_for(login, today)
        assert person is not None, "the login was checked when the dialogue began"
        owner = self._find_owner(login, today)
        execute_due(self._bank, owner, person, today)
        bookings = self._bank.list_bookings(owner, today)
        products = [account.product for account in person.accounts]
        if ProblemKind.PRODUCT in find_scenario(login).problems:
            del products[-1]
        return Customer(login, tuple(move_balance(product, bookings.get(product.key, ())) for product in products))

    def fetch(self, customer: Customer, product: Product, since: date | None, today: date) -> Fetched:
        days: dict[str, date] = {} if since is None else {product.key: since}
        state: State = {
            "login": customer.login,
            "job": serialize_job(Fetch(selected=(product.key,), since=days)),
            "consent_until": str(today),
            "stage": "headers",
        }
        step = self._connector.resume(PROVIDER, {}, state, Continue(), self._tell(today))
        if not isinstance(step, Done) or not isinstance(step.result, Fetched):
            raise ConnectionError("the demo bank's books are out of reach")
        return step.result

    def list_scheduled(self, login: str, product: Product, today: date) -> Sequence[ScheduledTransfer]:
        return self._bank.list_scheduled(self._find_owner(login, today), product.key, today)

    def list_collections(self, login: str, product: Product, today: date) -> Sequence[ScheduledCollection]:
        return self._bank.list_collections(self._find_owner(login, today), product.key, today)

    def list_standing_order_actions(self, login: str, product: Product, today: date) -> list[StandingOrderAction]:
        """Standing orders of an account that are still to be executed."""
        actions = find_active(self._bank.list_standing_order_actions(self._find_owner(login, today)))
        return [
            action for action in actions if action.product_key == product.key and not action.schedule.is_over(today)
        ]

    # Authentication of the dialogue itself

    def demands_sca(self, login: str) -> bool:
        return find_scenario(login).demands_sca

    def begin_authentication(self, login: str) -> Step:
        return authentication.begin({"login": login, "job": serialize_job(Fetch())}, find_scenario(login))

    def begin_payment(self, login: str, job: Pay, today: date) -> Step:
        return self._payments.begin(login, job, self._tell(today))

    def answer(self, state: State, answer: Answer, today: date) -> Step | None:
        """The next step; None when a customer who wanted to read is authenticated."""
        if state["job"].get("kind") == "pay":
            return self._payments.resume(state, answer, self._tell(today))
        scenario = find_scenario(state["login"])
        return authentication.resume(state, scenario, answer, self._bank, self._tell(today))

    @property
    def pays_twice(self) -> bool:
        return self._bank.pays_twice

    def is_known_payment(self, login: str, payment_id: UUID, today: date) -> bool:
        if self._bank.pays_twice:
            return False
        return self._bank.find_receipt(self._find_owner(login, today), payment_id) is not None

    def _find_owner(self, login: str, today: date) -> BookOwner:
        return find_owner(login, self._tell(today))

    def _tell(self, today: date) -> Context:
        return Context(today=today, customer=WIRE_CUSTOMER)


def list_balances(product: Product) -> dict[str, Decimal]:
    if product.balances:
        return {balance.currency: balance.balance for balance in product.balances}
    return {product.currency or "EUR": product.balance or Decimal(0)}
