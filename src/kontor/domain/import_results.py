"""What came of a statement file, as it is kept for a while."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from kontor.domain.doubts import Doubt

RESULT_LIFETIME = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that could not be read. `line` counts from 1; None where it cannot be told."""

    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class AccountResult:
    """What a file brought to one account."""

    product_id: UUID
    form: str
    read: int
    added: int
    changed: int
    known: int
    rejected: tuple[RefusedRow, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    opening: Decimal | None = None
    closing: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ImportRecord:
    id: UUID
    accounts: tuple[AccountResult, ...]
    imported_at: datetime
