"""What a caller wants of an access, and which products of it are selected."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from kontor.domain.accesses import Access, Notice, NoticeKind
from kontor.domain.errors import ConflictError, InvalidError


class IncompleteCredentialsError(InvalidError):
    """Fields that the bank asks for are missing or malformed. `notice` names them for the end customer."""

    def __init__(self, missing: Collection[str], field: str) -> None:
        super().__init__(f"incomplete or malformed: {', '.join(missing)}", field)
        self.notice = Notice(NoticeKind.INCOMPLETE_CREDENTIALS, ", ".join(missing))


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """What a caller sends for one access. Nothing but defaults means: use what is stored.

    `lifts_selection`: all products are wanted again. `purpose` and `usable_until` are for the permission.
    """

    provider_id: UUID | None = None
    credentials: dict[str, str] | None = None
    is_synced: bool | None = None
    selected_products: tuple[UUID, ...] | None = None
    lifts_selection: bool = False
    wants_statements: bool | None = None
    purpose: str | None = None
    usable_until: date | None = None

    def select_from(self, current: tuple[UUID, ...] | None) -> tuple[UUID, ...] | None:
        """The products that are selected from now on; None are all."""
        if self.lifts_selection:
            return None
        return current if self.selected_products is None else self.selected_products

    def choose_statements(self, current: bool) -> bool:
        """Whether account statements are wanted from now on."""
        return current if self.wants_statements is None else self.wants_statements


def refuse_unknown_products(request: AccessRequest, access: Access, stored: Collection[UUID]) -> None:
    """Products that the bank has never named. Before it has named any, nobody knows: that is told with its answer."""
    known = {*stored, *(access.known_products or ()), *(access.selected_products or ())}
    if request.selected_products is None or access.known_products is None:
        return
    if unknown := [str(product_id) for product_id in request.selected_products if product_id not in known]:
        raise InvalidError(f"there is no such product: {', '.join(unknown)}", f"{access.id}.selectedBankProducts")


def refuse_stale_selection(request: AccessRequest, seen: Access | None, current: Access) -> None:
    """Compare and save: a selection is stored over the one that was there when the request came, or an equal one.

    `current` is locked. Raises ConflictError where another request has changed the selection since.
    """
    if request.selected_products is None and not request.lifts_selection:
        return
    wanted = _order(request.select_from(None))
    before = None if seen is None else _order(seen.selected_products)
    if _order(current.selected_products) not in (before, wanted):
        raise ConflictError("Another request has changed the selected products. Read the access and select again.")


def _order(selected: tuple[UUID, ...] | None) -> list[UUID] | None:
    return None if selected is None else sorted(selected)
