"""What a caller wants of an access, and whether somebody else has chosen other accounts meanwhile."""

from dataclasses import dataclass
from uuid import UUID

from kontor.domain.accesses import Access
from kontor.domain.errors import ConflictError


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """What a caller sends for one access. Nothing but defaults means: use what is stored."""

    provider_id: UUID | None = None
    credentials: dict[str, str] | None = None
    is_synced: bool | None = None
    selected_products: tuple[UUID, ...] | None = None


def refuse_stale_selection(request: AccessRequest, seen: Access | None, current: Access) -> None:
    """Compare and save: a selection is stored over the one that was there when the request came, or an equal one.

    `current` is locked. Raises ConflictError where another request has changed the selection since.
    """
    if request.selected_products is None:
        return
    before = None if seen is None else _order(seen.selected_products)
    if _order(current.selected_products) not in (before, _order(request.selected_products)):
        raise ConflictError("Another request has changed the selected products. Read the access and select again.")


def _order(selected: tuple[UUID, ...] | None) -> list[UUID] | None:
    return None if selected is None else sorted(selected)
