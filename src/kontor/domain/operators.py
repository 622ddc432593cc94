"""Operators, who look after a Kontor, and what whoever looks may see."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

# A refresh that nobody began so long after its time is late.
LATE = timedelta(minutes=15)
# A worker tells every few seconds that it lives; one that has not for so long is dead.
WORKER_SILENCE = timedelta(seconds=20)
# How far back an outcome counts.
RECENT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Operator:
    """The bearer of an operator's token, which is made on the command line."""

    id: UUID
    name: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks: an operator sees every tenant (`tenant_id` is None), a tenant's client its own."""

    actor: str
    tenant_id: UUID | None = None
    tenant_name: str | None = None


class RefreshState(StrEnum):
    """What can be listed. What is late is due as well."""

    DUE = "due"
    LATE = "late"
    RUNNING = "running"
    FAILING = "failing"
    PAUSED = "paused"


class AccessRefresh(StrEnum):
    """Where one access stands, in one word."""

    RUNNING = "running"
    PAUSED = "paused"
    LATE = "late"
    DUE = "due"
    SCHEDULED = "scheduled"
    OFF = "off"
