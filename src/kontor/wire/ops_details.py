"""One access and one job, as an operator sees them."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta

from kontor.domain.operator_details import AccessDetail, AccessReason, FetchAttempt, JobDetail
from kontor.domain.operator_views import HeldJob
from kontor.domain.refreshes import BUDGET_CALLS
from kontor.wire.encoding import format_timestamp
from kontor.wire.ops import Count, Maybe, OpsAccess, show_access, show_time
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

FetchState = Annotated[
    Literal["QUEUED", "RUNNING", "WAITING", "DONE", "FAILED", "INTERRUPTED", "SKIPPED"], Meta(title="OpsFetchState")
]
Reason = Annotated[AccessReason, Meta(description="why it is in its state")]


class OpsAttempt(msgspec.Struct):
    """A fetch, or a slot of background refresh in which the bank was not called (`SKIPPED`)."""

    state: FetchState
    requestedAt: Timestamp  # noqa: N815
    attended: bool
    attempts: Count
    slot: Timestamp | Maybe = UNSET
    startedAt: Timestamp | Maybe = UNSET  # noqa: N815
    finishedAt: Timestamp | Maybe = UNSET  # noqa: N815
    failure: Annotated[str, Meta(description="kind of the failure, or why it was skipped")] | Maybe = UNSET


class OpsBudget(msgspec.Struct):
    """Calls of the bank without the customer, in 24 hours."""

    used: Count
    limit: Count
    freeAt: Annotated[Timestamp, Meta(description="where it is used up")] | Maybe = UNSET  # noqa: N815


class OpsAccessDetail(OpsAccess, kw_only=True):
    reason: Reason
    attempts: Annotated[list[OpsAttempt], Meta(description="the last 20, newest first")]
    budget: OpsBudget
    relations: list[Relation]
    providerDownSince: Timestamp | Maybe = UNSET  # noqa: N815


class OpsHeldJob(msgspec.Struct):
    id: int
    entrypoint: str
    attempts: Count
    createdAt: Timestamp  # noqa: N815
    failedAt: Timestamp  # noqa: N815
    subject: Annotated[UUID, Meta(description="the id that the job carries")] | Maybe = UNSET
    error: Annotated[str, Meta(description="kind of the error; the log says more")] | Maybe = UNSET


class OpsJobEvent(msgspec.Struct):
    at: Timestamp
    status: str
    error: Annotated[str, Meta(description="kind of the error; the log says more")] | Maybe = UNSET


class OpsJob(msgspec.Struct):
    id: int
    entrypoint: Annotated[str, Meta(examples=["fetch"])]
    status: Annotated[str, Meta(description="failed means held: nobody tries it again", examples=["queued"])]
    attempts: Count
    createdAt: Timestamp  # noqa: N815
    updatedAt: Timestamp  # noqa: N815
    dueAt: Annotated[Timestamp, Meta(description="not before then is it run")]  # noqa: N815
    events: Annotated[list[OpsJobEvent], Meta(description="the last 20, newest first")]
    relations: list[Relation]
    subject: Annotated[UUID, Meta(description="the id that the job carries")] | Maybe = UNSET


def show_access_detail(detail: AccessDetail, provider: str | None, urls: Urls) -> OpsAccessDetail:
    row = detail.row
    shown = show_access(row, provider)
    known = {name: getattr(shown, name) for name in OpsAccess.__struct_fields__}
    return OpsAccessDetail(
        **known,
        reason=detail.reason,
        attempts=[_show_attempt(attempt) for attempt in detail.attempts],
        budget=OpsBudget(detail.calls, BUDGET_CALLS, show_time(detail.free_at)),
        providerDownSince=show_time(detail.owner.provider_down_since),
        relations=urls.ops_access_relations(row.user_id, row.id, is_paused=row.operator_paused_at is not None),
    )


def _show_attempt(attempt: FetchAttempt) -> OpsAttempt:
    return OpsAttempt(
        state=attempt.state,  # type: ignore[arg-type]
        requestedAt=format_timestamp(attempt.requested_at),
        attended=attempt.is_attended,
        attempts=attempt.attempts,
        slot=show_time(attempt.slot_at),
        startedAt=show_time(attempt.started_at),
        finishedAt=show_time(attempt.finished_at),
        failure=attempt.failure or UNSET,
    )


def show_job(job: JobDetail, urls: Urls) -> OpsJob:
    has_id = job.subject is not None and len(job.subject) == 16
    return OpsJob(
        id=job.id,
        entrypoint=job.entrypoint,
        status=job.status,
        attempts=job.attempts,
        createdAt=format_timestamp(job.created_at),
        updatedAt=format_timestamp(job.updated_at),
        dueAt=format_timestamp(job.due_at),
        events=[OpsJobEvent(format_timestamp(event.at), event.status, event.error or UNSET) for event in job.events],
        relations=urls.ops_job_relations(job.id, is_held=job.status == "failed"),
        subject=UUID(bytes=job.subject) if has_id else UNSET,
    )


def show_held_job(held_job: HeldJob) -> OpsHeldJob:
    has_id = held_job.subject is not None and len(held_job.subject) == 16
    return OpsHeldJob(
        id=held_job.id,
        entrypoint=held_job.entrypoint,
        attempts=held_job.attempts,
        createdAt=format_timestamp(held_job.created_at),
        failedAt=format_timestamp(held_job.failed_at),
        subject=UUID(bytes=held_job.subject) if has_id else UNSET,
        error=held_job.error or UNSET,
    )
