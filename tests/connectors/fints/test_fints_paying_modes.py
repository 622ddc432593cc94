"""Payments at banks that verify payees in ways of their own: paid once, or said to be unknown."""

from decimal import Decimal
from uuid import uuid4

import pytest
from fints_payer import Payer, order, overheard, tan, to

from kontor.connectors.base import (
    AcceptPayees,
    Done,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedPayeeDecision,
    NeedTan,
    Poll,
)
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.fints import paying
from kontor.demobank.fints.modes import Mode
from kontor.domain.payments import PayeeMatch, PayeeResult, PaymentOutcome
from many_examples import few_cases

SMALL = "test_bank_message"  # pays like anybody, and has few rows
MOCK = (tan("24"),)
LOGIN = (Poll(), Poll())  # the app confirms with the second status query
APP = (*LOGIN, *LOGIN)
ORDERS = frozenset(("HKCCS", "HKCCM", "HKIPZ", "HKIPM"))
THREE = (order("1.00"), order("2.00"), order("0.01"))
CLOSE = to(PayeeScenario.NAME_IS_CLOSE)
OTHER = to(PayeeScenario.NAME_IS_OTHER)
SUGGESTED = PayeeResult(PayeeMatch.CLOSE_MATCH, "Erika Maria Muster")


@pytest.fixture
def payer_at(bank_with):
    """A payer with an account of their own at a bank in these modes."""
    return lambda *modes, login=SMALL: Payer(bank_with(*modes), f"{login}+{uuid4().hex[:8]}")


def list_submissions(sent):
    return [message for message in sent if ORDERS & set(message.codes)]


def list_approvals(sent):
    return [message for message in sent if "HKVPA" in message.codes]


def pay(payer, answers, *orders, **facts):
    """Executed exactly once; returns the steps and what was said."""
    job, before = payer.make(*orders, **facts), payer.read_balance()
    with overheard() as sent:
        steps = payer.drive(job, answers)
    assert isinstance(steps[-1], Done), steps[-1]
    assert steps[-1].result.outcome is PaymentOutcome.EXECUTED
    assert before - payer.read_balance() == sum(order.amount for order in job.orders)
    return steps, sent


LATE = {
    "match": (Mode.PAYEES_LATER, SMALL, MOCK, ()),
    "bulk": (Mode.PAYEES_LATER, SMALL, MOCK, THREE),
    "no match": (Mode.PAYEES_LATER, SMALL, (AcceptPayees(), *MOCK), (OTHER,)),
    "app": (Mode.PAYEES_LATER, "test_decoupled", APP, ()),
    "close match and app": (Mode.PAYEES_LATER, "test_decoupled", (*LOGIN, AcceptPayees(), *LOGIN), (CLOSE,)),
    "held silently": (Mode.ORDER_HELD_SILENTLY, SMALL, MOCK, ()),
    "bulk held silently": (Mode.ORDER_HELD_SILENTLY, SMALL, MOCK, THREE),
}


@pytest.mark.parametrize("case", few_cases(LATE, 3))
def test_a_result_that_takes_a_while_is_asked_for_with_polling_id_and_restart_point(payer_at, case):
    mode, login, answers, orders = LATE[case]
    _, sent = pay(payer_at(mode, login=login), answers, *orders, is_bulk=len(orders) > 1)
    polls = [message.find("HKVPP") for message in sent if message.codes == ("HKVPP",)]
    assert [(bool(poll.read(2)), poll.read(4)) for poll in polls] == [(True, "vop")] * 2
    submissions = list_submissions(sent)
    assert ["HKVPA" in message.codes for message in submissions] == [False, True], "sent again with its approval only"


def test_a_close_match_in_a_report_has_the_name_that_the_bank_knows(payer_at):
    payer = payer_at(Mode.PAYEES_LATER)
    question = payer.begin(payer.make(CLOSE))
    assert isinstance(question, NeedPayeeDecision)
    assert question.results == (SUGGESTED,)
    assert question.is_held


def test_a_check_that_does_not_end_ends_the_payment_and_nothing_is_paid(payer_at, monkeypatch):
    monkeypatch.setattr(paying, "MAX_POLLS", 2)
    payer = payer_at(Mode.PAYEES_PENDING)
    job, before = payer.make(), payer.read_balance()
    with overheard() as sent:
        failed = payer.begin(job)
    assert isinstance(failed, Failed)
    # The bank has said that it releases nothing without an approval (3945).
    assert (failed.kind, failed.is_outcome_unknown) == (FailureKind.UNREACHABLE, False)
    assert len(list_submissions(sent)) == 1
    assert [message.codes for message in sent[-2:]] == [("HKVPP",)] * 2, "asked for as often as allowed"
    assert payer.read_balance() == before


def test_a_silent_check_that_does_not_end_leaves_the_outcome_unknown(payer_at, monkeypatch):
    """Without 3945 nobody has said that the order waits."""
    monkeypatch.setattr(paying, "MAX_POLLS", 2)
    payer = payer_at(Mode.PAYEES_PENDING, Mode.ORDER_HELD_SILENTLY)
    failed = payer.begin(payer.make())
    assert isinstance(failed, Failed)
    assert (failed.kind, failed.is_outcome_unknown) == (FailureKind.UNREACHABLE, True)


