"""Random answers to the real demo bank."""

import pytest
from consenting_users import new_principal, open_consenting_user
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kontor.connectors.demo.scenarios import SCENARIOS
from kontor.domain.errors import InvalidError
from kontor.domain.sca_machine import MAX_WRONG_TANS, AnswerKind, ScaState, fits
from kontor.services.sca.consents import NotOpenError
from kontor.wire.consents import STATES
from many_examples import count_examples

LOGINS = sorted(login for login, scenario in SCENARIOS.items() if scenario.demands_sca)
VALUES = st.sampled_from(
    ["901", "900", "902", "", "Mein Handy", "Mein Tablet", "Banking-App", "12", "13", "8534842", "936086", "\x00", "é"]
)
MOVES = st.lists(st.tuples(st.sampled_from([*AnswerKind, "start", "start asking", "confirm"]), VALUES), max_size=14)


@pytest.fixture(scope="module")
async def lasting_user(settings, standing_services, shared):
    principal = await new_principal(standing_services, shared)
    with pytest.MonkeyPatch.context() as patch:
        async with open_consenting_user(settings, principal, patch) as user:
            yield user


@settings(max_examples=count_examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(LOGINS), MOVES)
async def test_random_answers(lasting_user, login, moves):
    """Nothing but the expected errors; an answer reaches the bank only where it fits; attempts are counted."""
    user = lasting_user
    user.bank.asked.clear()
    access_id = await user.store(login)
    consent, tans, closed = await user.start(access_id), 0, {}
    for kind, value in moves:
        before = await user.read(consent)
        asked, shown = len(user.bank.asked), before
        if kind == "confirm":
            await user.execute("update demo_bank_pages set is_confirmed = true")
            continue
        if not isinstance(kind, AnswerKind):
            closed[consent] = before.position.state if not before.position.state.is_open else ScaState.FAILED
            consent, tans = await user.start(access_id, asks_settings=kind == "start asking"), 0
            continue
        try:
            view = await user.answer(consent, kind, value)
        except NotOpenError as error:
            assert not fits(before.position.state, kind)
            shown = error.view.dialogue
        except InvalidError:
            assert kind in (AnswerKind.METHOD, AnswerKind.MEDIUM)
            offered = {method.code for method in before.methods} | {medium.name for medium in before.media}
            assert value not in offered or before.position.state is not ScaState(kind)
        else:
            assert fits(before.position.state, kind)
            tans += kind is AnswerKind.TAN
            assert tans <= MAX_WRONG_TANS
            assert view.dialogue == await user.read(consent)
            check_offers(view)
            continue
        assert len(user.bank.asked) == asked, "the bank was asked something that did not fit"
        assert await user.read(consent) == before == shown
    for ended, state in closed.items():
        assert await user.state(ended) is state, "a closed dialogue was opened again"
    await user.services.accesses.delete_access(user.principal, access_id)


def check_offers(view) -> None:
    """What is offered can be answered: there is something to choose, to show, or a page to go to."""
    offered = STATES[view.dialogue.position.state][3]
    assert "set_method" not in offered or view.dialogue.methods
    assert "set_medium" not in offered or view.dialogue.media
    assert "redirect_url" not in offered or view.dialogue.redirect_url
    if "authenticate" in offered and "redirect_url" not in offered:
        assert view.secrets.challenge is not None
