"""What a connector's step means for a dialogue with the user. Without I/O."""

from dataclasses import replace
from typing import TypeVar

from kontor.connectors.base import (
    AcceptPayees,
    Answer,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Done,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Poll,
    Progress,
    Returned,
    Step,
    Tan,
)
from kontor.domain.accesses import Access
from kontor.domain.dialogues import Dialogue, Secrets
from kontor.domain.payments import PaymentDialogue
from kontor.domain.sca_machine import AnswerKind, Reaction
from kontor.domain.secrets import Secret

AnyDialogue = TypeVar("AnyDialogue", Dialogue, PaymentDialogue)


def make_answer(kind: AnswerKind, value: str) -> Answer:
    """The answer of a kind with what the user typed or chose."""
    match kind:
        case AnswerKind.METHOD:
            return ChooseMethod(value)
        case AnswerKind.MEDIUM:
            return ChooseMedium(value)
        case AnswerKind.TAN:
            return Tan(Secret(value))
        case AnswerKind.CONFIRMED:
            return Poll()
        case AnswerKind.RETURNED:
            return Returned(value)
        case AnswerKind.CANCEL:
            return Cancel()


def choose_alone(
    step: Step,
    dialogue: Dialogue | PaymentDialogue,
    access: Access | None,
    *,
    asks_settings: bool,
    uses_last: bool = True,
    wanted_method: str | None = None,
    wanted_medium: str | None = None,
) -> ChooseMethod | ChooseMedium | None:
    """A wanted method or medium, a single one, or the one used last time, is chosen without asking.

    Once per dialogue: a bank that asks again has its reasons, and the user is to see them. With `asks_settings` the
    user is to choose whatever nobody has named.
    """
    known = access if access is not None and access.consent_until is not None and uses_last else None
    if isinstance(step, NeedMethod) and dialogue.chosen_method is None:
        last = known.active_method.code if known is not None and known.active_method is not None else None
        code = _choose([method.code for method in step.methods], wanted_method, last, asks_settings)
        return None if code is None else ChooseMethod(code)
    if isinstance(step, NeedMedium) and dialogue.chosen_medium is None:
        last = None if known is None else known.active_medium
        name = _choose([medium.name for medium in step.media], wanted_medium, last, asks_settings)
        return None if name is None else ChooseMedium(name)
    return None


def _choose(offered: list[str], wanted: str | None, last: str | None, asks_settings: bool) -> str | None:
    if wanted is not None:
        return wanted if wanted in offered else None
    if asks_settings:
        return None
    if len(offered) == 1:
        return offered[0]
    return last if last in offered else None


def find_unoffered(dialogue: Dialogue | PaymentDialogue, answer: Answer) -> tuple[str, str] | None:
    """What is wrong with a choice, and in which field: the bank has not offered it."""
    if isinstance(answer, ChooseMethod) and answer.code not in [method.code for method in dialogue.methods]:
        return "is not one of the offered methods", "chosenScaMethodId"
    if isinstance(answer, ChooseMedium) and answer.name not in [medium.name for medium in dialogue.media]:
        return "is not one of the offered media", "chosenScaMedia"
    return None


def note_choice(dialogue: AnyDialogue, answer: Answer) -> AnyDialogue:
    if isinstance(answer, ChooseMethod):
        chosen = next(method for method in dialogue.methods if method.code == answer.code)
        return replace(dialogue, chosen_method=chosen)
    if isinstance(answer, ChooseMedium):
        return replace(dialogue, chosen_medium=answer.name)
    if isinstance(answer, AcceptPayees) and isinstance(dialogue, PaymentDialogue):
        return replace(dialogue, is_payee_open=False)
    return dialogue


def describe(dialogue: AnyDialogue, step: Step) -> AnyDialogue:
    """What the step offers, kept with the dialogue for whoever reads it."""
    match step:
        case NeedMethod(methods=methods):
            return replace(dialogue, methods=methods)
        case NeedMedium(media=media):
            return replace(dialogue, media=media)
        case NeedRedirect(url=url):
            return replace(dialogue, redirect_url=url)
    return dialogue


def classify(step: Step) -> Reaction:
    match step:
        case NeedMethod(methods=methods):
            return Reaction.ASKS_METHOD if methods else Reaction.NO_METHOD
        case NeedMedium():
            return Reaction.ASKS_MEDIUM
        case NeedTan():
            return Reaction.ASKS_TAN
        case NeedConfirmation():
            return Reaction.ASKS_CONFIRMATION
        case NeedRedirect():
            return Reaction.ASKS_REDIRECT
        case Progress() | Done():
            return Reaction.ACCEPTED
        case Failed(kind=FailureKind.WRONG_TAN):
            return Reaction.WRONG_TAN
        case Failed(kind=FailureKind.NO_SUPPORTED_METHOD):
            return Reaction.NO_METHOD
    return Reaction.REFUSED


def secrets_of(step: Step) -> Secrets | None:
    match step:
        case NeedTan(challenge=challenge, state=state) | NeedConfirmation(challenge=challenge, state=state):
            return Secrets(state, challenge)
        case NeedMethod(state=state) | NeedMedium(state=state) | NeedRedirect(state=state):
            return Secrets(state)
    return None


def keep_open_secrets(before: Secrets | None, step: Step) -> Secrets:
    """What stays sealed after a step that asks nothing new: the same challenge, where the bank may have counted on."""
    kept = before or Secrets()
    return replace(kept, state=step.state) if isinstance(step, Failed) and step.state is not None else kept
