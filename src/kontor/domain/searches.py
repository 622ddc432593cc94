"""Which transactions of a product are listed or looked for."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

# Where a page begins: behind the booking of that day with that number within it.
Position: TypeAlias = tuple[date, int]
# The same among the bookings of all products.
CustomerPosition: TypeAlias = tuple[date, UUID, int]


@dataclass(frozen=True, slots=True)
class Window:
    """Which transactions of a product to list, newest first: those before `cursor`, booked within the times."""

    since: datetime | None = None
    until: datetime | None = None
    cursor: Position | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """What is looked for, besides the times of a window. Of the words, all must occur.

    `categories` are of Kontor's own tree, or one that the user or the tenant has made.
    """

    words: tuple[str, ...] = ()
    categories: tuple[str, ...] | None = None
    min_amount: Decimal | None = None
    max_amount: Decimal | None = None
    is_ascending: bool = False


@dataclass(frozen=True, slots=True)
class CustomerFilters(Filters):
    """What is looked for among the transactions of all products. `amount` is unsigned; None asks for nothing."""

    since: datetime | None = None
    until: datetime | None = None
    product_ids: tuple[UUID, ...] | None = None
    is_incoming: bool | None = None
    amount: Decimal | None = None
    keyword: str | None = None


@dataclass(frozen=True, slots=True)
class CurrencySum:
    """Transactions of one currency; expenses are negative."""

    currency: str
    count: int
    income: Decimal
    expenses: Decimal
    total: Decimal
