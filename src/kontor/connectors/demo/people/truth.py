"""What a demo person is made of, and what is true about each booking.

`Truth`, `LifeEvent` and `ContractTruth` say what an analysis should find. They live beside the bank's own types and
never inside them, so that no connector can pass them on by mistake.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from kontor.domain.positions import Position
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction

NO_INSURANCE = "UNRELATED_OTHER"
NO_BUSINESS = "UNRELATED"


@dataclass(frozen=True, slots=True)
class Truth:
    """What a booking really is. `contract` is the id of a `ContractTruth`; bonuses, refunds, settlements and returned
    debits belong to their contract but are not regular."""

    category: str
    insurance_type: str = NO_INSURANCE
    partner: str | None = None
    contract: str | None = None
    is_regular: bool = False
    freelancer_category: str = NO_BUSINESS


@dataclass(frozen=True, slots=True)
class Entry:
    transaction: Transaction
    truth: Truth


@dataclass(frozen=True, slots=True)
class Account:
    """A product with its bookings, newest last.

    `opening` is the balance per currency before the first entry: the product's balance is the opening balance plus
    all final entries. Depots have positions instead of entries.
    """

    key: str
    product: Product
    opening: Mapping[str, Decimal] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    positions: tuple[Position, ...] = ()


@dataclass(frozen=True, slots=True)
class LifeEvent:
    date: date
    name: str


@dataclass(frozen=True, slots=True)
class ContractTruth:
    """An agreement that shows in the data. `first` is its first booking inside the history that the bank still shows;
    `ended` is its last one, where the agreement is over."""

    id: str
    partner: str | None
    category: str
    insurance_type: str
    period: str
    first: date
    ended: date | None
    contract_numbers: tuple[str, ...] = ()
    customer_numbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Address:
    street: str
    postcode: str
    city: str


@dataclass(frozen=True, slots=True)
class Person:
    login: str
    name: str
    address: Address
    accounts: tuple[Account, ...]
    life_events: tuple[LifeEvent, ...] = ()
    contracts: tuple[ContractTruth, ...] = ()
