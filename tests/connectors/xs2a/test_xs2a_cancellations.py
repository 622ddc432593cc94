"""Standing orders are deleted by cancellation, with the customer; what happens if something goes wrong in between."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from bad_banks import BadBank, fail, reply

from asgi_servers import serve_app
from kontor.connectors.base import (
    Cancel,
    ChooseMethod,
    Failed,
    FailureKind,
    LookUp,
    NeedConfirmation,
    NeedMethod,
    NeedTan,
    Pay,
    Poll,
    Tan,
)
from kontor.connectors.demo.people import person_for
from kontor.connectors.xs2a import Xs2aConnector, read_profile
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction
from kontor.domain.secrets import Secret
from xs2a_dialogues import TODAY, Dialogue, new_login

SCHEDULE = Schedule(Period.MONTH_ONE, TODAY + timedelta(days=20))
RIGHT = Tan(Secret("24"))
PATH = "/v1/periodic-payments/sepa-credit-transfers/7"


def make_pay(iban, action, key=None):
    order = Order("Erika Muster", "DE89370400440532013000", Decimal("5.00"), purpose="Miete")
    return Pay(uuid4(), iban, (order,), standing=StandingInstruction(action, SCHEDULE, key))


@pytest.fixture
def standing(xs2a_bank):
    """A customer with a standing order: (dialogue, job that deletes it)."""
    dialogue = Dialogue(xs2a_bank.make_connector(cancels_periodic=True), new_login("test_bank_message"))
    iban = person_for(dialogue.login, TODAY).accounts[0].product.iban
    created = dialogue.drive([RIGHT], make_pay(iban, StandingAction.CREATE))[-1].result
    return dialogue, make_pay(iban, StandingAction.DELETE, created.standing_key)


def test_a_standing_order_is_deleted_once_the_customer_has_authorised_it(standing):
    dialogue, job = standing
    asked = []
    question = dialogue.begin(job, may_send=lambda: asked.append("delete") or True)
    assert isinstance(question, NeedTan)
    assert question.is_held, "the bank has done nothing yet"
    assert dialogue.begin(LookUp(job, question.state)).result.outcome is PaymentOutcome.UNKNOWN
    done = dialogue.resume(question, RIGHT, may_send=lambda: asked.append("TAN") or True)
    assert (done.result.outcome, done.result.standing_key) == (PaymentOutcome.EXECUTED, job.standing.key)
    assert asked == ["delete", "TAN"]
    assert dialogue.begin(LookUp(job, question.state)).result.outcome is PaymentOutcome.EXECUTED
    assert dialogue.begin(job).kind is FailureKind.REJECTED, "it is gone"


def test_nothing_is_deleted_where_the_send_guard_says_no(standing):
    dialogue, job = standing
    assert dialogue.begin(job, may_send=lambda: False) == Failed(FailureKind.INTERNAL)
    question = dialogue.begin(job)
    assert dialogue.resume(question, RIGHT, may_send=lambda: False) == Failed(FailureKind.INTERNAL)
    assert dialogue.begin(LookUp(job, question.state)).result.outcome is PaymentOutcome.UNKNOWN


def test_a_wrong_tan_and_a_change_of_mind_leave_the_standing_order_as_it_is(standing):
    dialogue, job = standing
    question = dialogue.begin(job)
    assert dialogue.resume(question, Tan(Secret("7"))).kind is FailureKind.WRONG_TAN
    assert dialogue.resume(question, Cancel()) == Failed(FailureKind.CANCELLED)
    assert dialogue.begin(LookUp(job, question.state)).result.outcome is PaymentOutcome.UNKNOWN
    assert dialogue.drive([RIGHT], job)[-1].result.outcome is PaymentOutcome.EXECUTED


def test_a_choice_of_methods_is_held_too(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(cancels_periodic=True), new_login("test_sca_method"))
    iban = person_for(dialogue.login, TODAY).accounts[0].product.iban
    answers = [ChooseMethod("900"), Tan(Secret("12"))]
    key = dialogue.drive(answers, make_pay(iban, StandingAction.CREATE))[-1].result.standing_key
    question = dialogue.begin(make_pay(iban, StandingAction.DELETE, key))
    assert isinstance(question, NeedMethod)
    assert question.is_held
    done = dialogue.resume(dialogue.resume(question, answers[0]), answers[1])
    assert done.result.outcome is PaymentOutcome.EXECUTED


def test_a_deletion_that_waits_in_the_customers_app_cannot_be_taken_back(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(cancels_periodic=True), new_login("test_decoupled"))
    iban = person_for(dialogue.login, TODAY).accounts[0].product.iban
    polls = [Poll(), Poll()]
    key = dialogue.drive(polls, make_pay(iban, StandingAction.CREATE))[-1].result.standing_key
    asked = []
    question = dialogue.begin(
        make_pay(iban, StandingAction.DELETE, key), may_send=lambda: asked.append("delete") or len(asked) == 1
    )
    assert isinstance(question, NeedConfirmation)
    assert asked == ["delete"], "once for one step"
    left = dialogue.resume(question, Cancel())
    assert (left.kind, left.is_outcome_unknown) == (FailureKind.UNREACHABLE, True)
    done = dialogue.resume(dialogue.resume(question, Poll()), Poll())
    assert done.result.outcome is PaymentOutcome.EXECUTED
    assert dialogue.resume(question, Cancel()).result.outcome is PaymentOutcome.EXECUTED


# Banks that answer otherwise


def begin_at(answer, **more):
    bank = BadBank()
    bank.wrong |= {f"DELETE {PATH}": answer} | more
    with serve_app(bank) as url:
        facts = {"base_url": url, "has_periodic": True, "cancels_periodic": True}
        dialogue = Dialogue(Xs2aConnector(lambda provider: read_profile(facts, "1")), "somebody")
        return dialogue.begin(make_pay("DE89370400440532013000", StandingAction.DELETE, "7")), bank


async def cancel_at_once(scope, send):
    await reply(send, b"", 204)


def test_a_bank_that_cancels_without_the_customer_is_believed():
    step, bank = begin_at(cancel_at_once)
    assert step.result.outcome is PaymentOutcome.EXECUTED
    assert len(bank.asked) == 1


@pytest.mark.parametrize(("status", "outcome"), [("CANC", PaymentOutcome.EXECUTED), ("ACTC", PaymentOutcome.ACCEPTED)])
def test_an_answer_without_a_way_to_authorise_is_followed_by_the_status(status, outcome):
    step, _ = begin_at({"transactionStatus": "ACTC"}, **{f"GET {PATH}/status": {"transactionStatus": status}})
    assert step.result.outcome is outcome


def test_a_refusal_leaves_the_standing_order_and_a_broken_answer_its_fate_open():
    refused, _ = begin_at(fail(400, b'{"tppMessages": [{"category": "ERROR", "code": "CANCELLATION_INVALID"}]}'))
    assert (refused.kind, refused.is_outcome_unknown) == (FailureKind.REJECTED, False)
    for broken in (fail(500), b"<html>"):
        lost, _ = begin_at(broken)
        assert (lost.kind, lost.is_outcome_unknown) == (FailureKind.UNREACHABLE, True)
        assert lost.state["resource"]["status"].endswith(f"{PATH}/status")
