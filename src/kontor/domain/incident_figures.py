"""What an installation has recorded of the time of an incident: counts, and nothing about persons."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

Span = tuple[datetime, datetime]
KEPT = timedelta(days=30)  # as long as fetches and outcomes of calls are kept


@dataclass(frozen=True, slots=True)
class FailureCount:
    failure: str
    count: int


@dataclass(frozen=True, slots=True)
class ProviderFailures:
    """Calls of one bank."""

    provider_id: UUID
    calls: int
    failures: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class HostFailures:
    host: str
    purpose: str
    connections: int
    failures: int


@dataclass(frozen=True, slots=True)
class AuditCount:
    action: str
    result: str
    count: int


@dataclass(frozen=True, slots=True)
class IncidentFigures:
    """`is_complete` is False where the time begins before what is kept. `down` are providers that are down now."""

    span: Span
    is_complete: bool
    customers: int
    affected_customers: int
    customers_with_fetches: int
    fetches: int
    fetches_done: int
    fetches_failed: int
    failures: tuple[FailureCount, ...]
    providers: tuple[ProviderFailures, ...]
    hours: tuple[tuple[datetime, int, int], ...]
    payments: dict[str, int]
    discarded_deliveries: int
    audit: tuple[AuditCount, ...]
    hosts: tuple[HostFailures, ...]
    held_jobs: dict[str, int]
    workers_alive: int
    workers_dead: int
    down: tuple[UUID, ...]
    earlier: tuple[str, ...]

    @property
    def first_failure_at(self) -> datetime | None:
        return min((one.first_at for one in self.providers), default=None)

    @property
    def last_failure_at(self) -> datetime | None:
        return max((one.last_at for one in self.providers), default=None)
