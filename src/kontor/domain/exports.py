"""A booking as the files show it that others calculate with."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ExportRow:
    """A booking and what it is taken for; no category where it was stored a moment ago."""

    product_id: UUID
    id: UUID
    day: date
    ordinal: int
    value_day: date | None
    amount: Decimal
    currency: str
    counterparty_name: str | None
    counterparty_iban: str | None
    purpose: str | None
    booking_text: str | None
    is_pending: bool
    category: str | None
    confidence: float | None
    source: str | None
    partner: str | None
    insurance_type: str | None
    freelancer_category: str | None
    note: str | None
    keywords: list[str] | None
    part_amounts: list[Decimal]
    part_categories: list[str]
