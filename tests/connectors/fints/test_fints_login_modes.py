"""Logging in where banks change methods and devices, and refuse PINs: nobody is locked out, and a phone rings once."""

from datetime import timedelta
from uuid import uuid4

import pytest
from fints_payer import Payer, know_bank, order, overheard, tan

from fints_banks import TODAY
from kontor.connectors.base import (
    ChooseMedium,
    ChooseMethod,
    Continue,
    Done,
    Failed,
    FailureKind,
    Fetch,
    LookUp,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedTan,
    Poll,
    Progress,
)
from kontor.connectors.demo.scenarios import CHIP_TAN, LIST_TAN, MOCK_TAN, PHONE, SCENARIOS, Scenario
from kontor.demobank.fints.modes import Mode
from kontor.domain.payments import PaymentOutcome

SMALL = "test_bank_message"
MOCK = (tan("24"),)
LOGIN = (Poll(), Poll())
GONE = "Altes Handy"
CHALLENGES = {"0030", "3955"}


@pytest.fixture
def payer_at(bank_with):
    return lambda *modes, login=SMALL, **facts: Payer(bank_with(*modes), f"{login}+{uuid4().hex[:8]}", **facts)


@pytest.fixture
def remember(bank):
    """What an access has stored, of a bank that behaved like any other until yesterday."""

    def make(method, medium=None, **knowledge):
        system = {"system_id": uuid4().hex[:28], **knowledge}
        return {"knowledge": know_bank(bank) | system, "method": method, "medium": medium, "consent_until": None}

    return make


def resume_all(payer, step, *answers):
    for answer in answers:
        step = payer.resume(step, answer)
    return step


# PINs


def test_a_wrong_pin_leaves_once(payer_at):
    payer = payer_at(pin="wrong")
    know_bank(payer.bank)
    with overheard() as sent:
        failed = payer.begin(Fetch())
    assert failed.kind is FailureKind.WRONG_CREDENTIALS
    assert ["9942" in message.answer for message in sent] == [True]


def test_the_pin_that_locks_the_customer_out_leaves_once(payer_at):
    payer = payer_at(pin="wrong")
    for _ in range(2):
        payer.begin(Fetch())
    with overheard() as sent:
        failed = payer.begin(Fetch())
    assert failed.kind is FailureKind.LOCKED
    assert ["9931" in message.answer for message in sent] == [True]


def test_a_lock_that_is_told_as_a_warning_ends_the_dialogue(payer_at, remember):
    payer, state = payer_at(Mode.LOCK_AS_WARNING), remember("901")
    with overheard() as sent:
        failed = payer.begin(Fetch(), state)
    assert failed.kind is FailureKind.LOCKED
    assert ["3938" in message.answer for message in sent] == [True]


@pytest.mark.parametrize("job", ["fetch", "look-up"])
def test_a_pin_that_is_refused_in_the_middle_does_not_leave_again(payer_at, remember, job):
    payer, state = payer_at(Mode.PIN_REFUSED_LATER), remember("901")
    with overheard() as sent:
        failed = payer.begin(Fetch() if job == "fetch" else LookUp(payer.make()), state)
    assert isinstance(failed, Failed), failed
    assert failed.kind is FailureKind.WRONG_CREDENTIALS
    assert ["9942" in message.answer for message in sent].index(True) == len(sent) - 1


# Signatures


@pytest.mark.parametrize(
    ("login", "answers"), [(SMALL, MOCK), ("test_chiptan", (tan("936086"), tan("936086")))], ids=["", "login"]
)
def test_signature_and_envelope_name_the_profile_of_the_method(payer_at, login, answers):
    payer = payer_at(Mode.PROFILE_CHECKED, login=login)
    last = payer.drive(payer.make(), answers)[-1]
    assert isinstance(last, Done), last
    assert last.result.outcome is PaymentOutcome.EXECUTED


