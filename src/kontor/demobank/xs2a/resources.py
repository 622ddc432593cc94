"""What third parties have opened at the bank: consents, payments, and the authorisations below them.

Kept in memory: a bank that is started anew has forgotten its consents. What was paid stands in the books.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from threading import Lock, RLock
from typing import Any, Generic, TypeVar
from uuid import UUID

from kontor.connectors.base import Pay, State
from kontor.demobank.xs2a.bodies import AccountAccess

MAX_RESOURCES = 20_000
T = TypeVar("T")


class Approach(StrEnum):
    EMBEDDED = "EMBEDDED"
    DECOUPLED = "DECOUPLED"
    REDIRECT = "REDIRECT"


class BoundedStore(Generic[T]):
    """The newest of a kind, by id; the oldest goes when there are too many."""

    def __init__(self, most: int = MAX_RESOURCES) -> None:
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._most = most
        self._lock = Lock()

    def put(self, key: str, resource: T) -> T:
        """What is there already under this key stays, and is returned."""
        with self._lock:
            kept = self._kept.setdefault(key, resource)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return kept

    def find(self, key: str) -> T | None:
        return self._kept.get(key)

    def list_all(self) -> list[T]:
        """Oldest first."""
        with self._lock:
            return list(self._kept.values())


@dataclass
class Authorisation:
    """`state` is where the customer's authentication stands; `code` confirms a redirect, where that is asked for."""

    id: str
    path: str
    approach: Approach
    callback_url: str | None
    login: str | None = None
    status: str = "received"
    state: State | None = None
    code: str | None = None
    message: str | None = None
    wrong_tans: int = 0
    methods: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    chosen: str | None = None
    shown: dict[str, Any] = field(default_factory=dict)
    redirect_url: str | None = None

    @property
    def is_over(self) -> bool:
        return self.status in ("finalised", "failed", "exempted")


@dataclass
class Resource:
    """Something that a customer authorises."""

    id: str
    path: str
    login: str | None
    approach: Approach
    authorisations: dict[str, Authorisation] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)

    @property
    def authorisations_path(self) -> str:
        return f"{self.path}/authorisations"


@dataclass
class Consent(Resource):
    access: AccountAccess = field(default_factory=AccountAccess)
    is_recurring: bool = True
    valid_until: date = date.max
    frequency: int = 4
    status: str = "received"
    used_on: date = date.min
    authorised_at: datetime | None = None
    uses: dict[tuple[date, str], int] = field(default_factory=dict)


@dataclass
class Payment(Resource):
    """`body` is the order as it was sent; `refusal` is why the bank would not even ask for a TAN.

    `cancellation` is what the customer authorises to end a standing order.
    """

    uuid: UUID = UUID(int=0)
    service: str = "payments"
    digest: bytes = b""
    body: dict[str, Any] = field(default_factory=dict)
    job: Pay | None = None
    is_cancelled: bool = False
    refusal: tuple[str, str] | None = None
    held_reads: int = 0
    cancellation: "Cancellation | None" = None


@dataclass
class Cancellation(Payment):
    @property
    def authorisations_path(self) -> str:
        return f"{self.path}/cancellation-authorisations"
