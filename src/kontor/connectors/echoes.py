"""Texts in which a bank repeats what the customer has entered. They are stored and shown, so the secret is cut out."""

import re
from collections.abc import Iterable
from dataclasses import replace

from kontor.connectors.base import Done, Failed, Fetched, LookedUp, NeedConfirmation, NeedTan, Paid, Step
from kontor.domain.secrets import Secret

SHORTEST = 4  # shorter ones are in every text
HIDDEN = "***"


def hide_secrets(step: Step, secrets: Iterable[Secret]) -> Step:
    """The step with sentences of the bank that do not contain these."""
    words = [_make_pattern(secret) for secret in secrets if len(secret.reveal()) >= SHORTEST]

    def hide(text: str | None) -> str | None:
        for word in words:
            text = text and word.sub(HIDDEN, text)
        return text

    match step:
        case Failed():
            return replace(step, detail=hide(step.detail))
        case NeedTan() | NeedConfirmation():
            told = step.challenge
            return replace(step, challenge=replace(told, instructions=hide(told.instructions) or ""))
        case Done(result=Paid() | LookedUp() as result):
            return replace(step, result=replace(result, detail=hide(result.detail)))
        case Done(result=Fetched() as result):
            problems = tuple(replace(problem, detail=hide(problem.detail)) for problem in result.problems)
            return replace(step, result=replace(result, problems=problems))
    return step


def _make_pattern(secret: Secret) -> re.Pattern[str]:
    """As a word of its own."""
    return re.compile(rf"(?<!\w){re.escape(secret.reveal())}(?!\w)")