@pytest.mark.parametrize(
    ("login", "answers", "question"),
    [("test_decoupled", LOGIN, NeedConfirmation), ("test_chiptan", (tan("936086"),), NeedTan)],
)
def test_a_challenge_is_found_wherever_the_bank_reports_it(payer_at, login, answers, question):
    payer = payer_at(Mode.ASKS_ELSEWHERE, login=login)
    steps = payer.drive(payer.make(), (*answers, *answers))
    assert isinstance(steps[0], question)
    assert isinstance(steps[-1], Done), steps[-1]
    assert steps[-1].result.outcome is PaymentOutcome.EXECUTED


def test_photo_tan_is_used_by_the_number_that_the_bank_gives_it(payer_at):
    payer = payer_at(Mode.PHOTO_TAN_900, login="test_phototan")
    with overheard() as sent:
        steps = payer.drive(payer.make(), (tan("8534842"), tan("8534842")))
    assert isinstance(steps[0], NeedTan)
    assert steps[0].challenge.method_name == "photoTAN"
    assert steps[0].challenge.photo
    assert isinstance(steps[-1], Done), steps[-1]
    signed = {message.find("HNSHK").read(2) for message in sent if "HKTAN" in message.codes}
    assert signed == {"900"}


def test_an_app_that_confirms_in_few_words_has_confirmed(payer_at):
    payer = payer_at(Mode.TERSE_CONFIRMATION, login="test_decoupled")
    before = payer.read_balance()
    steps = payer.drive(payer.make(order("3.00")), (*LOGIN, *LOGIN))
    assert isinstance(steps[-1], Done), steps[-1]
    assert steps[-1].result.outcome is PaymentOutcome.EXECUTED
    assert before - payer.read_balance() == 3


# Devices, methods and systems that are no longer what they were


def test_a_device_that_is_gone_is_replaced_by_one_of_the_customers_choice(payer_at, remember):
    payer = payer_at(Mode.DEVICE_UNKNOWN, login="test_sca_method_media")
    question = payer.begin(Fetch(), remember("901", GONE))
    assert isinstance(question, NeedMedium), question
    assert [medium.name for medium in question.media] == ["Mein Handy", "Mein Tablet"]
    progress = resume_all(payer, question, ChooseMedium("Mein Tablet"), *MOCK)
    assert isinstance(progress, Progress), progress
    done = payer.resume(progress, Continue())
    assert done.connector_state["medium"] == "Mein Tablet"


def test_a_device_that_is_gone_is_not_taken_for_a_wrong_pin_while_nobody_is_there(payer_at, remember):
    payer = payer_at(Mode.DEVICE_UNKNOWN, login="test_sca_method_media", is_present=False)
    state = remember("901", GONE)
    with overheard() as sent:
        assert isinstance(payer.begin(Fetch(), state), NeedMethod)
    assert not [message for message in sent if CHALLENGES & set(message.answer)], "no other phone rings instead"


def test_an_order_is_not_sent_for_a_device_that_is_gone(payer_at, remember):
    payer, state = payer_at(Mode.DEVICE_UNKNOWN), remember("901", GONE)
    with overheard() as sent:
        challenge = payer.begin(payer.make(), state)
        assert isinstance(challenge, NeedTan), challenge
        done = payer.resume(challenge, *MOCK)
    assert done.result.outcome is PaymentOutcome.EXECUTED
    assert len([message for message in sent if "HKCCS" in message.codes]) == 1
    assert done.connector_state["medium"] == "Mein Handy"


@pytest.mark.parametrize("mode", [Mode.METHOD_WITHDRAWN, Mode.METHOD_REPLACED])
@pytest.mark.parametrize("is_present", [True, False], ids=["attended", "unattended"])
def test_a_method_that_the_bank_has_given_up_is_left(payer_at, remember, mode, is_present):
    """For the only one left, without asking. The PIN was right all the time."""
    payer = payer_at(mode, login="test_sca_method", is_present=is_present)
    question = payer.begin(Fetch(), remember("901", "Mein Handy", functions=["901"]))
    assert isinstance(question, NeedTan), question
    assert question.challenge.method_name == "iTAN"
    progress = payer.resume(question, tan("12"))
    assert isinstance(progress, Progress), progress
    assert payer.resume(progress, Continue()).connector_state["method"] == "900"


