"""Webhooks: what is told to whom, when a call is tried again, and which addresses may be called at all."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from uuid import UUID

from kontor.domain.callbacks import DEFAULT_PORTS, parse_callback
from kontor.domain.errors import InvalidError
from kontor.domain.payments import PaymentKind

MAX_WEBHOOKS = 20
MAX_DESCRIPTION_LENGTH = 255
OPEN_PORTS = (443, 8443)


class EventType(StrEnum):
    TRANSACTIONS_NEW = "transactions.new"
    SCA_REQUIRED = "access.sca_required"
    ACCESS_ERROR = "access.error"
    CONSENT_EXPIRING = "consent.expiring"
    PAYMENT_STATUS = "payment.status"


class DeliveryState(StrEnum):
    PENDING = "PENDING"
    DELIVERED = "DELIVERED"
    DISCARDED = "DISCARDED"


class DeliveryFailure(StrEnum):
    """Why a call failed, or why there will be none. `ERASED`: its user is gone, and with it what there was to tell."""

    ADDRESS = "ADDRESS"
    UNREACHABLE = "UNREACHABLE"
    TLS = "TLS"
    TIMEOUT = "TIMEOUT"
    PROTOCOL = "PROTOCOL"
    STATUS = "STATUS"
    GONE = "GONE"
    SWITCHED_OFF = "SWITCHED_OFF"
    ERASED = "ERASED"


@dataclass(frozen=True, slots=True)
class NewTransactions:
    """How many transactions of a product are new, and how many have changed or are gone."""

    product_id: UUID
    count: int
    changed: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """Something a tenant may want to know, by references alone. Without a user: that user was erased since."""

    type: EventType
    user_id: UUID | None
    access_id: str | None = None
    products: tuple[NewTransactions, ...] = ()
    payment_id: UUID | None = None
    payment_kind: PaymentKind | None = None
    data_version: int | None = None  # of the user's data after the event


@dataclass(frozen=True, slots=True)
class Webhook:
    """`has_secret` is false after the loss of the master key. `is_gone`: switched off by the receiver's own 410."""

    id: UUID
    tenant_id: UUID
    url: str
    events: tuple[EventType, ...]
    description: str | None
    is_active: bool
    is_gone: bool
    last_serial: int
    has_secret: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event on its way to one webhook. `status` and `failure` are those of the last attempt."""

    webhook_id: UUID
    serial: int
    id: UUID
    event: Event
    created_at: datetime
    state: DeliveryState
    attempts: int
    attempted_at: datetime | None = None
    next_attempt_at: datetime | None = None
    status: int | None = None
    failure: DeliveryFailure | None = None

    @property
    def message_id(self) -> str:
        """The same for every attempt: receivers know by it what they have had already."""
        return f"msg_{self.id.hex}"


# When a call is tried again


@dataclass(frozen=True, slots=True)
class RetrySchedule:
    """When each try is made, in seconds after the first; each is moved by up to `jitter` of that, within the window."""

    offsets_seconds: tuple[float, ...] = (0, 5, 30, 120, 300, 600, 900)
    window_seconds: float = 900
    pause_seconds: float = 4  # at least, between the end of one try and the next
    jitter: float = 0.2

    def plan(
        self, tries: int, elapsed_seconds: float, chance: float, retry_after_seconds: float | None = None
    ) -> float | None:
        """Seconds from now until the next try after `tries` failed ones; None when it is given up.

        `elapsed_seconds` lie behind the first try; `chance` is between -1 and 1. Who asks for a longer pause gets it,
        within the window.
        """
        if tries >= len(self.offsets_seconds):
            return None
        planned = min(self.offsets_seconds[tries] * (1 + self.jitter * chance), self.window_seconds)
        at = max(planned, elapsed_seconds + max(self.pause_seconds, retry_after_seconds or 0))
        return at - elapsed_seconds if at <= self.window_seconds else None


def read_retry_after(text: str | None, now: datetime) -> float | None:
    """Seconds, from a number or a date. What cannot be understood was not said."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text) if len(text) < 10 else float("inf")
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError):
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())


# Which addresses may be called


@dataclass(frozen=True, slots=True)
class Target:
    scheme: str
    host: str
    port: int


_FORBIDDEN_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
            "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        ),
    )
)  # fmt: skip
# Everything else of IPv6 is no public address: loopback, ULA, link-local, multicast, IPv4-mapped, NAT64.
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
# Teredo and other special uses, documentation, and 6to4: an IPv4 address in disguise.
_FORBIDDEN_V6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


def is_public(address: str) -> bool:
    """Does the address belong to the internet, and nowhere else?

    The ranges are listed here, since the library's own answers differ between versions of Python.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv4Address):
        return not any(parsed in network for network in _FORBIDDEN_V4)
    return parsed.scope_id is None and parsed in _PUBLIC_V6 and not any(parsed in network for network in _FORBIDDEN_V6)


def is_loopback(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return parsed.is_loopback and getattr(parsed, "ipv4_mapped", None) is None


def read_target(url: str, field: str = "url") -> Target:
    """Where a URL leads. Raises InvalidError for what two readers might understand differently."""
    parts = parse_callback(url, field)
    return Target(parts.scheme, parts.host, parts.port or DEFAULT_PORTS[parts.scheme])


def check_target(target: Target, addresses: list[str], *, is_loopback_allowed: bool, field: str = "url") -> None:
    """Raises InvalidError unless each of the host's addresses may be called.

    One text for all of them: what a name means in the network of this server is nobody's business.
    """
    if is_loopback_allowed and addresses and all(map(is_loopback, addresses)):
        return
    if target.scheme != "https":
        raise InvalidError("must be an https address", field)
    if target.port not in OPEN_PORTS:
        raise InvalidError("must have the port 443 or 8443", field)
    if not addresses or not all(map(is_public, addresses)):
        raise InvalidError("must lead to a public address on the internet", field)
