"""What the analysis of life events finds. Values only."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from kontor.analysis.reasons import Reason


@dataclass(frozen=True, slots=True)
class LifeEvent:
    """`amount` is what it is about, where there is such a thing: the rise of a salary, a loan, a price, an inheritance.
    `is_first` is true where the bookings before show nothing of the kind."""

    name: str
    day: date
    confidence: float
    transaction_ids: tuple[str, ...]
    reasons: tuple[Reason, ...]
    amount: Decimal | None = None
    is_first: bool = False
