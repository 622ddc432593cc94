"""What the pages of strong customer authentication show, whether it is about an access or about a payment."""

from dataclasses import dataclass
from datetime import datetime

from kontor.domain.dialogues import Dialogue
from kontor.domain.payments import PaymentDialogue
from kontor.domain.sca import Challenge, ScaMedium, ScaMethod
from kontor.domain.sca_machine import Position
from kontor.services.redirects import FormView


@dataclass(frozen=True, slots=True)
class Authorisation:
    position: Position
    expires_at: datetime
    methods: tuple[ScaMethod, ...]
    media: tuple[ScaMedium, ...]
    medium: str | None
    redirect_url: str | None
    is_last_tan_wrong: bool
    challenge: Challenge | None


def find_authorisation(view: FormView) -> Authorisation | None:
    """None where nothing has been begun at the bank."""
    if view.consent is not None:
        dialogue = view.consent.dialogue
        return _make(dialogue, view.consent.secrets.challenge, dialogue.expires_at)
    if view.payment is not None and view.payment.payment.state.is_under_way:
        payment = view.payment.payment
        # A form is over before its payment is.
        expires_at = min(payment.expires_at, view.session.expires_at)
        return _make(payment.dialogue, view.payment.secrets.challenge, expires_at)
    return None


def _make(dialogue: Dialogue | PaymentDialogue, challenge: Challenge | None, expires_at: datetime) -> Authorisation:
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
