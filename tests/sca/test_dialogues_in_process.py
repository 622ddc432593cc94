"""Dialogues at a bank that can be held up: races, crashes, and credentials that are not to be kept."""

import asyncio

import pytest
from consenting_users import WAIT_SECONDS, new_principal, outcomes

from kontor.connectors.base import (
    ChooseMethod,
    Tan,
)
from kontor.domain.errors import BusyError, InvalidError, NotFoundError
from kontor.domain.sca_machine import MAX_WRONG_TANS, AnswerKind, ScaState
from kontor.services.sca.consents import NotOpenError

# Races


async def test_of_two_right_tans_at_once_one_reaches_the_bank(user):
    consent = await user.begin("test_phototan")
    found = await outcomes(*[user.answer(consent, AnswerKind.TAN, "8534842") for _ in range(2)])
    assert sorted(found, key=str) == sorted([ScaState.GIVEN, NotOpenError], key=str)
    assert user.bank.count(Tan) == 1


async def test_of_two_choices_at_once_one_reaches_the_bank(user):
    consent = await user.begin("test_sca_method_media")
    found = await outcomes(*[user.answer(consent, AnswerKind.METHOD, code) for code in ("900", "901", "900")])
    assert found.count(NotOpenError) == 2
    assert user.bank.count(ChooseMethod) == 1


async def test_many_wrong_tans_at_once_cannot_exceed_the_count(user):
    consent = await user.begin("test_phototan")
    found = await outcomes(*[user.answer(consent, AnswerKind.TAN, f"{number}") for number in range(8)])
    assert (found.count(ScaState.TAN), found.count(ScaState.FAILED), found.count(NotOpenError)) == (2, 1, 5)
    assert user.bank.count(Tan) == MAX_WRONG_TANS


async def test_the_attempt_is_counted_before_the_bank_is_asked(user):
    consent = await user.begin("test_phototan")
    user.bank.door.clear()
    task = asyncio.create_task(user.answer(consent, AnswerKind.TAN, "1"))
    await user.bank.reached(Tan)
    assert (await user.read(consent)).position.wrong_tans == 1
    user.bank.door.set()
    assert (await task).dialogue.position.wrong_tans == 1
    right = await user.answer(consent, AnswerKind.TAN, "8534842")
    assert (right.dialogue.position.state, right.dialogue.position.wrong_tans) == (ScaState.GIVEN, 1)


async def test_an_attempt_whose_process_died_is_spent(user):
    """Counted, and nobody came back from the bank. After the third of them there is no fourth."""
    consent = await user.begin("test_phototan")
    await user.execute("update dialogues set wrong_tans = 2 where id = %s", consent)
    assert (await outcomes(user.answer(consent, AnswerKind.TAN, "8534842"))) == [ScaState.GIVEN]
    lost = await user.begin("test_phototan")
    await user.execute("update dialogues set wrong_tans = 3 where id = %s", lost)
    before = user.bank.count(Tan)
    with pytest.raises(NotOpenError) as caught:
        await user.answer(lost, AnswerKind.TAN, "8534842")
    assert caught.value.view.dialogue.position.state is ScaState.FAILED
    assert await user.state(lost) is ScaState.FAILED
    assert user.bank.count(Tan) == before


async def test_a_dialogue_whose_process_died_at_its_begin_is_over(user):
    """It stands open without anything to choose from; with the lease in our hand we know that nobody is coming."""
    consent = await user.begin("test_sca_method")
    await user.execute("update dialogues set methods = '[]', sealed = null where id = %s", consent)
    with pytest.raises(NotOpenError):
        await user.answer(consent, AnswerKind.METHOD, "900")
    assert await user.state(consent) is ScaState.FAILED


async def test_a_new_consent_ends_the_old_one_even_while_that_is_at_the_bank(user):
    access_id = await user.store("test_sca_method_media")
    first = await user.start(access_id)
    user.bank.door.clear()
    answering = asyncio.create_task(user.answer(first, AnswerKind.METHOD, "900"))
    await user.bank.reached(ChooseMethod)
    starting = asyncio.create_task(user.start(access_id))
    await asyncio.sleep(0.3)
    user.bank.door.set()
    second = await starting
    assert (await answering).dialogue.position.state is ScaState.MEDIUM
    assert await user.state(first) is ScaState.FAILED
    assert await user.state(second) is ScaState.METHOD
    with pytest.raises(NotOpenError):
        await user.answer(first, AnswerKind.MEDIUM, "Mein Handy")


