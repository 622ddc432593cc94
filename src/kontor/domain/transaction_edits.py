"""Edits of several transactions at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from kontor.domain.annotations import Annotation
from kontor.domain.searches import CustomerFilters

MAX_ROWS = 10_000
LISTED_EDITS = 50
UNDO_DAYS = 30


@dataclass(frozen=True, slots=True)
class Selection:
    """The transactions of these ids, or those that the filters find."""

    ids: tuple[UUID, ...] | None = None
    filters: CustomerFilters | None = None


@dataclass(frozen=True, slots=True)
class SelectedRow:
    product_id: UUID
    id: UUID
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class EditChange:
    """What all rows get: a category, with what the caller wrote for it, and what is written beside them."""

    category: str | None = None
    tags: Any = None
    annotation: Annotation = field(default_factory=Annotation)


@dataclass(frozen=True, slots=True)
class TransactionEdit:
    """An edit that was made. `version` is the data version that its rows got; `skipped` had the wrong sign."""

    id: UUID
    version: int
    tags: Any
    annotation: Annotation
    count: int
    skipped: int
    made_at: datetime
    can_be_undone: bool


@dataclass(frozen=True, slots=True)
class EditPreview:
    """What an edit would change: how many rows, their sum in euros, and the newest of them as JSON objects."""

    count: int
    total: Decimal
    examples: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Undoing:
    """How many rows have their former values again, and how many were changed or removed since the edit."""

    restored: int
    left: int
