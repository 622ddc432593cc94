"""Evidence of a verification of payees, and the text about it that a caller gets."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.languages import DEFAULT_LANGUAGE
from kontor.domain.payments import PayeeEvidence, Payment
from kontor.wire.encoding import format_timestamp
from kontor.wire.errors import Message
from kontor.wire.payment_messages import show_payees, show_warnings
from kontor.wire.payments import MATCHES
from kontor.wire.products import present
from kontor.wire.tokens import Timestamp
from kontor.wire.translations import load_texts

CHOICES = Annotated[Literal["CONFIRMED", "CANCELLED", "NONE"], Meta(title="PayeeChoice")]


class EvidenceVerdict(msgspec.Struct):
    """Of a payment with several orders the worst verdict."""

    result: MATCHES
    at: Timestamp
    suggestedName: str | UnsetType = UNSET  # noqa: N815


class Evidence(msgspec.Struct):
    """What is kept about the verification of a payment's payees."""

    verification: EvidenceVerdict
    shownText: Annotated[str, Meta(description="empty where Kontor has shown nothing")]  # noqa: N815
    language: Annotated[str, Meta(description="of the text", examples=["de"])]
    choice: CHOICES
    paymentId: UUID  # noqa: N815
    choiceAt: Timestamp | UnsetType = UNSET  # noqa: N815


def show_evidence(payment_id: UUID, evidence: PayeeEvidence) -> Evidence:
    worst = evidence.worst
    verdict = EvidenceVerdict(
        result=worst.match.value,
        at=format_timestamp(evidence.verified_at),
        suggestedName=present(worst.suggested_name),
    )
    return Evidence(
        verification=verdict,
        shownText=evidence.shown_text,
        language=evidence.language,
        choice=evidence.choice.value,
        paymentId=payment_id,
        choiceAt=UNSET if evidence.chosen_at is None else format_timestamp(evidence.chosen_at),
    )


def write_shown_text(payment: Payment, language: str) -> str:
    """The messages about the payees with their details, as the status has had them in this language."""
    dialogue = payment.dialogue
    texts = [write_message(show_warnings(dialogue.warnings), language)] if dialogue.warnings else []
    if dialogue.is_payee_open and not dialogue.is_warning_open:
        texts.append(write_message(show_payees(dialogue.payees), language))
    return "\n".join(texts)


def write_message(message: Message, language: str) -> str:
    text = message.message
    if language != DEFAULT_LANGUAGE:
        text = load_texts(language).get(text, text)
    return text if message.details is UNSET else f"{text}\n{message.details}"
