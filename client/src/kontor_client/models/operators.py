"""What operators see. Attributes that are left out by the service are None."""

from datetime import date, datetime

from kontor_client.models.shapes import Model, Relation


class OperatedTenant(Model, rename={"is_regulated": "regulated", "created_at": "createdAt"}):
    name: str
    is_regulated: bool
    created_at: datetime
    clients: int
    users: int
    description: str | None = None


class OperatedClient(Model, rename="camel"):
    tenant: str
    name: str
    username: str
    kind: str
    granted_scopes: list[str]
    created_at: datetime
    description: str | None = None


class OperatedUser(Model, rename={"reference": "userReference", "is_active": "active", "created_at": "createdAt"}):
    tenant: str
    reference: str
    username: str
    is_active: bool
    created_at: datetime
    accesses: int
    pseudonym: str  # in the audit trail


class Outcome(Model):
    """How the last fetch ended."""

    state: str
    at: datetime
    failure: str | None = None


class OperatedAccess(
    Model,
    rename={
        "user_reference": "userReference",
        "provider_id": "providerId",
        "is_synced": "sync",
        "created_at": "createdAt",
        "updated_at": "updatedAt",
        "is_failing": "failing",
        "consent_until": "consentUntil",
        "next_refresh_at": "nextRefreshAt",
        "last_outcome": "lastOutcome",
        "operator_paused_at": "operatorPausedAt",
    },
):
    tenant: str
    user_reference: str
    id: str
    provider_id: str
    status: str
    is_synced: bool
    created_at: datetime
    updated_at: datetime
    refresh: str
    is_failing: bool
    provider: str | None = None
    consent_until: date | None = None
    pause: str | None = None
    next_refresh_at: datetime | None = None
    last_outcome: Outcome | None = None
    operator_paused_at: datetime | None = None


class Attempt(
    Model,
    rename={
        "requested_at": "requestedAt",
        "is_attended": "attended",
        "started_at": "startedAt",
        "finished_at": "finishedAt",
    },
):
    state: str
    requested_at: datetime
    is_attended: bool
    attempts: int
    slot: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    failure: str | None = None


class Budget(Model, rename="camel"):
    """Calls of the bank without the customer, in 24 hours."""

    used: int
    limit: int
    free_at: datetime | None = None


class OperatedAccessDetail(OperatedAccess, rename={"provider_down_since": "providerDownSince"}, kw_only=True):
    reason: str
    attempts: list[Attempt]
    budget: Budget
    relations: list[Relation]
    provider_down_since: datetime | None = None


class AccessSummary(Model, rename="camel"):
    total: int
    by_status: dict[str, int]
    temporary: int
    paused: dict[str, int]


class Refresh(
    Model,
    rename={
        "user_reference": "userReference",
        "provider_id": "providerId",
        "due_at": "dueAt",
        "started_at": "startedAt",
        "finished_at": "finishedAt",
        "is_attended": "attended",
    },
):
    tenant: str
    user_reference: str
    access: str
    provider_id: str
    state: str
    provider: str | None = None
    due_at: datetime | None = None
    slot: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    failure: str | None = None
    attempts: int | None = None
    is_attended: bool | None = None
    pause: str | None = None


class Outcomes(Model):
    done: int
    failed: int
    interrupted: int
    skipped: int
    waiting: int


class RefreshSummary(Model, rename="camel"):
    at: datetime
    due: int
    late: int
    running: int
    failing: int
    paused: dict[str, int]
    last_day: Outcomes
    oldest_due_at: datetime | None = None


class Outage(Model, rename="camel"):
    failures: int
    next_try_at: datetime
    down_since: datetime | None = None


class OperatedProvider(Model, rename="camel"):
    id: str
    fetches: int
    name: str | None = None
    success_rate: float | None = None
    mean_duration_seconds: float | None = None
    last_success: datetime | None = None
    refused_logins: int = 0
    outage: Outage | None = None


class OperatedWebhook(
    Model,
    rename={"is_active": "active", "is_gone": "gone", "last_serial": "lastSerial", "created_at": "createdAt"},
):
    tenant: str
    id: str
    url: str
    events: list[str]
    is_active: bool
    last_serial: int
    created_at: datetime
    description: str | None = None
    is_gone: bool = False


class Jobs(Model, rename="camel"):
    entrypoint: str
    status: str
    count: int
    oldest_at: datetime


class HeldJob(Model, rename="camel"):
    id: int
    entrypoint: str
    attempts: int
    created_at: datetime
    failed_at: datetime
    subject: str | None = None
    error: str | None = None


class JobEvent(Model):
    at: datetime
    status: str
    error: str | None = None


class Job(Model, rename="camel"):
    id: int
    entrypoint: str
    status: str
    attempts: int
    created_at: datetime
    updated_at: datetime
    due_at: datetime
    events: list[JobEvent]
    relations: list[Relation]
    subject: str | None = None


class Worker(Model, rename={"started_at": "startedAt", "seen_at": "seenAt", "is_alive": "alive"}):
    id: str
    host: str
    pid: int
    version: str
    started_at: datetime
    seen_at: datetime
    is_alive: bool


class OutboundHost(Model, rename="camel"):
    """A host that the installation has connected to, with the counts of some days."""

    host: str
    purpose: str
    connections: int
    failures: int
    refused: int
    bytes_sent: int
    bytes_received: int
    first_day: date
    last_day: date


class AuditEntry(Model, rename="camel"):
    serial: int
    at: datetime
    actor: str
    action: str
    object: str
    result: str
    correlation_id: str
    hash: str


class AuditChain(Model, rename={"is_whole": "whole"}):
    chain: str
    entries: int
    is_whole: bool
    tenant: str | None = None
    problem: str | None = None


class AuditVerification(Model, rename={"verified_at": "verifiedAt", "is_whole": "whole"}):
    verified_at: datetime
    is_whole: bool
    chains: list[AuditChain]


class HealthCheck(Model, rename={"is_well": "well"}):
    name: str
    is_well: bool
    detail: str


class OperatedHealth(Model, rename={"is_well": "well"}):
    is_well: bool
    checks: list[HealthCheck]
