"""Contracts as they are kept: their ids, their bookings, and what users have set."""

from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

# The rows of a booking: several where several accesses report it.
Booking: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContractSettings:
    """What a user has set; None where nothing is. `is_contract` false: the user says that it is none."""

    name: str | None = None
    is_contract: bool | None = None
    notice_period: str | None = None
    minimum_term_end: date | None = None


NOTHING_SET = ContractSettings()


@dataclass(frozen=True, slots=True)
class KnownContract:
    """A contract as analyses have last found it. One that is not `is_found` was found earlier."""

    id: str
    bookings: tuple[Booking, ...]
    is_found: bool = True
    settings: ContractSettings = NOTHING_SET

    @property
    def is_excluded(self) -> bool:
        return self.settings.is_contract is False


@dataclass(frozen=True, slots=True)
class Period:
    """The period of a transaction's contract, and how sure it is."""

    transaction_id: str
    name: str
    confidence: float
