"""A bank that sends an old answer, a row or a challenge again: nothing is mixed up, counted or paid twice."""

from decimal import Decimal
from uuid import uuid4

import pytest

from kontor.connectors.base import Continue, Done, NeedTan, Paid, Pay, ProblemKind, Progress, Tan
from kontor.connectors.demo.people import person_for
from kontor.demobank.faults import Fault, FaultInjector, FaultPlan, RequestKind
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.secrets import Secret
from xs2a_dialogues import TODAY, Dialogue, new_login, running_xs2a_bank


@pytest.fixture
def faults():
    return FaultInjector()


@pytest.fixture
def dialogue(settings, faults):
    with running_xs2a_bank(settings, faults=faults) as bank:
        yield Dialogue(bank.make_connector(), new_login("test_vop_close"))


def show_headers(dialogue):
    step = dialogue.begin()
    while not isinstance(step, Progress):
        step = dialogue.resume(step, Tan(Secret("24")))
    return step


def test_rows_of_one_account_are_not_taken_for_those_of_another(dialogue, faults):
    step = show_headers(dialogue)
    first, second = (product.key for product in step.partial.products)
    requests = len(faults.visits[dialogue.login])
    plans = (FaultPlan(seed, (Fault.REPEATED_ANSWER,)) for seed in range(1000))
    faults.assign(
        dialogue.login,
        next(plan for plan in plans if not draw(plan, requests) and draw(plan, requests + 1)),
    )
    done = dialogue.resume(step, Continue())
    assert isinstance(done, Done)
    assert done.result.transactions[first]
    assert second not in done.result.transactions
    assert [(problem.kind, problem.product_key) for problem in done.result.problems] == [
        (ProblemKind.TRANSACTIONS, second)
    ]


def draw(plan, number):
    return plan.draw(number, RequestKind.STATEMENT, "xs2a")


def test_a_row_that_comes_twice_under_its_own_id_is_one_booking(dialogue, faults):
    step = show_headers(dialogue)
    right = dialogue.resume(step, Continue()).result.transactions
    faults.assign(dialogue.login, FaultPlan(1, (Fault.DUPLICATE_ROWS,), rate=1))
    assert dialogue.resume(step, Continue()).result.transactions == right


class SendGuard:
    """As the service has it: it lets an order pass once, and again after the bank has said that it holds the order."""

    def __init__(self):
        self.is_open = True

    def may_send(self):
        was_open, self.is_open = self.is_open, False
        return was_open

    def note(self, step):
        self.is_open = self.is_open or getattr(step, "is_held", False)
        return step


def test_an_order_for_which_the_bank_wants_a_second_tan_is_paid(dialogue, faults):
    guard = SendGuard()
    iban = person_for(dialogue.login, TODAY).accounts[0].product.iban
    order = Order("Erika Muster", "DE89370400440532013000", Decimal("12.34"), purpose="Rechnung 4711")
    step = dialogue.begin(Pay(uuid4(), iban, (order,)), may_send=guard.may_send)
    faults.assign(dialogue.login, FaultPlan(1, (Fault.UNEXPECTED_TAN,), rate=1))
    step = guard.note(dialogue.resume(step, Tan(Secret("24")), may_send=guard.may_send))
    assert isinstance(step, NeedTan)
    faults.assign(dialogue.login, None)
    step = dialogue.resume(step, Tan(Secret("24")), may_send=guard.may_send)
    assert isinstance(step, Done)
    assert step.result == Paid(PaymentOutcome.EXECUTED)
