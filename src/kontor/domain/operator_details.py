"""What an operator sees of one access and of one job: why it is in its state, and what was tried."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from kontor.domain.operator_views import AccessRow
from kontor.domain.operators import AccessRefresh


class AccessReason(StrEnum):
    """Why an access is in its state, in one word."""

    RUNNING = "RUNNING"
    USER_INACTIVE = "USER_INACTIVE"
    PAUSED_BY_OPERATOR = "PAUSED_BY_OPERATOR"
    LOGIN_REFUSED = "LOGIN_REFUSED"
    SCA_REQUIRED = "SCA_REQUIRED"
    NOT_REFRESHED = "NOT_REFRESHED"
    PROVIDER_DOWN = "PROVIDER_DOWN"
    BUDGET_USED = "BUDGET_USED"
    NO_WORKER_BEGAN = "NO_WORKER_BEGAN"
    LAST_FETCH_FAILED = "LAST_FETCH_FAILED"
    WAITING = "WAITING"


@dataclass(frozen=True, slots=True)
class FetchAttempt:
    """A fetch, or a slot that was skipped: then `failure` says why."""

    state: str
    requested_at: datetime
    slot_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    failure: str | None
    attempts: int
    is_attended: bool


@dataclass(frozen=True, slots=True)
class AccessOwner:
    """What decides about an access beside its own row. `pseudonym` names the user in the audit trail."""

    tenant_id: UUID
    pseudonym: UUID
    is_active: bool
    has_credentials: bool
    lease_key: bytes | None
    provider_down_since: datetime | None


@dataclass(frozen=True, slots=True)
class AccessDetail:
    """`calls` are those without the customer that count for the budget; `free_at` when it is used up."""

    row: AccessRow
    owner: AccessOwner
    attempts: list[FetchAttempt]
    calls: int
    free_at: datetime | None

    @property
    def reason(self) -> AccessReason:
        row, owner = self.row, self.owner
        if row.refresh is AccessRefresh.RUNNING:
            return AccessReason.RUNNING
        if not owner.is_active:
            return AccessReason.USER_INACTIVE
        if row.operator_paused_at is not None:
            return AccessReason.PAUSED_BY_OPERATOR
        if row.pause is not None:
            return AccessReason.LOGIN_REFUSED if row.pause == "CREDENTIALS" else AccessReason.SCA_REQUIRED
        if not (row.is_synced and owner.has_credentials):
            return AccessReason.NOT_REFRESHED
        if owner.provider_down_since is not None:
            return AccessReason.PROVIDER_DOWN
        if self.free_at is not None:
            return AccessReason.BUDGET_USED
        if row.refresh is AccessRefresh.LATE:
            return AccessReason.NO_WORKER_BEGAN
        return AccessReason.LAST_FETCH_FAILED if row.is_failing else AccessReason.WAITING


@dataclass(frozen=True, slots=True)
class JobEvent:
    """What the queue wrote down about a job; `error` is the kind of exception."""

    at: datetime
    status: str
    error: str | None


@dataclass(frozen=True, slots=True)
class JobDetail:
    id: int
    entrypoint: str
    status: str
    subject: bytes | None
    attempts: int
    created_at: datetime
    updated_at: datetime
    due_at: datetime
    events: list[JobEvent]
