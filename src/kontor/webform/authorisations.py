"""What the pages of strong customer authentication show, whether it is about an access or about a payment."""

from dataclasses import dataclass
from datetime import datetime

from kontor.domain.dialogues import Dialogue
from kontor.domain.payments import PaymentDialogue
from kontor.domain.sca import Challenge, ScaMedium, ScaMethod
from kontor.domain.sca_machine import ScaPosition


@dataclass(frozen=True, slots=True)
class Authorisation:
    position: ScaPosition
    expires_at: datetime
    methods: tuple[ScaMethod, ...]
    media: tuple[ScaMedium, ...]
    medium: str | None
    redirect_url: str | None
    is_last_tan_wrong: bool
    challenge: Challenge | None


def make_authorisation(
    dialogue: Dialogue | PaymentDialogue, challenge: Challenge | None, expires_at: datetime
) -> Authorisation:
    return Authorisation(
        position=dialogue.position,
        expires_at=expires_at,
        methods=dialogue.methods,
        media=dialogue.media,
        medium=dialogue.chosen_medium,
        redirect_url=dialogue.redirect_url,
        is_last_tan_wrong=dialogue.is_last_tan_wrong,
        challenge=challenge,
    )
