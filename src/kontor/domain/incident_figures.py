"""What an installation has recorded of the time of an incident: counts, and nothing about persons."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

MAX_CLIENTS = 100_000
MAX_CLIENTS_SHARE = 0.1
LONGEST = timedelta(hours=24)
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
class Measure:
    """What was counted, beside a threshold of Delegated Regulation (EU) 2024/1772, article 9."""

    threshold: str
    measured: str
    is_above: bool


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
        return min((provider.first_at for provider in self.providers), default=None)

    @property
    def last_failure_at(self) -> datetime | None:
        return max((provider.last_at for provider in self.providers), default=None)

    def compare_thresholds(self) -> list[Measure]:
        """Those that can be counted here. That a threshold is met is for the operator to find."""
        clients, share = self.affected_customers, self.affected_customers / max(1, self.customers)
        first, last = self.first_failure_at, self.last_failure_at
        lasted = last - first if first is not None and last is not None else timedelta(0)
        hours, minutes = divmod(int(lasted.total_seconds()) // 60, 60)
        return [
            Measure("9(1)(a): more than 10 % of clients", f"{share:.1%}", share > MAX_CLIENTS_SHARE),
            Measure("9(1)(b): more than 100,000 clients", str(clients), clients > MAX_CLIENTS),
            Measure(
                "9(3): longer than 24 hours",
                f"{hours} h {minutes} min from first to last failed call",
                lasted > LONGEST,
            ),
        ]
