"""A product of a customer, as it is stored with its access."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kontor.domain.accesses import AccessStatus, Notice
from kontor.domain.balances import BalanceGap
from kontor.domain.products import Product


@dataclass(frozen=True, slots=True)
class StoredProduct:
    """A product with when it was last read, whether its bookings are complete, and what went wrong with it then."""

    id: UUID
    access_id: str
    status: AccessStatus
    updated_at: datetime
    product: Product
    gap: BalanceGap | None = None
    notices: tuple[Notice, ...] = ()
