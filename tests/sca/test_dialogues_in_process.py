"""Dialogues at a bank that can be held up: races, crashes, misbehaving banks; then random answers to the real one."""

import asyncio
import base64
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import AsyncConnection

from kontor import bootstrap
from kontor.connectors.base import (
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Context,
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
from kontor.connectors.demo import DemoConnector
from kontor.connectors.demo.scenarios import APP, DEMANDING_SCA, MOCK_TAN, PHONE
from kontor.connectors.registry import Registry
from kontor.domain.accesses import NoticeKind
from kontor.domain.errors import BusyError, InvalidError, NotFoundError
from kontor.domain.principals import Principal
from kontor.domain.sca import Challenge
from kontor.domain.sca_machine import MAX_WRONG_TANS, AnswerKind, ScaState, fits
from kontor.domain.secrets import Secret
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.identity.users import NewUser
from kontor.services.sca.consents import ConsentOptions, NotOpenError
from kontor.services.sca.steps import make_answer
from kontor.storage.demo_bank import DemoBankMemory
from kontor.wire.consents import STATES

DEMO_BANK = UUID(int=0)
OPTIONS = ConsentOptions("8.8.8.8", "https://example.com/back")
WAIT_SECONDS = 60


class WatchedBank(DemoConnector):
    """The demo bank, with a list of all that was asked of it, and a door that can be closed."""

    def __init__(self, memory):
        super().__init__(memory, 0)
        self.asked: list[object] = []
        self.door = threading.Event()
        self.door.set()
        self.script = None

    def begin(self, provider, credentials, job, memory, context: Context):
        self.asked.append("begin")
        if self.script is not None:
            return self.script(None)
        return super().begin(provider, credentials, job, memory, context)

    def resume(self, provider, credentials, state, answer, context: Context):
        self.asked.append(answer)
        assert self.door.wait(WAIT_SECONDS)
        if self.script is not None and state.get("stage") != "headers":
            return self.script(answer)
        return super().resume(provider, credentials, state, answer, context)

    def count(self, kind: type) -> int:
        return sum(isinstance(call, kind) for call in self.asked)

    async def reached(self, kind: type, count: int = 1) -> None:
        for _ in range(WAIT_SECONDS * 50):
            if self.count(kind) >= count:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the bank was not asked")


class ConsentingUser:
    """A user with services of its own that reach a watched bank."""

    def __init__(self, services, bank, principal, owner_url):
        self.services, self.bank, self.principal = services, bank, principal
        self.consents, self.owner_url = services.consents, owner_url

    async def store(
        self, login: str, access_id: str | None = None, pin: str = "demo", *, is_synced: bool = True
    ) -> str:
        access_id = access_id or str(uuid4())
        credentials = {}
        for field, text in (("userid", f"{login}+{uuid4().hex}"), ("pin", pin)):
            encrypted = await self.services.encryption.encrypt(self.principal, text.encode())
            credentials[field] = base64.b64encode(encrypted).decode()
        request = AccessRequest(DEMO_BANK, credentials, is_synced)
        await self.services.accesses.store_access(self.principal, access_id, request)
        return access_id

    async def start(self, access_id: str, **facts) -> UUID:
        view = await self.consents.start_consent(self.principal, access_id, None, replace(OPTIONS, **facts))
        return view.dialogue.id

    async def begin(self, login: str, **facts) -> UUID:
        return await self.start(await self.store(login), **facts)

    async def answer(self, consent: UUID, kind: AnswerKind, value: str = ""):
        return await self.consents.answer(self.principal, consent, kind, make_answer(kind, value))

    async def read(self, consent: UUID):
        return (await self.consents.read_consent(self.principal, consent)).dialogue

    async def state(self, consent: UUID) -> ScaState:
        return (await self.read(consent)).position.state

    async def execute(self, text: str, *values):
        """As the owner of the tables, who sees everybody's rows."""
        async with await AsyncConnection.connect(self.owner_url.reveal(), autocommit=True) as connection:
            cursor = await connection.execute(text, list(values))
            return await cursor.fetchall() if cursor.description else None

    async def issues(self, access_id: str) -> list[NoticeKind]:
        view = await self.services.accesses.read_access(self.principal, access_id)
        return [issue.kind for issue in view.access.issues]


@pytest.fixture(scope="module")
async def principal(standing_services, shared):
    return await new_principal(standing_services, shared)


async def new_principal(services, shared):
    new = NewUser(f"user-{uuid4().hex}", Secret("a password"))
    user = await services.users.create_user_by_operator(shared.name, new)
    return Principal(user.tenant_id, shared.name, True, uuid4(), "app", frozenset(), user.id, user.pseudonym)


@asynccontextmanager
async def open_consenting_user(settings, principal, monkeypatch):
    assert settings.database_url is not None
    bank = WatchedBank(DemoBankMemory(settings.database_url, f"{settings.base_url}/demobank/confirm"))
    monkeypatch.setattr(bootstrap, "make_registry", lambda _: Registry([bank]))
    async with bootstrap.open_services(replace(settings, pool_size=6), "kontor tests, consents") as own:
        yield ConsentingUser(own, bank, principal, settings.migration_database_url)
        bank.door.set()


@pytest.fixture
async def user(settings, principal, monkeypatch):
    async with open_consenting_user(settings, principal, monkeypatch) as user:
        yield user


async def outcomes(*calls):
    """Results, or the kinds of errors."""
    found = await asyncio.gather(*calls, return_exceptions=True)
    return [type(result) if isinstance(result, BaseException) else result.dialogue.position.state for result in found]


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


# Banks that behave strangely


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


# Random answers to the real demo bank

LOGINS = sorted(DEMANDING_SCA)
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


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
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
