"""What a connector's step means for a dialogue with the user. Without I/O."""

from dataclasses import replace

from kontor.connectors.base import (
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
from kontor.domain.sca_machine import AnswerKind, Reaction
from kontor.domain.secrets import Secret


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


def choose_alone(step: Step, dialogue: Dialogue, access: Access) -> ChooseMethod | ChooseMedium | None:
    """A single method or medium, or the one used last time, is chosen without asking, unless asked not to.

    Once per dialogue: a bank that asks again has its reasons, and the user is to see them.
    """
    if dialogue.asks_settings:
        return None
    has_last = access.consent_until is not None
    if isinstance(step, NeedMethod) and dialogue.chosen_method is None:
        codes = [one.code for one in step.methods]
        last = access.active_method.code if has_last and access.active_method else None
        if len(codes) == 1 or last in codes:
            return ChooseMethod(codes[0] if len(codes) == 1 else str(last))
    if isinstance(step, NeedMedium) and dialogue.chosen_medium is None:
        names = [one.name for one in step.media]
        last = access.active_medium if has_last else None
        if len(names) == 1 or last in names:
            return ChooseMedium(names[0] if len(names) == 1 else str(last))
    return None


def note_choice(dialogue: Dialogue, answer: Answer) -> Dialogue:
    if isinstance(answer, ChooseMethod):
        chosen = next(one for one in dialogue.methods if one.code == answer.code)
        return replace(dialogue, chosen_method=chosen)
    if isinstance(answer, ChooseMedium):
        return replace(dialogue, chosen_medium=answer.name)
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


def describe(dialogue: Dialogue, step: Step) -> Dialogue:
    """What the step offers, kept with the dialogue for whoever reads it."""
    match step:
        case NeedMethod(methods=methods):
            dialogue = replace(dialogue, methods=methods)
        case NeedMedium(media=media):
            dialogue = replace(dialogue, media=media)
        case NeedRedirect(url=url):
            dialogue = replace(dialogue, redirect_url=url)
        case Progress(partial=headers):
            dialogue = replace(dialogue, methods=headers.methods, media=headers.media)
    if isinstance(step, NeedTan | NeedRedirect) and step.valid_until is not None:
        dialogue = replace(dialogue, expires_at=min(dialogue.expires_at, step.valid_until))
    return dialogue


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
