"""What the bank knows and does, whatever protocol asks: its customers, their PINs, accounts and payments."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

from kontor.connectors.base import Context, FailureKind, ProblemKind
from kontor.connectors.demo.connector import MAX_WRONG_PINS
from kontor.connectors.demo.memory import Bank, find_owner
from kontor.connectors.demo.paying import Payments
from kontor.connectors.demo.people import Account, Person, person_for
from kontor.connectors.demo.scenarios import Scenario, find_scenario
from kontor.connectors.demo.standing_orders import execute_due
from kontor.connectors.demo.statements import list_rows, move_balance
from kontor.demobank.xs2a.exchanges import RefusedError
from kontor.demobank.xs2a.modes import Xs2aMode
from kontor.domain.clocks import BERLIN
from kontor.domain.demo_books import BookOwner, Receipt
from kontor.domain.payments import PaymentOutcome
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction

# On the wire nobody tells which of Kontor's users asks: all who use one login are one customer.
CUSTOMER = ""


def read_time() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class AccountSnapshot:
    """An account as it stands today. `is_readable` is false where the bank cannot say whose it is."""

    product: Product
    account: Account
    booked: Sequence[Transaction]
    is_readable: bool
    has_rows: bool

    def list_rows(self) -> list[Transaction]:
        return list_rows(self.account, self.booked)


class DemoAspsp:
    def __init__(
        self,
        bank: Bank,
        *,
        slow_seconds: float = 0,
        read_time: Callable[[], datetime] = read_time,
        modes: frozenset[Xs2aMode] = frozenset(),
    ) -> None:
        self.bank = bank
        self.modes = modes
        self.payments = Payments(bank, slow_seconds)
        self.read_time = read_time
        self._slow_seconds = slow_seconds

    @property
    def today(self) -> date:
        return self.read_time().astimezone(BERLIN).date()

    def make_context(self, callback_url: str | None = None) -> Context:
        return Context(self.today, CUSTOMER, callback_url=callback_url)

    def find_owner(self, login: str) -> BookOwner:
        return find_owner(login, self.make_context())

    def check_customer(self, login: str) -> Scenario:
        """Is there such a customer, and may he be served?"""
        scenario = find_scenario(login)
        if scenario.failure is FailureKind.LOCKED:
            raise RefusedError("SERVICE_BLOCKED", "Der Zugang ist gesperrt.")
        if scenario.failure is FailureKind.UNREACHABLE:
            raise RefusedError("SERVICE_UNAVAILABLE")
        if scenario.failure is not None:
            raise RefusedError("INTERNAL_SERVER_ERROR")
        if scenario.is_slow:
            time.sleep(self._slow_seconds)
        return scenario

    def check_pin(self, login: str, pin: str) -> None:
        self.check_customer(login)
        key = f"{CUSTOMER} {login}"
        if self.bank.read_wrong_pins(key) >= MAX_WRONG_PINS:
            raise RefusedError("SERVICE_BLOCKED", "Der Zugang ist gesperrt.")
        if pin not in ("demo", login.partition("+")[0]) or person_for(login, self.today) is None:
            if self.bank.count_wrong_pin(key) >= MAX_WRONG_PINS:
                raise RefusedError("SERVICE_BLOCKED", "Der Zugang ist gesperrt.")
            raise RefusedError("PSU_CREDENTIALS_INVALID", "Die Zugangsdaten sind falsch.")
        self.bank.forget_wrong_pins(key)

    def find_person(self, login: str) -> Person:
        person = person_for(login, self.today)
        if person is None:
            raise RefusedError("PSU_CREDENTIALS_INVALID", "Die Zugangsdaten sind falsch.")
        return person

    def register(self, login: str) -> None:
        """From now on the customer's accounts can be paid to."""
        products = [account.product for account in self.find_person(login).accounts]
        self.bank.register_accounts(self.find_owner(login), products)

    def list_holdings(self, login: str, *, is_card: bool = False) -> list[AccountSnapshot]:
        """Payment accounts, as PSD2 knows them: those with an IBAN. Or card accounts."""
        person, scenario, owner = self.find_person(login), find_scenario(login), self.find_owner(login)
        execute_due(self.bank, owner, person, self.today)
        bookings = self.bank.list_bookings(owner, self.today)
        holdings = []
        for number, account in enumerate(person.accounts):
            key = account.product.key
            if not (account.product.category.is_card if is_card else account.product.iban):
                continue
            is_failing = number > 0 and ProblemKind.TRANSACTIONS in scenario.problems
            is_readable = number == 0 or ProblemKind.PRODUCT not in scenario.problems
            booked = bookings.get(key, ())
            product = move_balance(account.product, booked)
            holdings.append(AccountSnapshot(product, account, booked, is_readable, not is_failing))
        return holdings

    def find_account(self, login: str, iban: str) -> Account | None:
        return next((account for account in self.find_person(login).accounts if account.product.iban == iban), None)

    def find_receipt(self, login: str, payment_id: UUID) -> Receipt | None:
        receipt = self.bank.find_receipt(self.find_owner(login), payment_id)
        return None if receipt is None else receipt.on(self.today)

    def withdraw(self, login: str, payment_id: UUID) -> bool:
        """Refuse the payment from now on; false where it has been decided about already."""
        receipt = self.bank.look_up(self.find_owner(login), payment_id)
        return receipt.outcome is PaymentOutcome.NEVER


def show_money(amount: Decimal) -> str:
    return f"{amount:.2f}"
