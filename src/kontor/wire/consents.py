"""Consent status: where the SCA of an access stands, and the answers a caller may give."""

import base64
import re
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.accesses import History
from kontor.domain.dialogues import Dialogue
from kontor.domain.payments import PaymentDialogue
from kontor.domain.sca import Challenge as DomainChallenge
from kontor.domain.sca import ScaMethod as DomainMethod
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.services.sca import ConsentView
from kontor.wire.accesses import MEDIUM_CLASSES, MediumWord
from kontor.wire.errors import Level, Message
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls

MAX_TRANSACTIONS = {"none": History.RECENT, "all": History.ALL, "paymentAccounts": History.PAYMENT_ACCOUNTS}
MaxTransactions = Annotated[Literal["none", "all", "paymentAccounts"], Meta(title="MaxTransactions")]

# What each state says, and which relations it offers.
STATES: dict[ScaState, tuple[Level, str, str, tuple[str, ...]]] = {
    ScaState.METHOD: ("INFO", "BA3010", "Bitte wählen Sie ein Sicherheitsverfahren.", ("set_method", "cancel")),
    ScaState.MEDIUM: ("INFO", "BA3020", "Bitte wählen Sie ein TAN-Medium.", ("set_medium", "cancel")),
    ScaState.TAN: ("INFO", "BA3030", "Bitte geben Sie die TAN ein.", ("authenticate", "cancel")),
    ScaState.CONFIRMATION: (
        "INFO",
        "BA3030",
        "Bitte bestätigen Sie die Freigabe in Ihrer App.",
        ("authenticate", "poll", "cancel"),
    ),
    ScaState.REDIRECT: (
        "INFO",
        "BA3005",
        "Bitte bestätigen Sie die Freigabe auf der Seite Ihrer Bank.",
        ("redirect_url", "authenticate", "cancel"),
    ),
    ScaState.GIVEN: ("INFO", "BA3050", "Die Freigabe wurde erteilt.", ("get_bankzugang",)),
    ScaState.FAILED: ("ERROR", "BA3040", "Die Freigabe ist fehlgeschlagen oder wurde abgebrochen.", ()),
    ScaState.NO_METHOD: ("ERROR", "BA3060", "Ihre Bank bietet kein unterstütztes Sicherheitsverfahren an.", ()),
}
WRONG_TAN = Message("ERROR", "BA1103", "Die TAN ist ungültig oder nicht mehr gültig.")


class ScaMethod(msgspec.Struct):
    code: int
    name: str
    hint: str


class ScaMedium(msgspec.Struct):
    name: str
    mediaClass: MediumWord  # noqa: N815


class ChallengeContent(msgspec.Struct):
    instructions: str
    HHD: str | UnsetType = UNSET
    HHDUC: str | UnsetType = UNSET
    photo: Annotated[str, Meta(description="Base64 image")] | UnsetType = UNSET


class Challenge(msgspec.Struct):
    name: str
    content: ChallengeContent
    decoupled: bool
    redirect: bool


class ConsentStatus(msgspec.Struct):
    messages: list[Message]
    relations: list[Relation]
    scaMethods: list[ScaMethod] | UnsetType = UNSET  # noqa: N815
    scaMediums: list[ScaMedium] | UnsetType = UNSET  # noqa: N815
    challenge: Challenge | UnsetType = UNSET


class ScaAnswer(msgspec.Struct):
    """One of the three; an empty object says "confirmed in my app"."""

    chosenScaMethodId: str | int | None = None  # noqa: N815
    chosenScaMedia: Annotated[str, Meta(max_length=256)] | None = None  # noqa: N815
    scaAuthenticationData: (  # noqa: N815
        Annotated[str, Meta(max_length=4096, description="TAN, or the query string a bank's redirect returned")] | None
    ) = None

    def read(self, dialogue: Dialogue | PaymentDialogue) -> tuple[AnswerKind, str]:
        """What was answered. What authentication data means follows from the open step."""
        if self.chosenScaMethodId is not None:
            return AnswerKind.METHOD, _find_code(str(self.chosenScaMethodId), dialogue.methods)
        if self.chosenScaMedia is not None:
            return AnswerKind.MEDIUM, self.chosenScaMedia
        if self.scaAuthenticationData is not None:
            kind = AnswerKind.RETURNED if dialogue.position.state is ScaState.REDIRECT else AnswerKind.TAN
            return kind, self.scaAuthenticationData
        return AnswerKind.CONFIRMED, ""

    def count_given(self) -> int:
        given = (self.chosenScaMethodId, self.chosenScaMedia, self.scaAuthenticationData)
        return sum(value is not None for value in given)


def show_sca_methods(methods: Sequence[DomainMethod]) -> list[ScaMethod]:
    """The wire wants a number: the bank's key where it is one, else the method's place in the list."""
    return [
        ScaMethod(_number(method, place), method.name, method.hint or "") for place, method in enumerate(methods, 1)
    ]


def _number(method: DomainMethod, place: int) -> int:
    return int(method.code) if re.fullmatch(r"[1-9][0-9]{0,8}", method.code) else place


def _find_code(given: str, methods: Sequence[DomainMethod]) -> str:
    """The bank's key for what was given: that key itself, or the number it is shown under."""
    if given in [method.code for method in methods]:
        return given
    shown = {str(_number(method, place)): method.code for place, method in enumerate(methods, 1)}
    return shown.get(given, given)


def show_challenge(challenge: DomainChallenge, state: ScaState) -> Challenge:
    content = ChallengeContent(
        challenge.instructions,
        HHD=challenge.hhd or UNSET,
        HHDUC=challenge.hhd_uc or UNSET,
        photo=UNSET if challenge.photo is None else base64.b64encode(challenge.photo).decode(),
    )
    return Challenge(
        challenge.method_name,
        content,
        decoupled=state is ScaState.CONFIRMATION,
        redirect=state is ScaState.REDIRECT,
    )


def show_consent(view: ConsentView, urls: Urls) -> ConsentStatus:
    dialogue, state = view.dialogue, view.dialogue.position.state
    level, code, text, next_steps = STATES[state]
    messages = [Message(level, code, text)]
    if dialogue.is_last_tan_wrong:
        messages.insert(0, WRONG_TAN)
    status = ConsentStatus(
        messages, urls.consent_relations(dialogue.id, dialogue.access_id, next_steps, dialogue.redirect_url)
    )
    if state is ScaState.METHOD:
        status.scaMethods = show_sca_methods(dialogue.methods)
    if state is ScaState.MEDIUM:
        status.scaMediums = [ScaMedium(medium.name, MEDIUM_CLASSES[medium.medium_class]) for medium in dialogue.media]
    if state in (ScaState.TAN, ScaState.CONFIRMATION) and view.secrets.challenge is not None:
        status.challenge = show_challenge(view.secrets.challenge, state)
    return status
