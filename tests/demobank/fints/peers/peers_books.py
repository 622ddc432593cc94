"""What the peers should see: the bank's own books."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from fints_banks import FintsBankUnderTest
from kontor.connectors.base import Context
from kontor.connectors.demo.account_statements import draw_statement, list_statements
from kontor.connectors.demo.memory import find_owner
from kontor.connectors.demo.people import Account, person_for
from kontor.demobank.fints.customers import WIRE_CUSTOMER
from kontor.domain.account_statements import AccountStatement
from kontor.domain.demo_books import BookOwner
from kontor.domain.transactions import find_day

SHOP = "DE02120300000000202051"
SINCE = date(2026, 9, 1)


@dataclass(frozen=True)
class Books:
    bank: FintsBankUnderTest
    login: str

    @property
    def accounts(self) -> tuple[Account, ...]:
        person = person_for(self.login, self.bank.today)
        assert person is not None
        return person.accounts

    def list_days(self, place: int, since: date = SINCE, currency: str = "EUR") -> list[tuple[str, Decimal]]:
        """Day and amount of what is booked."""
        rows = [entry.transaction for entry in self.accounts[place].entries]
        days = [
            (str(find_day(row)), row.amount)
            for row in rows
            if not row.is_pending and (find_day(row) or since) >= since and row.currency == currency
        ]
        return sorted(days)

    def list_pending(self, place: int) -> list[Decimal]:
        rows = [entry.transaction for entry in self.accounts[place].entries]
        return [row.amount for row in rows if row.is_pending]

    @property
    def _owner(self) -> BookOwner:
        return find_owner(self.login, Context(today=self.bank.today, customer=WIRE_CUSTOMER))

    def list_scheduled(self) -> list[tuple[Decimal, str]]:
        """Dated transfers from the first account."""
        found = self.bank.memory.list_scheduled(self._owner, self.accounts[0].product.key, self.bank.today)
        return [(transfer.amount, transfer.iban) for transfer in found]

    def list_collected(self) -> list[tuple[Decimal, str]]:
        """Direct debits for the first account that are not booked yet."""
        found = self.bank.memory.list_collections(self._owner, self.accounts[0].product.key, self.bank.today)
        return [(order.amount, order.iban) for scheduled in found for order in scheduled.collection.orders]

    def list_standing_actions(self) -> list[str]:
        return [str(action.kind) for action in self.bank.memory.list_standing_order_actions(self._owner)]

    def list_paid(self) -> list[tuple[Decimal, str | None]]:
        """What was paid from the first account, and to whom."""
        key = self.accounts[0].product.key
        bookings = self.bank.memory.list_bookings(self._owner, self.bank.today)
        return [(booking.amount, booking.counterparty_iban) for booking in bookings.get(key, ())]

    def list_statements(self) -> list[AccountStatement]:
        """Of the first account, with their files, newest first."""
        account = self.accounts[0]
        rows = [entry.transaction for entry in account.entries]
        return [draw_statement(account.product, rows, item) for item in list_statements(rows, self.bank.today)]
