"""Paying over FinTS: approved in every way a bank knows, sent once, and known afterwards."""

from uuid import uuid4

import pytest
from fints_payer import PIN, Payer, order, overheard, tan, to

from kontor.connectors.base import (
    AcceptPayees,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Done,
    Failed,
    FailureKind,
    LookUp,
    NeedConfirmation,
    NeedPayeeDecision,
    NeedTan,
    Poll,
    Tan,
    Verified,
    VerifyPayees,
)
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.refusals import is_reference_refused
from kontor.domain.payments import PayeeMatch, PayeeResult, PaymentOutcome

SMALL = "test_bank_message"  # pays like anybody, and has few rows
MOCK = (tan("24"),)
EXECUTED = PaymentOutcome.EXECUTED
ORDERS = ("HKCCS", "HKCCM", "HKIPZ", "HKIPM")
THREE = (order("1.00"), order("2.00"), order("0.01"))
# Who must authenticate to be let in does so twice: for the dialogue, and for the order.
WAYS = {
    "mock TAN": (SMALL, MOCK, {}),
    "list TAN": ("test_sca_method", (ChooseMethod("900"), tan("12"), tan("12")), {}),
    "medium": ("test_sca_method_media", (ChooseMethod("901"), ChooseMedium("Mein Tablet"), tan("0"), tan("0")), {}),
    "decoupled": ("test_decoupled", (Poll(), Poll(), Poll(), Poll()), {}),
    "photo": ("test_phototan", (tan("8534842"), tan("8534842")), {}),
    "chip": ("test_chiptan", (tan("936086"), tan("936086")), {}),
    "instant": (SMALL, MOCK, {"is_instant": True}),
    "bulk": (SMALL, MOCK, {"is_bulk": True, "orders": THREE}),
    "instant bulk": (SMALL, MOCK, {"is_bulk": True, "is_instant": True, "orders": THREE}),
    "close match": ("test_vop_close", (AcceptPayees(), *MOCK), {}),
    "no match": ("test_vop_nomatch", (AcceptPayees(), *MOCK), {}),
    "bulk without a match": ("test_vop_nomatch", (AcceptPayees(), *MOCK), {"is_bulk": True, "orders": THREE}),
    "accepted before": ("test_vop_nomatch", MOCK, {"is_payee_accepted": True}),
}


@pytest.fixture
def pay_as(bank):
    return lambda login, **facts: Payer(bank, f"{login}+{uuid4().hex[:8]}", **facts)


@pytest.mark.parametrize("case", WAYS)
def test_an_order_is_approved_in_every_way_and_executed_once(pay_as, case):
    login, answers, facts = WAYS[case]
    payer = pay_as(login)
    job = payer.make(*facts.get("orders", ()), **{key: value for key, value in facts.items() if key != "orders"})
    before = payer.read_balance()
    with overheard() as sent:
        steps = payer.drive(job, answers)
    assert isinstance(steps[-1], Done), steps[-1]
    assert steps[-1].result.outcome is EXECUTED
    assert before - payer.read_balance() == sum(order.amount for order in job.orders)

    # Questions before the order are not held orders; those after it are.
    assert all(step.is_held for step in steps if isinstance(step, NeedTan | NeedConfirmation | NeedPayeeDecision))
    # One approval for a payee at most, and an order twice only where its payee was approved in between.
    approvals = [message for message in sent if "HKVPA" in message.codes]
    submissions = [message for message in sent if set(message.codes) & set(ORDERS)]
    assert len(approvals) == 1
    assert len(submissions) in (1, 2)
    assert len(submissions) == 1 or "HKVPA" in submissions[1].codes
    # Asked before each of them, and before each TAN and each question about the order.
    assert payer.asked >= 2

    for state in payer.states:
        assert f'"{PIN}"' not in state
        assert not [answer for answer in answers if isinstance(answer, Tan) and f'"{answer.value.reveal()}"' in state]


