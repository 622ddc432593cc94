"""What an operator sees: rows of tenants, accesses, refreshes, jobs, providers and workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum
from uuid import UUID

from kontor.domain.operators import AccessRefresh
from kontor.domain.tenants import ClientKind

NIL = UUID(int=0)


@dataclass(frozen=True, slots=True)
class TenantRow:
    id: UUID
    name: str
    description: str | None
    is_regulated: bool
    created_at: datetime
    clients: int
    users: int


@dataclass(frozen=True, slots=True)
class ClientRow:
    tenant_name: str
    name: str
    kind: ClientKind
    description: str | None
    granted_scopes: tuple[str, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class UserFilter:
    """`pseudonyms` are names of the audit trail. None: all of them."""

    tenant_id: UUID | None = None
    reference: UUID | None = None
    pseudonyms: Sequence[UUID] | None = None


@dataclass(frozen=True, slots=True)
class UserRow:
    tenant_name: str
    id: UUID
    username: str
    is_active: bool
    created_at: datetime
    accesses: int
    pseudonym: UUID


@dataclass(frozen=True, slots=True)
class AccessRow:
    tenant_name: str
    user_id: UUID
    id: str
    provider_id: UUID
    status: str
    is_synced: bool
    created_at: datetime
    updated_at: datetime
    consent_until: date | None
    refresh: AccessRefresh
    pause: str | None
    next_refresh_at: datetime | None
    is_failing: bool
    last_state: str | None
    last_at: datetime | None
    last_failure: str | None
    operator_paused_at: datetime | None


@dataclass(frozen=True, slots=True)
class AccessFilter:
    """None asks for nothing in particular."""

    tenant_id: UUID | None = None
    status: str | None = None
    provider_id: UUID | None = None
    pause: str | None = None
    states: tuple[AccessRefresh, ...] | None = None
    is_failing: bool | None = None


@dataclass(frozen=True, slots=True)
class RefreshRow:
    tenant_name: str
    user_id: UUID
    access_id: str
    provider_id: UUID
    state: str
    due_at: datetime | None
    slot_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    failure: str | None
    attempts: int | None
    is_attended: bool | None
    pause: str | None


class Source(IntEnum):
    """Where rows of a state come from, in the order in which they are listed."""

    SCHEDULE = 0
    QUEUED = 1
    RUNNING = 2
    FAILED = 3
    PAUSED_SCA = 4
    PAUSED_CREDENTIALS = 5


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins: after this row of this source."""

    source: Source
    at: datetime
    user_id: UUID
    access_id: str


@dataclass(frozen=True, slots=True)
class DeliveryCounts:
    """`discarded` within the last 24 hours."""

    pending: int
    discarded: int


@dataclass(frozen=True, slots=True)
class JobCount:
    entrypoint: str
    status: str
    count: int
    oldest_at: datetime


@dataclass(frozen=True, slots=True)
class HeldJob:
    """A job that failed. `subject` is the id it carries, `error` the kind of exception: its text may say too much."""

    id: int
    entrypoint: str
    subject: bytes | None
    attempts: int
    created_at: datetime
    failed_at: datetime
    error: str | None


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """Of the last 24 hours. `failures` are those in a row, up to now; `down_since` once it counts as down.

    `successes` brought data; `refused` are calls in which the bank refused the login.
    """

    provider_id: UUID
    fetches: int
    successes: int
    mean_seconds: float | None
    last_success_at: datetime | None
    failures: int
    down_since: datetime | None
    next_try_at: datetime | None
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Worker:
    id: UUID
    host: str
    pid: int
    version: str
    started_at: datetime
    seen_at: datetime
    is_alive: bool