@pytest.mark.parametrize(
    ("login", "answers", "question"),
    [(SMALL, MOCK, NeedTan), ("test_decoupled", APP, NeedConfirmation)],
    ids=["TAN", "app"],
)
def test_a_challenge_that_comes_with_the_result_is_answered_and_the_order_not_sent_again(
    payer_at, login, answers, question
):
    steps, sent = pay(payer_at(Mode.CHALLENGE_WITH_VERDICT, login=login), answers)
    assert isinstance(steps[-2], question)
    assert len(list_submissions(sent)) == 1
    assert list_approvals(sent) == [], "the bank wants none (3091)"


def test_a_mismatch_is_shown_although_a_match_would_have_come_with_the_challenge(payer_at):
    _, sent = pay(payer_at(Mode.CHALLENGE_WITH_VERDICT), (AcceptPayees(), *MOCK), OTHER)
    assert ["HKVPA" in message.codes for message in list_submissions(sent)] == [False, True]


def test_an_order_that_is_executed_at_once_is_not_asked_about_and_not_sent_again(payer_at):
    steps, sent = pay(payer_at(Mode.APPROVAL_WAIVED), ())
    assert len(steps) == 1
    assert len(list_submissions(sent)) == 1


@pytest.mark.parametrize("login", [SMALL, "test_decoupled"])
def test_a_full_match_that_waits_for_approval_is_approved_unasked(payer_at, login):
    payer = payer_at(Mode.MATCH_HELD, Mode.APPROVAL_FIRST, login=login)
    steps, sent = pay(payer, MOCK if login == SMALL else APP)
    assert not any(isinstance(step, NeedPayeeDecision) for step in steps)
    assert ["HKVPA" in message.codes for message in list_submissions(sent)] == [False, True]


def test_an_order_that_is_only_received_is_not_reported_as_executed(payer_at):
    """Although the bank says of the payee's approval, in the same message, that it is executed (0020)."""
    payer = payer_at(Mode.ORDER_ACCEPTED)
    with overheard() as sent:
        done = payer.drive(payer.make(), MOCK)[-1]
    assert isinstance(done, Done), done
    assert sent[-2].codes == ("HKVPA", "HKTAN")
    assert {"0020", "0010"} <= set(sent[-2].answer)
    assert done.result.outcome is PaymentOutcome.ACCEPTED


def test_an_approval_precedes_its_order(payer_at):
    steps, _ = pay(payer_at(Mode.APPROVAL_FIRST), (AcceptPayees(), *MOCK), CLOSE)
    assert steps[0].results == (SUGGESTED,)


@pytest.mark.parametrize(
    ("payee", "result"), [(CLOSE, SUGGESTED), (OTHER, PayeeResult(PayeeMatch.NO_MATCH))], ids=["close", "other"]
)
def test_a_result_that_stands_in_the_report_only_is_read(payer_at, payee, result):
    steps, _ = pay(payer_at(Mode.VERDICT_IN_REPORT), (AcceptPayees(), *MOCK), payee)
    assert steps[0].results == (result,)


def test_a_match_that_stands_in_the_report_only_goes_on_unasked(payer_at):
    steps, _ = pay(payer_at(Mode.VERDICT_IN_REPORT, Mode.MATCH_HELD), MOCK)
    assert [type(step) for step in steps] == [NeedTan, Done]


@pytest.mark.parametrize(
    ("payee", "match"), [(OTHER, PayeeMatch.NO_MATCH), (CLOSE, PayeeMatch.CLOSE_MATCH)], ids=["other", "close"]
)
def test_a_report_without_rows_has_the_result_of_its_block(payer_at, payee, match):
    payer = payer_at(Mode.REPORT_WITHOUT_ROWS)
    question = payer.begin(payer.make(payee))
    assert isinstance(question, NeedPayeeDecision)
    assert [result.match for result in question.results] == [match]


def test_a_match_in_a_report_without_rows_goes_on_unasked(payer_at):
    steps, _ = pay(payer_at(Mode.REPORT_WITHOUT_ROWS, Mode.MATCH_HELD), MOCK)
    assert [type(step) for step in steps] == [NeedTan, Done]


@pytest.mark.parametrize(
    ("orders", "facts"), [((), {}), ((), {"is_instant": True}), (THREE, {"is_bulk": True})], ids=["", "instant", "bulk"]
)
def test_a_strict_bank_takes_our_document(payer_at, orders, facts):
    pay(payer_at(Mode.STRICT_DOCUMENT), MOCK, *orders, **facts)


def test_an_order_without_a_payee_check_is_refused_where_one_is_required(payer_at, monkeypatch):
    """As if the bank's parameters did not list the order. The refusal is final, in the bank's words."""
    monkeypatch.setattr(paying, "make_payee_check", lambda *arguments: None)
    payer = payer_at(Mode.STRICT_DOCUMENT)
    before = payer.read_balance()
    with overheard() as sent:
        failed = payer.begin(payer.make())
    assert isinstance(failed, Failed)
    assert (failed.kind, failed.is_outcome_unknown) == (FailureKind.REJECTED, False)
    assert failed.detail == "Namensabgleich erforderlich."
    assert len(list_submissions(sent)) == 1
    assert payer.read_balance() == before


def test_a_bulk_order_names_its_sum(payer_at):
    _, sent = pay(payer_at(Mode.SUM_REQUIRED, Mode.PAYEES_LATER), MOCK, *THREE, is_bulk=True)
    assert {message.find("HKCCM").read_amount(2) for message in list_submissions(sent)} == {Decimal("3.01")}
