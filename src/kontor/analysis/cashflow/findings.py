"""What the cashflow analysis is asked and what it finds. Values only; money that comes in is positive."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from kontor.analysis.reasons import Reason


class Focus(StrEnum):
    """What the outer level of an answer is made of: with `TIME` one series per tag, with `TAG` one list per span."""

    TIME = "time"
    TAG = "tag"


class Level(StrEnum):
    SUB = "sub"
    MAIN = "main"


class TaggedBy(StrEnum):
    """The tree whose items money is summed by."""

    CATEGORIES = "CATEGORIES"
    BUSINESS_PARTNERS = "BUSINESS_PARTNERS"
    CUSTOM_CATEGORIES = "CUSTOM_CATEGORIES"


@dataclass(frozen=True, slots=True)
class Options:
    focus: Focus = Focus.TIME
    tagged_by: TaggedBy = TaggedBy.CATEGORIES
    level: Level = Level.SUB
    exclude_savings: bool = False
    explain: bool = False


class Statistic(NamedTuple):
    """What was booked. `item` is a span of time, or a tag where the focus is on tags."""

    item: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a whole month will be. `amount` is always `regular` plus `irregular`; `confidence` of all outcomes lie from
    `lower` to `upper`."""

    item: str
    amount: Decimal
    regular: Decimal
    irregular: Decimal
    lower: Decimal
    upper: Decimal
    confidence: float


@dataclass(frozen=True, slots=True)
class Cashflow:
    """One outer item. `excluded_currencies` are those of its bookings that no sum contains."""

    item: str
    is_aggregate: bool = False
    statistics: tuple[Statistic, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    excluded_currencies: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
