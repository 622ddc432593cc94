"""What a direct debit needs beside amount and account: scheme, creditor, mandates."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class DebitScheme(StrEnum):
    """Rulebooks of the European Payments Council. Debtors of `B2B` are businesses, and cannot demand a refund."""

    CORE = "CORE"
    B2B = "B2B"


class SequenceType(StrEnum):
    """Which collection by a mandate it is: the first, a further one, the only one, the last."""

    FRST = "FRST"
    RCUR = "RCUR"
    OOFF = "OOFF"
    FNAL = "FNAL"


class DebitForm(StrEnum):
    """In which forms a bank takes direct debits. Each is a business of its own."""

    CORE_SINGLE = "CORE_SINGLE"
    CORE_BULK = "CORE_BULK"
    B2B_SINGLE = "B2B_SINGLE"
    B2B_BULK = "B2B_BULK"


@dataclass(frozen=True, slots=True)
class Mandate:
    id: str
    signed_on: date


@dataclass(frozen=True, slots=True)
class DebitInstruction:
    """`mandates` are those of the orders, in their order. One order of a bank has one sequence type."""

    scheme: DebitScheme
    creditor_id: str
    sequence: SequenceType
    mandates: tuple[Mandate, ...]

    @property
    def form(self) -> DebitForm:
        return DebitForm(f"{self.scheme}_{'BULK' if len(self.mandates) > 1 else 'SINGLE'}")
