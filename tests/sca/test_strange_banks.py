"""Dialogues at banks that behave strangely: asking again, breaking, without methods, in a hurry."""

from datetime import UTC, datetime, timedelta

import pytest

from kontor.connectors.base import (
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Poll,
    Tan,
)
from kontor.connectors.demo.scenarios import APP, MOCK_TAN, PHONE
from kontor.domain.accesses import NoticeKind
from kontor.domain.sca import Challenge
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.services.sca.consents import NotOpenError


def need_tan(valid_until=None):
    return NeedTan(Challenge("TAN", "Bitte"), {"stage": "tan"}, valid_until)


async def test_a_bank_that_asks_for_the_method_again_is_shown_to_the_user(user):
    user.bank.script = lambda answer: NeedMethod((MOCK_TAN,), {"stage": "method"})
    consent = await user.begin("test_phototan")
    assert (await user.state(consent), user.bank.count(ChooseMethod)) == (ScaState.METHOD, 1)
    await user.answer(consent, AnswerKind.METHOD, "901")
    assert (await user.state(consent), user.bank.count(ChooseMethod)) == (ScaState.METHOD, 2)


async def test_a_bank_that_asks_for_the_medium_again_is_shown_to_the_user(user):
    user.bank.script = lambda answer: NeedMedium((PHONE,), {"stage": "medium"})
    consent = await user.begin("test_phototan")
    assert (await user.state(consent), user.bank.count(ChooseMedium)) == (ScaState.MEDIUM, 1)


async def test_a_cancelled_dialogue_is_over_whatever_the_bank_says(user):
    user.bank.script = lambda answer: need_tan()
    consent = await user.begin("test_phototan")
    await user.answer(consent, AnswerKind.CANCEL)
    assert (await user.state(consent), user.bank.count(Cancel)) == (ScaState.FAILED, 1)


async def test_wrong_tans_are_counted_over_several_challenges(user):
    right = {"2", "4", "6", "8", "10"}

    def two_challenges(answer):
        if isinstance(answer, Tan):
            return need_tan() if answer.value.reveal() in right else Failed(FailureKind.WRONG_TAN)
        return need_tan()

    user.bank.script = two_challenges
    consent = await user.begin("test_phototan")
    for tan in ("2", "4", "6", "8", "1", "10", "3", "2"):
        await user.answer(consent, AnswerKind.TAN, tan)
        assert await user.state(consent) is ScaState.TAN
    await user.answer(consent, AnswerKind.TAN, "5")
    assert await user.state(consent) is ScaState.FAILED


async def test_a_bank_without_methods(user):
    user.bank.script = lambda answer: NeedMethod((), {})
    access_id = await user.store("test_phototan")
    assert await user.state(await user.start(access_id)) is ScaState.NO_METHOD
    user.bank.script = lambda answer: Failed(FailureKind.NO_SUPPORTED_METHOD)
    assert await user.state(await user.start(access_id)) is ScaState.NO_METHOD
    assert await user.issues(access_id) == [NoticeKind.SCA_NEEDED]


async def test_a_connector_that_breaks_ends_the_consent_and_nothing_else(user):
    def break_down(answer):
        raise RuntimeError("broken")

    access_id = await user.store("test_phototan")
    consent = await user.start(access_id)
    user.bank.script = break_down
    await user.answer(consent, AnswerKind.TAN, "8534842")
    assert await user.state(consent) is ScaState.FAILED
    assert await user.issues(access_id) == [NoticeKind.INTERNAL]


@pytest.mark.parametrize("step", ["tan", "redirect"])
async def test_a_challenge_is_valid_as_long_as_the_bank_says(user, step):
    over = datetime.now(UTC) - timedelta(seconds=1)
    steps = {"tan": need_tan(over), "redirect": NeedRedirect("https://bank.example/x", {"stage": "redirect"}, over)}
    user.bank.script = lambda answer: steps[step]
    consent = await user.begin("test_phototan")
    assert await user.state(consent) is ScaState.FAILED
    asked = len(user.bank.asked)
    for kind in AnswerKind:
        with pytest.raises(NotOpenError):
            await user.answer(consent, kind, "1")
    assert len(user.bank.asked) == asked


async def test_a_challenge_lasts_no_longer_than_the_dialogue(user):
    user.bank.script = lambda answer: need_tan(datetime.now(UTC) + timedelta(days=1))
    dialogue = await user.read(await user.begin("test_phototan"))
    assert dialogue.expires_at < datetime.now(UTC) + timedelta(minutes=16)


async def test_an_expired_dialogue_asks_the_bank_nothing(user):
    consent = await user.begin("test_sca_method_media")
    await user.execute("update dialogues set expires_at = now() - interval '1 second' where id = %s", consent)
    assert await user.state(consent) is ScaState.FAILED
    asked = len(user.bank.asked)
    for kind in AnswerKind:
        with pytest.raises(NotOpenError) as caught:
            await user.answer(consent, kind, "901")
        assert caught.value.view.dialogue.position.state is ScaState.FAILED
    assert len(user.bank.asked) == asked


async def test_decoupled_with_a_medium_to_choose(user):
    user.bank.script = lambda answer: (
        NeedConfirmation(Challenge("App", "Bitte"), {"stage": "confirmation"})
        if isinstance(answer, ChooseMedium | Poll)
        else NeedMedium((PHONE, APP), {"stage": "medium"})
    )
    consent = await user.begin("test_decoupled")
    await user.answer(consent, AnswerKind.MEDIUM, "Banking-App")
    for _ in range(5):
        await user.answer(consent, AnswerKind.CONFIRMED)
    assert await user.state(consent) is ScaState.CONFIRMATION
