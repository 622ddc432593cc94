"""A securities position in a depot, as a bank reports it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum


class TradingUnit(StrEnum):
    PIECES = "PIECES"
    NOMINAL = "NOMINAL"


@dataclass(frozen=True, slots=True)
class Position:
    name: str
    quantity: Decimal | None = None
    unit: TradingUnit | None = None
    isin: str | None = None
    wkn: str | None = None
    price: Decimal | None = None
    price_at: datetime | None = None
    currency: str | None = None
    exchange_rate: Decimal | None = None
    exchange: str | None = None
    total_value: Decimal | None = None
