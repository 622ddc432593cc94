"""Banks that answer late, twice or not at all: no payment is made twice, and none is lost."""

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from uuid import uuid4

import pytest
from demo_payer import Payer, find_iban, make_order

from kontor.connectors.base import Done, Failed, FailureKind, Paid, Tan
from kontor.connectors.demo import paying
from kontor.connectors.demo.payees import PayeeScenario
from kontor.domain.payments import PaymentOutcome
from kontor.domain.secrets import Secret
from kontor.storage import demo_bank_payments

EXECUTED = Done(Paid(PaymentOutcome.EXECUTED))
LOST = Failed(FailureKind.UNREACHABLE, is_outcome_unknown=True)


@pytest.fixture
def payer(settings):
    return Payer(settings.database_url, slow_seconds=7)


@pytest.fixture
def recorded_sleeps(monkeypatch):
    """What the bank does while it is slow; it really does not wait."""
    calls = []
    monkeypatch.setattr(paying.time, "sleep", lambda seconds: [call(seconds) for call in calls])
    return calls


@pytest.mark.parametrize("scenario", [PayeeScenario.REFUSES, PayeeScenario.IS_CLOSED])
def test_a_rejected_payee_is_told_in_german_and_remembered(payer, owner, scenario):
    payment_id, order = uuid4(), make_order(iban=find_iban(scenario))
    failed = payer.pay(order, payment_id=payment_id)
    assert (failed.kind, failed.is_outcome_unknown) == (FailureKind.REJECTED, False)
    assert "Empfänger" in failed.detail
    assert payer.look_up(payment_id) == (PaymentOutcome.REJECTED, failed.detail)
    assert payer.pay(order, payment_id=payment_id) == failed
    assert payer.read_moved() == {}
    assert payer.list_events(owner, payment_id) == ["REJECTED", "LOOKED_UP"]


def test_a_failing_login_is_rejected_after_the_tan_whatever_it_pays(payer):
    failing = payer.as_login("test_failing_payment")
    payment_id = uuid4()
    failed = failing.pay(make_order("0.01"), payment_id=payment_id)
    assert failed.kind is FailureKind.REJECTED
    assert "abgelehnt" in failed.detail
    assert failing.look_up(payment_id) == (PaymentOutcome.REJECTED, failed.detail)
    assert failing.read_moved() == {}


def test_a_bank_that_answers_late_has_booked_already(payer, recorded_sleeps):
    payment_id, seen = uuid4(), []
    recorded_sleeps.append(lambda seconds: seen.append((seconds, payer.look_up(payment_id)[0])))
    assert payer.pay(make_order(iban=find_iban(PayeeScenario.ANSWERS_LATE)), payment_id=payment_id) == EXECUTED
    assert seen == [(7, PaymentOutcome.EXECUTED)]


def test_a_bank_that_dies_after_booking_has_moved_the_money(payer):
    payment_id, order = uuid4(), make_order(iban=find_iban(PayeeScenario.DIES_AFTER_BOOKING))
    assert payer.pay(order, payment_id=payment_id) == LOST
    assert payer.look_up(payment_id) == (PaymentOutcome.EXECUTED, None)
    assert payer.read_moved() == {payer.main.key: Decimal("-10.00")}


def test_a_bank_that_dies_before_booking_has_not_and_never_will(payer, owner):
    payment_id, order = uuid4(), make_order(iban=find_iban(PayeeScenario.DIES_BEFORE_BOOKING))
    assert payer.pay(order, payment_id=payment_id) == LOST
    assert payer.look_up(payment_id) == (PaymentOutcome.NEVER, None)
    assert payer.read_moved() == {}
    assert payer.list_events(owner, payment_id) == ["BURIED"]


