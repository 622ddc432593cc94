"""A dialogue between a user and a bank about consent, as it is kept between two steps."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from kontor.domain.accesses import History
from kontor.domain.sca import Challenge, ScaMedium, ScaMethod
from kontor.domain.sca_machine import ScaPosition


@dataclass(frozen=True, slots=True)
class Dialogue:
    id: UUID
    user_id: UUID
    access_id: str
    position: ScaPosition
    is_renewal: bool
    asks_settings: bool
    history: History
    lease_key: bytes
    expires_at: datetime
    customer_ip: str | None = None
    callback_url: str | None = None
    methods: tuple[ScaMethod, ...] = ()
    media: tuple[ScaMedium, ...] = ()
    chosen_method: ScaMethod | None = None
    chosen_medium: str | None = None
    redirect_url: str | None = None
    is_last_tan_wrong: bool = False


@dataclass(frozen=True, slots=True)
class Secrets:
    """What is sealed with a dialogue: the connector's state, and what the user is shown."""

    state: dict[str, Any] = field(default_factory=dict)
    challenge: Challenge | None = None