@pytest.mark.parametrize("case", ["mock TAN", "decoupled", "instant", "no match"])
def test_nothing_that_may_execute_leaves_without_permission(pay_as, case):
    """Neither the order nor, when permission is withdrawn later, its TAN."""
    login, answers, facts = WAYS[case]
    payer = pay_as(login, is_allowed=False)
    before = payer.read_balance()
    with overheard() as sent:
        steps = [payer.begin(payer.make(**facts))]
        for answer in answers:
            if isinstance(steps[-1], Failed):
                break
            steps.append(payer.resume(steps[-1], answer))
    assert steps[-1] == Failed(FailureKind.INTERNAL)
    assert not [message for message in sent if set(message.codes) & set(ORDERS)]
    assert payer.asked == 1

    payer.is_allowed = True
    steps = payer.drive(payer.make(**facts), answers[:-1])
    payer.is_allowed = False
    with overheard() as sent:
        assert payer.resume(steps[-1], answers[-1]) == Failed(FailureKind.INTERNAL)
    assert sent == []
    assert payer.read_balance() == before


@pytest.mark.parametrize(
    ("login", "results"),
    [
        ("test_vop_close", (PayeeResult(PayeeMatch.CLOSE_MATCH, "Erika Maria Muster"),)),
        ("test_vop_nomatch", (PayeeResult(PayeeMatch.NO_MATCH),)),
    ],
)
def test_the_customer_sees_what_the_bank_knows_about_the_payee(pay_as, login, results):
    payer = pay_as(login)
    question = payer.begin(payer.make())
    assert isinstance(question, NeedPayeeDecision)
    assert question.results == results
    before = payer.read_balance()
    assert payer.resume(question, Cancel()) == Failed(FailureKind.CANCELLED)
    assert payer.read_balance() == before


def test_of_a_bulk_each_payee_has_a_result_of_its_own(pay_as):
    payer = pay_as(SMALL)
    job = payer.make(order(), to(PayeeScenario.NAME_IS_CLOSE), to(PayeeScenario.NAME_IS_OTHER), is_bulk=True)
    question = payer.begin(job)
    assert isinstance(question, NeedPayeeDecision)
    matches = [result.match for result in question.results]
    assert matches == [PayeeMatch.MATCH, PayeeMatch.CLOSE_MATCH, PayeeMatch.NO_MATCH]
    assert question.results[1].suggested_name == "Erika Maria Muster"


def test_payees_alone_are_not_verified_over_fints(pay_as):
    payer = pay_as(SMALL)
    done = payer.begin(VerifyPayees(payer.account, (order(), order())))
    assert done == Done(Verified((PayeeResult(PayeeMatch.NOT_POSSIBLE),) * 2))


@pytest.mark.parametrize(
    ("login", "before", "right"), [(SMALL, (), "24"), ("test_chiptan", (tan("936086"),), "936086")]
)
def test_two_wrong_tans_may_be_followed_by_the_right_one(pay_as, login, before, right):
    payer = pay_as(login)
    job = payer.make()
    step = payer.drive(job, before)[-1]
    assert isinstance(step, NeedTan)
    with overheard() as sent:
        for _ in range(2):
            step = payer.resume(step, tan("7"))
            assert (step.kind, step.is_outcome_unknown) == (FailureKind.WRONG_TAN, False)
            assert step.state is not None
        done = payer.resume(step, tan(right))
    assert done.result.outcome is EXECUTED
    assert len([message for message in sent if "HKVPA" in message.codes]) == 1, "a payee is approved once"
    assert len([message for message in sent if set(message.codes) & set(ORDERS)]) == 0


def test_the_third_wrong_tan_ends_it_and_nothing_is_paid(pay_as):
    payer = pay_as(SMALL)
    job, before = payer.make(), payer.read_balance()
    step = payer.begin(job)
    for _ in range(3):
        step = payer.resume(step, tan("7"))
        assert step.kind is FailureKind.WRONG_TAN
    assert step.state is None
    assert not step.is_outcome_unknown
    assert payer.look_up(job) is PaymentOutcome.UNKNOWN
    assert payer.read_balance() == before


