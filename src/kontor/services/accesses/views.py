"""Accesses as they are shown: with their products, or, before they are confirmed, with next to nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from kontor.domain.accesses import Access, Notice, NoticeKind
from kontor.domain.consents import RENEWAL_PERIOD
from kontor.domain.stored_products import StoredProduct


@dataclass(frozen=True, slots=True)
class AccessView:
    access: Access
    products: tuple[StoredProduct, ...]
    has_credentials: bool
    needs_sca: bool


@dataclass(frozen=True, slots=True)
class UnconfirmedAccess:
    """One that is being added in the web form, before the choice of accounts: all that a tenant may know of it."""

    id: str
    is_synced: bool
    created_at: datetime


def view_access(access: Access, stored: Sequence[StoredProduct], today: date, *, has_credentials: bool) -> AccessView:
    """A consent that ends soon, or has ended, is something the user can act on."""
    needs_sca = any(message.kind is NoticeKind.SCA_NEEDED for message in access.messages)
    end = access.consent_until
    if not needs_sca and end is not None and end - today <= RENEWAL_PERIOD:
        needs_sca = True
        access = replace(access, messages=(*access.messages, Notice(NoticeKind.SCA_NEEDED)))
    return AccessView(access, tuple(stored), has_credentials, needs_sca)


def mask_unconfirmed(view: AccessView) -> AccessView | UnconfirmedAccess:
    """Its data changes for the first time when it is confirmed, so `updated_at` is when it was created."""
    access = view.access
    return view if access.is_confirmed else UnconfirmedAccess(access.id, access.is_synced, access.updated_at)
