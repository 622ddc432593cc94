"""Permissions: what a customer allows for an access, since when and until when, and what became of it."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from kontor.domain.clocks import BERLIN
from kontor.domain.errors import InvalidError
from kontor.domain.providers import Provider

KEPT_YEARS = 2  # after the end
MAX_CALLERS = 20


class PermissionChannel(StrEnum):
    """The way to the bank."""

    FINTS = "FINTS"
    XS2A = "XS2A"
    AGGREGATOR = "AGGREGATOR"
    FILES = "FILES"
    DEMO = "DEMO"


class PermissionStatus(StrEnum):
    """`EXPIRED`: its time is over, or the bank's consent. `WITHDRAWN`: by the customer, or with the access."""

    ACTIVE = "ACTIVE"
    EXPIRED = "EXPIRED"
    WITHDRAWN = "WITHDRAWN"


CHANNELS = {
    "fints": PermissionChannel.FINTS,
    "xs2a": PermissionChannel.XS2A,
    "enablebanking": PermissionChannel.AGGREGATOR,
    "files": PermissionChannel.FILES,
    "demo": PermissionChannel.DEMO,
}


@dataclass(frozen=True, slots=True)
class Erased:
    """How much was erased at the end. `credentials` is the number of stored logins: none or one."""

    products: int
    transactions: int
    credentials: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the end of a permission did; it never changes."""

    permission_id: UUID
    ended_at: datetime
    is_bank_told: bool
    erased: Erased


@dataclass(frozen=True, slots=True)
class Permission:
    """`products` are those of the access now, and after the end those that it had.

    `usable_until` is what was agreed, `consent_until` what the bank said; both are last days. `callers` are names of
    clients, the last one first. Without `channel` the catalogue tells it. An ended one has no `receipt` while its bank
    is being told.
    """

    id: UUID
    access_id: str
    provider_id: UUID
    channel: PermissionChannel | None
    purpose: str | None
    usable_until: date | None
    products: tuple[UUID, ...]
    callers: tuple[str, ...]
    began_at: datetime
    used_at: datetime | None
    consent_until: date | None = None
    ended_at: datetime | None = None
    ended_as: PermissionStatus | None = None
    erased: Erased | None = None
    receipt: Receipt | None = None

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    @property
    def last_day(self) -> date | None:
        """Of an open one the earlier of the two, of an ended one the day on which it ended."""
        if self.ended_at is not None:
            return self.ended_at.astimezone(BERLIN).date()
        return min((day for day in (self.usable_until, self.consent_until) if day is not None), default=None)

    def find_status(self, today: date) -> PermissionStatus:
        """One whose time is over is expired before anybody has ended it."""
        if self.ended_as is not None:
            return self.ended_as
        is_over = self.last_day is not None and self.last_day < today
        return PermissionStatus.EXPIRED if is_over else PermissionStatus.ACTIVE


def find_channel(provider: Provider | None) -> PermissionChannel:
    """By the connector that is tried first. One that this program does not know is somebody else's service."""
    if provider is None:  # no longer in the catalogue; nearly all of its banks are reached by FinTS
        return PermissionChannel.FINTS
    kind = provider.bank_channels[0] if provider.bank_channels else provider.connector
    return CHANNELS.get(kind, PermissionChannel.AGGREGATOR)


def check_usable_until(usable_until: date | None, today: date, field: str) -> None:
    if usable_until is not None and usable_until < today:
        raise InvalidError(f"expected a day from {today} on", field)
