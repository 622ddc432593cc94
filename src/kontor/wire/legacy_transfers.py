"""Transfer (Ueberweisung) in its legacy form: ordered with the TAN method, released with a TAN."""

from datetime import date
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.dialogues import Secrets
from kontor.domain.order_checks import OrderFields
from kontor.domain.payments import Order, Payment, PaymentFailure, PaymentKind, PaymentState
from kontor.domain.sca_machine import MAX_WRONG_TANS, ScaState
from kontor.wire.consents import WRONG_TAN, ChallengeContent, show_challenge
from kontor.wire.encoding import format_timestamp
from kontor.wire.errors import Message
from kontor.wire.payment_messages import ACCEPTED, EXECUTED, UNKNOWN, show_failure, show_warnings
from kontor.wire.payments import Credentials, JsonNumber, Text, read_amount
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

FIELDS = OrderFields(
    recipient="empfaenger",
    purpose="verwendungszweck",
    amount="betrag",
    currency="waehrung",
    execution_date="ausfuehrungsdatum",
    place="",
)
TAN_NEEDED = Message("INFO", "BA1110", "Bitte geben Sie die TAN ein, um die Überweisung auszuführen.")


class Ueberweisung(msgspec.Struct):
    credentials: Credentials
    empfaenger: Text
    verwendungszweck: Text
    iban: Text
    bic: Text
    waehrung: Annotated[Text, Meta(description="ISO 4217", examples=["EUR"])]
    betrag: JsonNumber
    sicherheitsverfahrenKodierung: Annotated[str, Meta(max_length=64)]  # noqa: N815
    ausfuehrungsdatum: date | None = None
    tanMediumName: Annotated[str, Meta(max_length=256)] | None = None  # noqa: N815

    def to_order(self) -> Order:
        return Order(
            recipient=self.empfaenger,
            iban=self.iban,
            amount=read_amount(self.betrag, "betrag"),
            currency=self.waehrung,
            purpose=self.verwendungszweck,
            bic=self.bic,
        )


class TanSubmission(msgspec.Struct):
    tan: Annotated[str, Meta(max_length=256)]


class LegacyChallenge(msgspec.Struct):
    name: str
    content: ChallengeContent


class LegacyTransferStatus(msgspec.Struct):
    messages: list[Message]
    relations: list[Relation]
    timeout: Timestamp | UnsetType = UNSET
    challenge: LegacyChallenge | UnsetType = UNSET
    hinweis: str | UnsetType = UNSET


def show_legacy_transfer(payment: Payment, secrets: Secrets, urls: Urls) -> LegacyTransferStatus:
    if payment.state.is_under_way and payment.fence is None and payment.dialogue.position.state is ScaState.TAN:
        return _show_open(payment, secrets, urls)
    match payment.state:
        case PaymentState.EXECUTED:
            return LegacyTransferStatus([EXECUTED], [])
        case PaymentState.ACCEPTED:
            return LegacyTransferStatus([ACCEPTED], [])
        case PaymentState.FAILED:
            is_late = payment.failure is PaymentFailure.EXPIRED
            return LegacyTransferStatus([WRONG_TAN if is_late else show_failure(payment)], [])
    read = Relation("get_single_transfer", urls.transfer(payment.id, PaymentKind.LEGACY))
    is_known = payment.state is PaymentState.OPEN  # at the bank at this very moment, and nothing was sent
    return LegacyTransferStatus([] if is_known else [UNKNOWN], [read])


def _show_open(payment: Payment, secrets: Secrets, urls: Urls) -> LegacyTransferStatus:
    assert payment.provider_id is not None
    assert payment.product_id is not None
    dialogue, challenge = payment.dialogue, secrets.challenge
    hint = "Bitte geben Sie die TAN ein." if challenge is None else challenge.instructions
    messages = [TAN_NEEDED]
    if dialogue.warnings:
        warning = show_warnings(dialogue.warnings)
        messages.insert(0, warning)
        hint = f"{warning.message} {warning.details}. {hint}"
    if dialogue.is_last_tan_wrong:
        left = MAX_WRONG_TANS - dialogue.position.wrong_tans
        messages.insert(0, WRONG_TAN)
        hint = f"Die TAN war nicht richtig. Sie haben noch {left} {'Versuch' if left == 1 else 'Versuche'}. {hint}"
    href = urls.legacy_transfer(payment.provider_id, payment.product_id, payment.id)
    status = LegacyTransferStatus(
        messages, [Relation("submit_text_tan", href)], timeout=format_timestamp(payment.expires_at), hinweis=hint
    )
    if challenge is not None and (challenge.hhd or challenge.hhd_uc or challenge.photo is not None):
        shown = show_challenge(challenge, ScaState.TAN)
        status.challenge = LegacyChallenge(shown.name, shown.content)
    return status
