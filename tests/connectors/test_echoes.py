"""A bank that repeats a PIN or a TAN in its sentences: nobody gets to see it."""

import pytest

from kontor.connectors.base import (
    Done,
    Failed,
    FailureKind,
    Fetched,
    LookedUp,
    NeedConfirmation,
    NeedTan,
    Paid,
    Problem,
    ProblemKind,
)
from kontor.connectors.echoes import hide_secrets
from kontor.domain.payments import PaymentOutcome
from kontor.domain.sca import Challenge
from kontor.domain.secrets import Secret

PIN, TAN = "s3cret-pin", "738201"
WORDS = f"PIN {PIN} und TAN {TAN}."
STEPS = [
    Failed(FailureKind.REJECTED, WORDS),
    NeedTan(Challenge("TAN", WORDS), {}),
    NeedConfirmation(Challenge("App", WORDS), {}),
    Done(Paid(PaymentOutcome.ACCEPTED, WORDS)),
    Done(LookedUp(PaymentOutcome.ACCEPTED, WORDS)),
    Done(Fetched({}, problems=(Problem(ProblemKind.BANK_MESSAGE, None, WORDS),))),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(getattr(step, "result", step)).__name__)
def test_a_secret_is_cut_out_of_what_the_bank_says(step):
    shown = repr(hide_secrets(step, [Secret(PIN), Secret(TAN)]))
    assert "PIN *** und TAN ***." in shown
    assert hide_secrets(step, []) == step


def test_parts_of_words_and_short_secrets_stay():
    step = Failed(FailureKind.REJECTED, "Der Auftrag 1234567 ist abgelehnt.")
    assert hide_secrets(step, [Secret("3456"), Secret("ist"), Secret("")]) == step
