"""Savings goals of the API, read for pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.console.accesses import Product
from kontor.console.gateway import segment
from kontor.console.rendering import read_day

GOALS = "/customer/v2/sparziele"
PAGE = "/console/goals"
CURRENCY = "EUR"
REACHED = "ERREICHT"


@dataclass(frozen=True, slots=True)
class SavingsGoal:
    """`products` are those that the savings are on; without any the user has said how much there is."""

    id: str
    name: str
    target: Decimal
    saved: Decimal
    progress: Decimal  # percent
    status: str
    target_date: date | None
    rate: Decimal | None
    expected_on: date | None
    products: Sequence[Product]

    @property
    def url(self) -> str:
        return f"{PAGE}/{segment(self.id)}"

    @property
    def is_reached(self) -> bool:
        return self.status == REACHED

    @property
    def missing(self) -> Decimal:
        return max(self.target - self.saved, Decimal(0))

    @property
    def is_late(self) -> bool:
        """At the present pace it is reached after its date."""
        return self.target_date is not None and self.expected_on is not None and self.expected_on > self.target_date


def read_goal(goal: Mapping[str, Any], products: Sequence[Product]) -> SavingsGoal:
    named = goal.get("produkte", ())
    rate = goal.get("rateNoetig")
    return SavingsGoal(
        goal["id"],
        goal["name"],
        Decimal(goal["zielbetrag"]),
        Decimal(goal["angespart"]),
        Decimal(goal["fortschritt"]),
        goal["status"],
        read_day(goal.get("zieldatum")),
        None if rate is None else Decimal(rate),
        read_day(goal.get("voraussichtlichAm")),
        [product for product in products if product.id in named],
    )


def choose_products(products: Sequence[Product]) -> list[Product]:
    """In euros: the API converts nothing. Those to save on first."""
    fitting = [product for product in products if product.currency == CURRENCY and product.balance is not None]
    return sorted(fitting, key=lambda product: product.is_everyday)
