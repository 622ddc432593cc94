"""Contracts as they are kept: their ids and their bookings."""

from dataclasses import dataclass
from typing import TypeAlias

# The rows of a booking: several where several accesses report it.
Booking: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownContract:
    """A contract as analyses have last found it. One that is not `is_found` was found earlier."""

    id: str
    bookings: tuple[Booking, ...]
    is_found: bool = True


@dataclass(frozen=True, slots=True)
class Period:
    """The period of a transaction's contract, and how sure it is."""

    transaction_id: str
    name: str
    confidence: float