def test_a_system_that_the_bank_has_forgotten_is_registered_again(payer_at, remember):
    payer = payer_at(Mode.SYSTEM_FORGOTTEN)
    state = remember("901", "Mein Handy")
    progress = payer.begin(Fetch(), state)
    assert isinstance(progress, Progress), progress
    done = payer.resume(progress, Continue())
    known = done.connector_state["knowledge"]["system_id"]
    assert known not in ("0", state["knowledge"]["system_id"])


# One challenge


def test_one_fetch_rings_the_customers_phone_once(payer_at):
    payer = payer_at(login="test_sca_method_media")
    with overheard() as sent:
        steps = payer.drive(Fetch(), (ChooseMethod("901"), ChooseMedium("Mein Tablet"), *MOCK, Continue()))
    assert [type(step) for step in steps] == [NeedMethod, NeedMedium, NeedTan, Progress, Done]
    rung = [message for message in sent if CHALLENGES & set(message.answer) and message.find("HNSHK").read(2) == "901"]
    assert len(rung) == 1
    assert rung[0].find("HKTAN").read(11) == "Mein Tablet"


def test_a_method_that_was_used_before_rings_once_and_is_not_asked_about(payer_at, remember):
    payer, state = payer_at(login="test_sca_method_media"), remember("901", "Mein Handy")
    with overheard() as sent:
        question = payer.begin(Fetch(), state)
    assert isinstance(question, NeedTan), question
    assert len([message for message in sent if CHALLENGES & set(message.answer)]) == 1


def test_who_renews_a_consent_may_choose_another_method(payer_at, remember):
    payer = payer_at(login="test_sca_method_media")
    state = remember("901", "Mein Handy", functions=["901", "900"])
    with overheard() as sent:
        question = payer.begin(Fetch(is_renewal=True), state)
    assert isinstance(question, NeedMethod), question
    assert not [message for message in sent if CHALLENGES & set(message.answer)]


# A method that the bank withdraws between the login and the order


@pytest.fixture
def trusted(payer_at):
    """A customer whose device the bank trusts, with the state of an access that last used a method withdrawn since."""

    def make(login="test_sca_method"):
        payer = payer_at(Mode.METHOD_WITHDRAWN, login=login)
        steps = payer.drive(Fetch(), (ChooseMethod("900"), tan("12"), Continue()))
        assert isinstance(steps[-1], Done), steps
        return payer, steps[-1].connector_state | {"method": "901", "medium": "Mein Handy"}

    return make


def test_an_order_goes_by_another_method_when_the_bank_has_withdrawn_the_stored_one(trusted):
    payer, state = trusted()
    before = payer.read_balance()
    with overheard() as sent:
        question = payer.begin(payer.make(order("3.00")), state)
        assert isinstance(question, NeedTan), question
        assert question.challenge.method_name == "iTAN"
        assert question.is_held
        done = payer.resume(question, tan("12"))
    assert done.result.outcome is PaymentOutcome.EXECUTED
    assert before - payer.read_balance() == 3, "once"
    assert done.connector_state["method"] == "900", "and the next order goes by it at once"
    assert ["9260" in message.answer for message in sent if "HKCCS" in message.codes] == [True, False]
    assert payer.asked == 2, "before the order and before its TAN"


def test_the_customer_chooses_among_the_methods_that_are_left_for_an_order(trusted, monkeypatch):
    methods = (MOCK_TAN, LIST_TAN, CHIP_TAN)
    monkeypatch.setitem(SCENARIOS, "test_sca_method", Scenario(methods=methods, media=(PHONE,), demands_sca=True))
    payer, state = trusted()
    question = payer.begin(payer.make(), state)
    assert isinstance(question, NeedMethod), question
    assert question.is_held
    assert [method.code for method in question.methods] == [LIST_TAN.code, CHIP_TAN.code]
    done = resume_all(payer, question, ChooseMethod(LIST_TAN.code), tan("12"))
    assert done.result.outcome is PaymentOutcome.EXECUTED


