"""Web Push: browsers in which users are told of alerts (ADR 0068)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kontor.domain.alerts import AlertKind

MAX_SUBSCRIPTIONS = 20  # of a user
POINT_BYTES = 65  # an uncompressed point of P-256
AUTH_BYTES = 16


@dataclass(frozen=True, slots=True)
class PushKeys:
    """The browser's public key, and the secret that it shares with us."""

    public: bytes
    auth: bytes


@dataclass(frozen=True, slots=True)
class PushSubscription:
    """`kinds` None: alerts of every kind."""

    id: UUID
    endpoint: str
    keys: PushKeys
    kinds: tuple[AlertKind, ...] | None
    created_at: datetime
