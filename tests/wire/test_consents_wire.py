"""Consent status on the wire: method numbers for banks whose keys are no numbers, and what an answer means."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from kontor.domain.accesses import History
from kontor.domain.dialogues import Dialogue
from kontor.domain.sca import ScaMethod
from kontor.domain.sca_machine import AnswerKind, ScaPosition, ScaState
from kontor.wire.consents import ScaAnswer, show_sca_methods

KEYS = ("923", "SMS_OTP", "0901", "²", "", "1234567890123")
METHODS = tuple(ScaMethod(key, f"Verfahren {key}") for key in KEYS)


def make_dialogue(state: ScaState) -> Dialogue:
    return Dialogue(
        id=uuid4(),
        user_id=uuid4(),
        access_id="a",
        position=ScaPosition(state),
        is_renewal=False,
        asks_settings=False,
        history=History.ALL,
        lease_key=b"",
        expires_at=datetime.now(UTC),
        methods=METHODS,
    )


def test_every_method_is_shown_under_a_number_of_its_own():
    assert [method.code for method in show_sca_methods(METHODS)] == [923, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("place", range(len(KEYS)))
def test_a_method_is_chosen_by_its_key_or_by_its_number(place):
    shown = show_sca_methods(METHODS)[place].code
    for given in (KEYS[place], shown, str(shown)):
        answer = ScaAnswer(chosenScaMethodId=given).read(make_dialogue(ScaState.METHOD))
        assert answer == (AnswerKind.METHOD, KEYS[place])


@pytest.mark.parametrize("given", [0, 1, 7, "x", -2, "02", "923 "])
def test_what_is_not_offered_stays_what_it_is(given):
    answer = ScaAnswer(chosenScaMethodId=given).read(make_dialogue(ScaState.METHOD))
    assert answer == (AnswerKind.METHOD, str(given))


@pytest.mark.parametrize("state", ScaState)
def test_authentication_data_is_a_tan_unless_the_user_was_at_the_bank(state):
    kind, value = ScaAnswer(scaAuthenticationData="x").read(make_dialogue(state))
    assert (kind, value) == (AnswerKind.RETURNED if state is ScaState.REDIRECT else AnswerKind.TAN, "x")
    assert ScaAnswer().read(make_dialogue(state)) == (AnswerKind.CONFIRMED, "")
    assert ScaAnswer(chosenScaMedia="m").read(make_dialogue(state)) == (AnswerKind.MEDIUM, "m")