@pytest.mark.parametrize("text", ["", "💥", "a" * 200, "1'2+3:4?@", "\x00"])
def test_an_odd_tan_is_a_wrong_one(pay_as, text):
    payer = pay_as("test_chiptan")
    step = payer.drive(payer.make(), (tan("936086"),))[-1]
    failed = payer.resume(step, tan(text))
    assert isinstance(failed, Failed)
    assert failed.kind is FailureKind.WRONG_TAN


@pytest.mark.parametrize(
    ("login", "orders", "facts", "answers", "kind"),
    [
        ("test_failing_payment", (order(),), {}, MOCK, FailureKind.REJECTED),
        (SMALL, (to(PayeeScenario.REFUSES),), {}, MOCK, FailureKind.REJECTED),
        (SMALL, (order("99999999.00"),), {}, MOCK, FailureKind.REJECTED),
        (SMALL, (to(PayeeScenario.HAS_NO_INSTANT),), {"is_instant": True}, (), FailureKind.REJECTED),
        ("test_reference", (order(),), {}, (), FailureKind.REJECTED),
    ],
    ids=["bank refuses", "payee refuses", "no funds", "no instant", "reference account only"],
)
def test_a_refusal_is_the_banks_last_word(pay_as, login, orders, facts, answers, kind):
    payer = pay_as(login)
    job, before = payer.make(*orders, **facts), payer.read_balance()
    last = payer.drive(job, answers)[-1]
    assert isinstance(last, Failed)
    assert (last.kind, last.is_outcome_unknown) == (kind, False)
    assert last.detail
    assert is_reference_refused(last) is (login == "test_reference")
    assert payer.read_balance() == before
    assert payer.look_up(job) is PaymentOutcome.UNKNOWN


@pytest.mark.parametrize(
    ("scenario", "facts", "found"),
    [
        (PayeeScenario.DIES_AFTER_BOOKING, {}, PaymentOutcome.EXECUTED),
        (PayeeScenario.DIES_AFTER_BOOKING, {"is_instant": True}, PaymentOutcome.EXECUTED),
        (PayeeScenario.DIES_BEFORE_BOOKING, {}, PaymentOutcome.UNKNOWN),
    ],
)
def test_after_a_lost_answer_the_statement_tells_what_became_of_the_order(pay_as, scenario, facts, found):
    payer = pay_as(SMALL)
    job = payer.make(to(scenario), **facts)
    last = payer.drive(job, MOCK)[-1]
    assert isinstance(last, Failed)
    assert (last.kind, last.is_outcome_unknown) == (FailureKind.UNREACHABLE, True)
    with overheard() as sent:
        assert payer.look_up(job) is found
        assert payer.look_up(payer.make(to(scenario))) is PaymentOutcome.UNKNOWN, "another order is not this one"
    assert not [message for message in sent if set(message.codes) & set(ORDERS) or message.tan]


def test_a_bulk_is_found_again_by_its_sum(pay_as):
    payer = pay_as(SMALL)
    job = payer.make(order("1.00"), to(PayeeScenario.DIES_AFTER_BOOKING), is_bulk=True)
    last = payer.drive(job, MOCK)[-1]
    assert last.is_outcome_unknown
    assert payer.look_up(job) is PaymentOutcome.EXECUTED


def test_who_would_have_to_authenticate_is_not_bothered_by_a_look_up(pay_as):
    payer = pay_as("test_decoupled")
    with overheard() as sent:
        assert isinstance(payer.begin(LookUp(payer.make())), NeedConfirmation)
    assert sent[-1].codes == ("HKEND",)


def test_an_account_the_bank_does_not_know_pays_nothing(pay_as):
    payer = pay_as(SMALL)
    other = pay_as("test_products").make()
    failed = payer.begin(other)
    assert failed.kind is FailureKind.NOT_SUPPORTED
    assert payer.asked == 0
