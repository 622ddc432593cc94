"""What the demo bank needs to remember, whichever process asks it."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from hashlib import sha256
from typing import Protocol
from uuid import UUID

from kontor.connectors.base import Context
from kontor.domain.demo_books import (
    BookedOrder,
    BookOwner,
    Receipt,
    ScheduledCollection,
    ScheduledTransfer,
    StandingOrderAction,
)
from kontor.domain.payments import Order
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction


class BankMemory(Protocol):
    """Wrong PINs in a row, and customers who are on the bank's own page."""

    def count_wrong_pin(self, login: str) -> int: ...
    def read_wrong_pins(self, login: str) -> int: ...
    def forget_wrong_pins(self, login: str) -> None: ...
    def open_page(self, return_url: str, orders: Sequence[Order] = ()) -> str:
        """The address of a page on which the customer confirms; it then leads back to `return_url`."""
        ...

    def is_page_confirmed(self, page_url: str) -> bool: ...


class BankBooks(Protocol):
    """Accounts, payments and bookings, to which rows are only added. Out of reach is a `ConnectionError`.

    `pays_twice`: an order that arrives again is booked again, whatever id it has.
    """

    pays_twice: bool

    def register_accounts(self, owner: BookOwner, products: Sequence[Product]) -> None: ...
    def find_holders(self, ibans: Sequence[str]) -> Mapping[str, str]: ...
    def list_bookings(self, owner: BookOwner, today: date) -> Mapping[str, tuple[Transaction, ...]]: ...
    def list_scheduled(self, owner: BookOwner, product_key: str, today: date) -> Sequence[ScheduledTransfer]: ...
    def list_collections(self, owner: BookOwner, product_key: str, today: date) -> Sequence[ScheduledCollection]: ...
    def sum_bookings(self, owner: BookOwner, product_key: str, today: date) -> Decimal: ...
    def find_receipt(self, owner: BookOwner, payment_id: UUID) -> Receipt | None: ...
    def settle(self, owner: BookOwner, booked: BookedOrder, funds: Decimal, today: date) -> Receipt:
        """Decide and book at once. An id that is known already changes nothing and gives the first receipt."""
        ...

    def list_standing_order_actions(self, owner: BookOwner) -> Sequence[StandingOrderAction]:
        """Everything that was ordered about standing orders and accepted, oldest first."""
        ...

    def record_standing_order_action(self, owner: BookOwner, action: StandingOrderAction) -> Receipt:
        """Decide and record at once. An id that is known already changes nothing and gives the first receipt."""
        ...

    def look_up(self, owner: BookOwner, payment_id: UUID) -> Receipt:
        """The receipt; where there is none, the id is refused from now on."""
        ...


class Bank(BankMemory, BankBooks, Protocol):
    """All that survives between two calls of the demo bank."""


def find_owner(login: str, context: Context) -> BookOwner:
    """Two users of Kontor with the same login are two customers. The books show no login."""
    return BookOwner(sha256(f"{context.customer} {login}".encode()).hexdigest(), context.customer)