def test_an_order_held_up_on_its_way_is_refused_once_somebody_asked_for_it(payer, recorded_sleeps, owner):
    payment_id = uuid4()
    recorded_sleeps.append(lambda seconds: payer.look_up(payment_id))
    late = payer.pay(make_order(iban=find_iban(PayeeScenario.IS_HELD_UP)), payment_id=payment_id)
    assert (late.kind, late.is_outcome_unknown) == (FailureKind.REJECTED, False)
    assert payer.look_up(payment_id) == (PaymentOutcome.NEVER, None)
    assert payer.read_moved() == {}
    assert payer.list_events(owner, payment_id) == ["BURIED", "REFUSED", "LOOKED_UP"]


def test_an_order_held_up_on_its_way_arrives_if_nobody_asked(payer, recorded_sleeps):
    assert payer.pay(make_order(iban=find_iban(PayeeScenario.IS_HELD_UP))) == EXECUTED
    assert payer.read_moved() == {payer.main.key: Decimal("-10.00")}


def run_together(calls):
    """All at once; their results in order."""
    gate = threading.Barrier(len(calls))

    def run(call):
        gate.wait(60)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_one_answer_given_many_times_at_once_pays_once(payer, owner):
    payment_id = uuid4()
    question = payer.ask_tan(make_order(), payment_id=payment_id)
    steps = run_together([lambda: payer.resume(question.state, Tan(Secret("24")))] * 8)
    assert steps == [EXECUTED] * 8
    assert payer.read_moved() == {payer.main.key: Decimal("-10.00")}
    assert payer.list_events(owner, payment_id) == ["BOOKED", *["REPEATED"] * 7]


@pytest.mark.parametrize("number", range(6))
def test_a_question_at_the_moment_of_booking_gets_the_truth(payer, number):
    """Either it arrived and is executed, or it did not and never will: whoever comes first."""
    payment_id = uuid4()
    question = payer.ask_tan(make_order(), payment_id=payment_id)
    calls = [lambda: payer.resume(question.state, Tan(Secret("24"))), lambda: payer.look_up(payment_id)]
    results = run_together(calls if number % 2 else calls[::-1])
    paid, told = results if number % 2 else results[::-1]
    has_moved = payer.read_moved() != {}
    assert (paid == EXECUTED) == has_moved
    assert told == (PaymentOutcome.EXECUTED if has_moved else PaymentOutcome.NEVER, None)
    assert payer.look_up(payment_id) == told


def test_a_bank_that_stands_still_while_booking_loses_its_turn(payer, monkeypatch):
    """As if its process were paused: others get their answer, and what it had begun is undone."""
    payment_id, goes_on = uuid4(), threading.Event()
    question = payer.ask_tan(make_order(), payment_id=payment_id)
    book, stands_still = demo_bank_payments._book, threading.Event()

    def pause(*facts):
        book(*facts)
        stands_still.set()
        assert goes_on.wait(60)

    monkeypatch.setattr(demo_bank_payments, "_book", pause)
    monkeypatch.setattr(demo_bank_payments, "PATIENCE", "300ms")
    with ThreadPoolExecutor(1) as pool:
        paying = pool.submit(payer.resume, question.state, Tan(Secret("24")))
        assert stands_still.wait(60)
        assert payer.look_up(payment_id) == (PaymentOutcome.NEVER, None)
        goes_on.set()
        assert paying.result() == LOST
    assert payer.look_up(payment_id) == (PaymentOutcome.NEVER, None)
    assert payer.read_moved() == {}


def test_two_payments_at_once_cannot_spend_the_same_money(payer):
    order = make_order(payer.main.balance + payer.main.overdraft_limit)
    questions = [payer.ask_tan(order) for _ in range(4)]
    steps = run_together(
        [lambda question=question: payer.resume(question.state, Tan(Secret("24"))) for question in questions]
    )
    assert sorted(step.kind if isinstance(step, Failed) else "paid" for step in steps) == [
        *[FailureKind.NO_FUNDS] * 3,
        "paid",
    ]
    assert payer.read_moved() == {payer.main.key: -order.amount}