def test_an_order_fails_when_no_other_method_is_left(payer_at, remember, monkeypatch):
    """It has not left: the bank has refused it."""
    payer = payer_at(Mode.METHOD_WITHDRAWN)
    monkeypatch.setattr("kontor.demobank.fints.challenges._is_withdrawn", lambda step, function: True)
    failed = payer.begin(payer.make(), remember("901", "Mein Handy", functions=["901"]))
    assert (failed.kind, failed.is_outcome_unknown) == (FailureKind.NO_SUPPORTED_METHOD, False)


# Old bookings, which a bank may ask about once more


def count_challenges(sent):
    return len([message for message in sent if CHALLENGES & set(message.answer)])


def has_old_bookings(done):
    limit = TODAY - timedelta(days=100)
    return {key: any(row.booked_at.date() < limit for row in rows) for key, rows in done.result.transactions.items()}


def test_a_fetch_rings_the_phone_once_although_the_bank_wants_a_tan_for_old_bookings_as_well(payer_at):
    """Also the first fetch, which does not know the bank yet: it asks for old bookings so that no phone can ring."""
    payer = payer_at(Mode.OLD_BOOKINGS_ASK, login="test_decoupled")
    with overheard() as sent:
        steps = payer.drive(Fetch(), (*LOGIN, Continue()))
    assert [type(step) for step in steps] == [NeedConfirmation, NeedConfirmation, Progress, Done]
    assert count_challenges(sent) == 1
    done = steps[-1]
    assert any(done.result.transactions.values()), "those of the last 90 days"
    assert not any(has_old_bookings(done).values())
    unknown_device = {"knowledge": done.connector_state["knowledge"] | {"system_id": uuid4().hex[:28]}}
    with overheard() as sent:
        question = payer.begin(Fetch(), done.connector_state | unknown_device)
        last = resume_all(payer, question, *LOGIN, Continue())
    assert isinstance(last, Done), last
    assert count_challenges(sent) == 1
    assert not [message for message in sent if "9075" in message.answer], "the bank is known by now"


def test_a_confirmation_at_login_brings_the_old_bookings_of_all_accounts_where_the_bank_gives_them(payer_at):
    payer = payer_at(login="test_decoupled")
    with overheard() as sent:
        done = payer.drive(Fetch(), (*LOGIN, Continue()))[-1]
    assert count_challenges(sent) == 1
    assert len(has_old_bookings(done)) > 1
    assert all(has_old_bookings(done).values())


def test_a_renewal_whose_login_needs_no_tan_brings_the_old_bookings_and_rings_once(payer_at):
    payer = payer_at(Mode.OLD_BOOKINGS_ASK, login="test_decoupled")
    first = payer.drive(Fetch(), (*LOGIN, Continue()))[-1]
    with overheard() as sent:
        question = payer.begin(Fetch(is_renewal=True), first.connector_state)
        done = resume_all(payer, question, *LOGIN, Continue())
    assert isinstance(done, Done), done
    assert count_challenges(sent) == 1
    assert has_old_bookings(done)[payer.account]


def test_old_bookings_come_with_a_second_tan_where_no_phone_rings(payer_at):
    payer = payer_at(Mode.OLD_BOOKINGS_ASK, login="test_chiptan")
    steps = payer.drive(Fetch(), (tan("936086"), tan("936086"), Continue()))
    assert [type(step) for step in steps] == [NeedTan, NeedTan, Progress, Done]
    limit = TODAY - timedelta(days=100)
    rows = steps[-1].result.transactions
    assert [any(row.booked_at.date() < limit for row in rows[key]) for key in rows] == [
        True,
        *[False for _ in list(rows)[1:]],
    ], "of the first account alone: there is no third TAN"


def test_old_bookings_ring_once_where_the_bank_asks_nothing_at_login(payer_at, remember):
    payer = payer_at(Mode.OLD_BOOKINGS_ASK, login="test_decoupled")
    first = payer.drive(Fetch(), (*LOGIN, Continue()))[-1]
    state = first.connector_state | {"consent_until": None}
    question = payer.begin(Fetch(), state)
    assert isinstance(question, NeedConfirmation), question
    assert isinstance(resume_all(payer, question, *LOGIN), Progress)