async def test_of_many_consents_at_once_one_stays_open(user):
    access_id = await user.store("test_phototan")
    consents = await asyncio.gather(*[user.start(access_id) for _ in range(4)])
    states = [await user.state(consent) for consent in consents]
    assert (states.count(ScaState.TAN), states.count(ScaState.FAILED)) == (1, 3)


async def test_other_credentials_end_the_dialogue_that_began_with_the_old_ones(user):
    access_id = await user.store("test_phototan")
    waiting = await user.start(access_id)
    await user.store("test_phototan", access_id)
    assert await user.state(waiting) is ScaState.FAILED
    # Also while the right TAN is at the bank: what comes of it belongs to nobody.
    at_bank = await user.start(access_id)
    user.bank.door.clear()
    task = asyncio.create_task(user.answer(at_bank, AnswerKind.TAN, "8534842"))
    await user.bank.reached(Tan)
    await user.store("test_phototan", access_id)
    user.bank.door.set()
    with pytest.raises(NotOpenError):
        await task
    assert await user.state(at_bank) is ScaState.FAILED
    assert await user.execute("select 1 from fetches where access_id = %s", access_id) == []


@pytest.mark.parametrize("is_added_again", [False, True])
async def test_an_access_that_is_deleted_while_the_bank_is_asked(user, is_added_again):
    access_id = await user.store("test_phototan")
    consent = await user.start(access_id)
    user.bank.door.clear()
    task = asyncio.create_task(user.answer(consent, AnswerKind.TAN, "8534842"))
    await user.bank.reached(Tan)
    await user.services.accesses.delete_access(user.principal, access_id)
    if is_added_again:
        await user.store("test_phototan", access_id)
    user.bank.door.set()
    with pytest.raises(NotFoundError):
        await task
    with pytest.raises(NotFoundError):
        await user.read(consent)
    assert await user.execute("select 1 from dialogues where access_id = %s", access_id) == []
    assert await user.execute("select 1 from fetches where access_id = %s", access_id) == []


async def test_a_user_who_is_deactivated_in_the_middle(user, services, shared):
    user.principal = await new_principal(services, shared)
    access_id = await user.store("test_phototan")
    consent = await user.start(access_id)
    user.bank.door.clear()
    task = asyncio.create_task(user.answer(consent, AnswerKind.TAN, "8534842"))
    await user.bank.reached(Tan)
    await user.execute("update users set is_active = false where id = %s", user.principal.user_id)
    user.bank.door.set()
    with pytest.raises(BusyError):
        await task
    asked = len(user.bank.asked)
    await outcomes(user.answer(consent, AnswerKind.TAN, "8534842"))
    assert len(user.bank.asked) == asked
    assert await user.execute("select 1 from fetches where access_id = %s", access_id) == []


async def test_a_caller_that_goes_away_does_not_stop_the_step(user):
    consent = await user.begin("test_phototan")
    user.bank.door.clear()
    task = asyncio.create_task(user.answer(consent, AnswerKind.TAN, "8534842"))
    await user.bank.reached(Tan)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    user.bank.door.set()
    for _ in range(WAIT_SECONDS * 50):
        if await user.state(consent) is ScaState.GIVEN:
            break
        await asyncio.sleep(0.02)
    assert await user.state(consent) is ScaState.GIVEN


# Credentials that are not to be kept


async def credentials_of(user, access_id) -> bytes | None:
    [(found,)] = await user.execute("select credentials from accesses where id = %s", access_id)
    return found


@pytest.mark.parametrize("end", ["cancel", "tans", "refused"])
async def test_credentials_of_an_access_without_sync_go_when_the_consent_fails(user, end):
    access_id = await user.store("test_phototan", is_synced=False, pin="wrong" if end == "refused" else "demo")
    consent = await user.start(access_id)
    if end != "refused":
        assert await credentials_of(user, access_id) is not None
        [(expires_at,)] = await user.execute("select expires_at from accesses where id = %s", access_id)
        assert expires_at is not None
    if end == "cancel":
        await user.answer(consent, AnswerKind.CANCEL)
    elif end == "tans":
        for _ in range(MAX_WRONG_TANS):
            await user.answer(consent, AnswerKind.TAN, "1")
    assert await user.state(consent) is ScaState.FAILED
    assert await credentials_of(user, access_id) is None
    with pytest.raises(InvalidError):
        await user.start(access_id)
