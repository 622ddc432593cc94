"""What operators see, in words of our own: English, with the interface's form of times."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain import operator_views
from kontor.domain.audit import ChainedEntry
from kontor.domain.webhooks import EventType, Webhook
from kontor.services.operations import AccessFigures, Check, RefreshFigures, Verification
from kontor.wire.encoding import format_timestamp
from kontor.wire.tokens import Timestamp

Count = Annotated[int, Meta(ge=0)]
AccessStatus = Annotated[Literal["STARTED", "HEADERS", "COMPLETE"], Meta(title="OpsAccessStatus")]
Pause = Annotated[
    Literal["SCA", "CREDENTIALS"], Meta(title="OpsPause", description="why it is not refreshed: the user must act")
]
AccessRefresh = Literal["running", "paused", "late", "due", "scheduled", "off"]
TenantName = Annotated[str, Meta(examples=["demo"])]
Maybe = UnsetType


class OpsTenant(msgspec.Struct):
    name: TenantName
    regulated: bool
    createdAt: Timestamp  # noqa: N815
    clients: Count
    users: Count
    description: str | Maybe = UNSET


class OpsClient(msgspec.Struct):
    tenant: TenantName
    name: str
    username: Annotated[str, Meta(examples=["demo/admin"])]
    kind: Literal["admin", "user"]
    grantedScopes: list[str]  # noqa: N815
    createdAt: Timestamp  # noqa: N815
    description: str | Maybe = UNSET


class OpsUser(msgspec.Struct):
    tenant: TenantName
    userReference: UUID  # noqa: N815
    username: str
    active: bool
    createdAt: Timestamp  # noqa: N815
    accesses: Count
    pseudonym: Annotated[UUID, Meta(description="names the user in the audit trail")]


class OpsOutcome(msgspec.Struct):
    """How the last fetch that was tried ended."""

    state: Literal["DONE", "WAITING", "FAILED", "INTERRUPTED"]
    at: Timestamp
    failure: str | Maybe = UNSET


class OpsAccess(msgspec.Struct):
    tenant: TenantName
    userReference: UUID  # noqa: N815
    id: str
    providerId: UUID  # noqa: N815
    status: AccessStatus
    sync: bool
    createdAt: Timestamp  # noqa: N815
    updatedAt: Timestamp  # noqa: N815
    refresh: AccessRefresh
    failing: bool
    provider: Annotated[str, Meta(description="its name, where it is in the catalogue")] | Maybe = UNSET
    consentUntil: Annotated[str, Meta(examples=["2027-03-31"])] | Maybe = UNSET  # noqa: N815
    pause: Pause | Maybe = UNSET
    nextRefreshAt: Timestamp | Maybe = UNSET  # noqa: N815
    lastOutcome: OpsOutcome | Maybe = UNSET  # noqa: N815
    operatorPausedAt: Timestamp | Maybe = UNSET  # noqa: N815


class OpsAccessSummary(msgspec.Struct):
    """Accesses by state, counted within the last seconds."""

    total: Count
    byStatus: dict[str, int]  # noqa: N815
    temporary: Annotated[int, Meta(ge=0, description="whose data is not stored permanently")]
    paused: dict[str, int]


class OpsRefresh(msgspec.Struct):
    """An access that is to be refreshed, is being refreshed, or was not as it should."""

    tenant: TenantName
    userReference: UUID  # noqa: N815
    access: str
    providerId: UUID  # noqa: N815
    state: Literal["SCHEDULED", "QUEUED", "RUNNING", "FAILED", "INTERRUPTED", "PAUSED"]
    provider: str | Maybe = UNSET
    dueAt: Annotated[Timestamp, Meta(description="since when it is due or asked for")] | Maybe = UNSET  # noqa: N815
    slot: Annotated[Timestamp, Meta(description="its place in the schedule; none when a caller asked")] | Maybe = UNSET
    startedAt: Timestamp | Maybe = UNSET  # noqa: N815
    finishedAt: Timestamp | Maybe = UNSET  # noqa: N815
    failure: str | Maybe = UNSET
    attempts: Count | Maybe = UNSET
    attended: Annotated[bool, Meta(description="asked for in the customer's presence")] | Maybe = UNSET
    pause: Pause | Maybe = UNSET


class OpsOutcomes(msgspec.Struct):
    """How fetches of the last 24 hours ended."""

    done: Count
    failed: Count
    interrupted: Count
    skipped: Annotated[int, Meta(ge=0, description="slots in which the bank was not called")]
    waiting: Annotated[int, Meta(ge=0, description="ended because the bank demands SCA")]


class OpsRefreshSummary(msgspec.Struct):
    """Background refresh at a glance, counted within the last seconds."""

    at: Annotated[Timestamp, Meta(description="the time on which the counts are based")]
    due: Annotated[int, Meta(ge=0, description="their time has come, and nobody has begun; late ones included")]
    late: Annotated[int, Meta(ge=0, description="due for more than 15 minutes")]
    running: Count
    failing: Annotated[
        int, Meta(ge=0, description="accesses whose last fetch, within 24 hours, failed; counted up to 10,000")
    ]
    paused: dict[str, int]
    lastDay: OpsOutcomes  # noqa: N815
    oldestDueAt: Timestamp | Maybe = UNSET  # noqa: N815


class OpsOutage(msgspec.Struct):
    """Failures in a row. With `downSince` the provider counts as down; one call at `nextTryAt` finds out."""

    failures: Count
    nextTryAt: Timestamp  # noqa: N815
    downSince: Timestamp | Maybe = UNSET  # noqa: N815


class OpsProvider(msgspec.Struct):
    """How fetches of the last 24 hours went at a provider."""

    id: UUID
    fetches: Count
    name: str | Maybe = UNSET
    successRate: Annotated[float, Meta(ge=0, le=1, description="share that brought data")] | Maybe = UNSET  # noqa: N815
    refusedLogins: Count | Maybe = UNSET  # noqa: N815
    meanDurationSeconds: float | Maybe = UNSET  # noqa: N815
    lastSuccess: Timestamp | Maybe = UNSET  # noqa: N815
    outage: OpsOutage | Maybe = UNSET


class OpsWebhook(msgspec.Struct):
    tenant: TenantName
    id: UUID
    url: str
    events: list[EventType]
    active: Annotated[bool, Meta(description="false: nothing is generated or sent")]
    lastSerial: Annotated[int, Meta(ge=0, description="serial of the newest event")]  # noqa: N815
    createdAt: Timestamp  # noqa: N815
    description: str | Maybe = UNSET
    gone: Annotated[bool, Meta(description="switched off because the receiver answered 410")] | Maybe = UNSET


class OpsJobs(msgspec.Struct):
    entrypoint: Annotated[str, Meta(examples=["fetch"])]
    status: Annotated[str, Meta(description="failed means held: nobody tries it again", examples=["queued"])]
    count: Count
    oldestAt: Timestamp  # noqa: N815


class OpsWorker(msgspec.Struct):
    id: UUID
    host: str
    pid: int
    version: str
    startedAt: Timestamp  # noqa: N815
    seenAt: Timestamp  # noqa: N815
    alive: bool


class OpsAuditEntry(msgspec.Struct):
    serial: int
    at: Timestamp
    actor: str
    action: Annotated[str, Meta(examples=["token.issue"])]
    object: str
    result: Literal["done", "refused", "failed"]
    correlationId: str  # noqa: N815
    hash: Annotated[str, Meta(description="SHA-256 over this entry and the hash of the one before")]


class OpsChain(msgspec.Struct):
    chain: UUID
    entries: Count
    whole: bool
    tenant: Annotated[str, Meta(description="absent for the system's own chain, and for deleted tenants")] | Maybe = (
        UNSET
    )
    problem: str | Maybe = UNSET


class OpsVerification(msgspec.Struct):
    verifiedAt: Timestamp  # noqa: N815
    whole: bool
    chains: list[OpsChain]


class OpsCheck(msgspec.Struct):
    name: Annotated[str, Meta(examples=["workers"])]
    well: bool
    detail: str


class OpsHealth(msgspec.Struct):
    well: bool
    checks: list[OpsCheck]


def show_time(at: datetime | None) -> str | Maybe:
    return UNSET if at is None else format_timestamp(at)


def show_tenant(row: operator_views.TenantRow) -> OpsTenant:
    created = format_timestamp(row.created_at)
    return OpsTenant(row.name, row.is_regulated, created, row.clients, row.users, row.description or UNSET)


def show_client(row: operator_views.ClientRow) -> OpsClient:
    return OpsClient(
        tenant=row.tenant_name,
        name=row.name,
        username=f"{row.tenant_name}/{row.name}",
        kind=row.kind.value,
        grantedScopes=list(row.granted_scopes),
        createdAt=format_timestamp(row.created_at),
        description=row.description or UNSET,
    )


def show_user(row: operator_views.UserRow) -> OpsUser:
    created = format_timestamp(row.created_at)
    return OpsUser(row.tenant_name, row.id, row.username, row.is_active, created, row.accesses, row.pseudonym)


def show_access(row: operator_views.AccessRow, provider: str | None) -> OpsAccess:
    outcome: OpsOutcome | Maybe = UNSET
    if row.last_state is not None and row.last_at is not None:
        at = format_timestamp(row.last_at)
        outcome = OpsOutcome(row.last_state, at, row.last_failure or UNSET)  # type: ignore[arg-type]
    return OpsAccess(
        tenant=row.tenant_name,
        userReference=row.user_id,
        id=row.id,
        providerId=row.provider_id,
        provider=provider or UNSET,
        status=row.status,  # type: ignore[arg-type]
        sync=row.is_synced,
        createdAt=format_timestamp(row.created_at),
        updatedAt=format_timestamp(row.updated_at),
        consentUntil=UNSET if row.consent_until is None else row.consent_until.isoformat(),
        refresh=row.refresh.value,
        failing=row.is_failing,
        pause=row.pause or UNSET,  # type: ignore[arg-type]
        nextRefreshAt=show_time(row.next_refresh_at),
        lastOutcome=outcome,
        operatorPausedAt=show_time(row.operator_paused_at),
    )


def show_access_summary(figures: AccessFigures) -> OpsAccessSummary:
    return OpsAccessSummary(figures.total, figures.by_status, figures.temporary, show_paused(figures.paused))


def show_paused(paused: dict[str, int]) -> dict[str, int]:
    return {"SCA": 0, "CREDENTIALS": 0} | paused


def show_refresh(row: operator_views.RefreshRow, provider: str | None) -> OpsRefresh:
    return OpsRefresh(
        tenant=row.tenant_name,
        userReference=row.user_id,
        access=row.access_id,
        providerId=row.provider_id,
        provider=provider or UNSET,
        state=row.state,  # type: ignore[arg-type]
        dueAt=show_time(row.due_at),
        slot=show_time(row.slot_at),
        startedAt=show_time(row.started_at),
        finishedAt=show_time(row.finished_at),
        failure=row.failure or UNSET,
        attempts=UNSET if row.attempts is None else row.attempts,
        attended=UNSET if row.is_attended is None else row.is_attended,
        pause=row.pause or UNSET,  # type: ignore[arg-type]
    )


def show_refresh_summary(figures: RefreshFigures) -> OpsRefreshSummary:
    counts, outcomes = figures.counts, figures.outcomes
    return OpsRefreshSummary(
        at=format_timestamp(figures.at),
        due=counts.due,
        late=counts.late,
        running=counts.running,
        failing=counts.failing,
        paused=show_paused(counts.paused),
        lastDay=OpsOutcomes(
            *(outcomes.get(outcome, 0) for outcome in ("DONE", "FAILED", "INTERRUPTED", "SKIPPED", "WAITING"))
        ),
        oldestDueAt=show_time(counts.oldest_due_at),
    )


def show_provider(row: operator_views.ProviderRow, name: str | None) -> OpsProvider:
    outage: OpsOutage | Maybe = UNSET
    if row.next_try_at is not None:
        outage = OpsOutage(row.failures, format_timestamp(row.next_try_at), show_time(row.down_since))
    return OpsProvider(
        id=row.provider_id,
        name=name or UNSET,
        fetches=row.fetches,
        successRate=round(row.successes / row.fetches, 4) if row.fetches else UNSET,
        meanDurationSeconds=UNSET if row.mean_seconds is None else round(row.mean_seconds, 3),
        lastSuccess=show_time(row.last_success_at),
        refusedLogins=row.refused or UNSET,
        outage=outage,
    )


def show_webhook(tenant: str, webhook: Webhook) -> OpsWebhook:
    return OpsWebhook(
        tenant=tenant,
        id=webhook.id,
        url=webhook.url,
        events=list(webhook.events),
        active=webhook.is_active,
        lastSerial=webhook.last_serial,
        createdAt=format_timestamp(webhook.created_at),
        description=webhook.description or UNSET,
        gone=webhook.is_gone or UNSET,
    )


def show_jobs(job_count: operator_views.JobCount) -> OpsJobs:
    return OpsJobs(job_count.entrypoint, job_count.status, job_count.count, format_timestamp(job_count.oldest_at))


def show_worker(worker: operator_views.Worker) -> OpsWorker:
    started, seen = format_timestamp(worker.started_at), format_timestamp(worker.seen_at)
    return OpsWorker(worker.id, worker.host, worker.pid, worker.version, started, seen, worker.is_alive)


def show_audit_entry(chained_entry: ChainedEntry) -> OpsAuditEntry:
    return OpsAuditEntry(
        serial=chained_entry.serial,
        at=format_timestamp(chained_entry.at),
        actor=chained_entry.entry.actor,
        action=chained_entry.entry.action,
        object=chained_entry.entry.object,
        result=chained_entry.entry.result.value,
        correlationId=chained_entry.entry.correlation_id,
        hash=chained_entry.hash.hex(),
    )


def show_verification(verification: Verification) -> OpsVerification:
    chains = [
        OpsChain(finding.chain, finding.entries, finding.problem is None, tenant or UNSET, finding.problem or UNSET)
        for tenant, finding in verification.findings
    ]
    return OpsVerification(format_timestamp(verification.at), verification.is_whole, chains)


def show_health(checks: list[Check]) -> OpsHealth:
    return OpsHealth(
        all(check.is_well for check in checks), [OpsCheck(check.name, check.is_well, check.detail) for check in checks]
    )
