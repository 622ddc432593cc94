"""Payments over OAuth: the customer agrees at the bank's server, and the bank's status decides about the order."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from kontor.connectors.base import Cancel, Done, Failed, FailureKind, LookUp, NeedRedirect, Poll, Returned
from kontor.connectors.demo.memory import find_owner
from kontor.demobank.xs2a.dialects import DIALECTS
from kontor.demobank.xs2a.modes import Xs2aMode
from kontor.domain.payments import PaymentOutcome
from xs2a_dialogues import Caller, Dialogue, new_login, running_xs2a_bank
from xs2a_flows import make_pay

CLIENT = "PSDDE-BAFIN-000001"
PRODUCTS = ("sepa-credit-transfers",)
LOGIN = "test_bank_message"


@pytest.fixture(scope="module")
def bank(settings):
    with running_xs2a_bank(settings, dialect=DIALECTS["commerzbank"]) as running:
        yield running


def talk(bank, dialect="commerzbank", **facts):
    return Dialogue(bank.make_connector(dialect=dialect, client_id=CLIENT, **facts), new_login(LOGIN))


class Guard:
    """Counts how often an order was about to leave."""

    def __init__(self, allows=True):
        self.asked = 0
        self.allows = allows

    def __call__(self):
        self.asked += 1
        return self.allows


def order(bank, dialogue, job, **context):
    question = dialogue.begin(job, **context)
    assert isinstance(question, NeedRedirect), question
    return question


def read_status(bank, question, token=None):
    caller = Caller(bank.url)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    answer = caller.call("GET", question.state["resource"]["status"], **headers)
    caller.close()
    return answer


def find_paid(bank, dialogue):
    context = replace(dialogue.context, customer="")
    bookings = bank.bank.list_bookings(find_owner(dialogue.login, context), context.today)
    return [row.amount for rows in bookings.values() for row in rows]


@pytest.mark.parametrize("dialect", ["commerzbank", "comdirect", "santander"])
def test_an_order_is_authorised_at_the_banks_server_and_executed_once(settings, dialect):
    """Santander's dialect creates orders with a token of the caller."""
    with running_xs2a_bank(settings, dialect=DIALECTS[dialect]) as bank:
        dialogue = talk(bank, dialect, payment_products=PRODUCTS)
        job = make_pay(dialogue)
        guard = Guard()
        question = order(bank, dialogue, job, may_send=guard)
        assert guard.asked == 1, "the bank may execute once the customer agrees on its page"
        assert find_paid(bank, dialogue) == []
        query = bank.authorise(question.url, dialogue.login)
        done = dialogue.resume(question, Returned(query), may_send=guard)
        assert isinstance(done, Done), done
        assert done.result.outcome is PaymentOutcome.EXECUTED
        assert guard.asked == 1
        assert find_paid(bank, dialogue) == [-job.orders[0].amount]


def test_the_page_is_asked_for_this_order_alone_and_shows_it(bank):
    dialogue = talk(bank)
    job = make_pay(dialogue)
    question = order(bank, dialogue, job)
    query = {name: values[0] for name, values in parse_qs(urlsplit(question.url).query).items()}
    assert query["scope"] == f"PIS:{question.state['resource']['self'].rpartition('/')[2]}"
    assert (query["response_type"], query["code_challenge_method"], query["client_id"]) == ("code", "S256", CLIENT)
    caller = Caller(bank.url)
    page = caller.call("GET", question.url).text
    caller.close()
    assert "1,00 EUR" in page
    assert job.orders[0].iban in page


def test_an_order_that_may_not_leave_sends_nobody_to_the_page(bank):
    dialogue = talk(bank)
    assert dialogue.begin(make_pay(dialogue), may_send=Guard(allows=False)) == Failed(FailureKind.INTERNAL)
    assert find_paid(bank, dialogue) == []


def test_a_customer_who_declines_has_cancelled_and_nothing_is_paid(bank):
    dialogue = talk(bank)
    question = order(bank, dialogue, make_pay(dialogue))
    declined = bank.authorise(question.url, dialogue.login, decision="cancel")
    assert dialogue.resume(question, Returned(declined)) == Failed(FailureKind.CANCELLED)
    assert read_status(bank, question).json()["transactionStatus"] == "CANC"
    assert find_paid(bank, dialogue) == []


def test_a_return_that_says_declined_of_an_order_that_was_authorised_leaves_the_outcome_open(bank):
    """The browser's word proves nothing, and without a token the bank does not tell."""
    dialogue = talk(bank)
    question = order(bank, dialogue, make_pay(dialogue))
    bank.authorise(question.url, dialogue.login)
    asked = question.state["oauth"]
    forged = f"error=access_denied&state={asked['state']}&iss={asked['issuer']}"
    step = dialogue.resume(question, Returned(forged))
    assert isinstance(step, Failed)
    assert step.is_outcome_unknown
    assert step.state["resource"] == question.state["resource"]


@pytest.mark.parametrize("wrong", ["state", "code", "poll"])
def test_a_return_that_is_not_understood_leaves_the_outcome_open(bank, wrong):
    dialogue = talk(bank)
    question = order(bank, dialogue, make_pay(dialogue))
    query = bank.authorise(question.url, dialogue.login)
    if wrong == "state":
        query = "&".join(part for part in query.split("&") if not part.startswith("state=")) + "&state=forged"
    elif wrong == "code":
        query = query.replace("code=", "code=x")
    step = dialogue.resume(question, Poll() if wrong == "poll" else Returned(query))
    assert isinstance(step, Failed)
    assert step.is_outcome_unknown, step


def test_the_status_of_an_authorised_order_needs_the_token_of_this_order(bank):
    dialogue = talk(bank)
    first, second = (order(bank, dialogue, make_pay(dialogue)) for _ in range(2))
    for question in (first, second):
        assert read_status(bank, question).status_code == 200
        done = dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login)))
        assert isinstance(done, Done)
        assert read_status(bank, question).status_code == 401
    assert read_status(bank, first, "made-up").status_code == 401


def test_a_held_order_is_looked_up_with_its_token_and_after_its_end_with_a_new_one(settings):
    with running_xs2a_bank(settings, dialect=DIALECTS["commerzbank"], modes=[Xs2aMode.ORDER_HELD]) as bank:
        dialogue = talk(bank)
        job = make_pay(dialogue)
        question = order(bank, dialogue, job)
        held = dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login)))
        assert isinstance(held, Failed)
        assert held.is_outcome_unknown
        for _ in range(2):
            looked = dialogue.begin(LookUp(job, held.state), customer_ip=None)
            assert looked.result.outcome is PaymentOutcome.UNKNOWN
        bank.clock.move(minutes=11)
        assert isinstance(dialogue.begin(LookUp(job, held.state), customer_ip=None), Failed), "the token has ended"
        ended = held.state | {"tokens": held.state["tokens"] | {"until": 0}}
        assert dialogue.begin(LookUp(job, ended), customer_ip=None).result.outcome is PaymentOutcome.EXECUTED


def test_a_dialogue_that_is_cancelled_ends_the_order_at_the_bank(bank):
    dialogue = talk(bank)
    question = order(bank, dialogue, make_pay(dialogue))
    assert dialogue.resume(question, Cancel()) == Failed(FailureKind.CANCELLED)
    with pytest.raises(AssertionError, match="invalid_request"):
        bank.authorise(question.url, dialogue.login)
    assert find_paid(bank, dialogue) == []


def test_an_order_that_the_bank_refuses_after_the_customer_agreed_is_rejected(bank):
    dialogue = talk(bank)
    question = order(bank, dialogue, make_pay(dialogue, amount="99999999.00"))
    step = dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login)))
    assert isinstance(step, Failed)
    assert step.kind is FailureKind.NO_FUNDS
    assert not step.is_outcome_unknown


def test_without_a_client_id_no_order_is_authorised(bank):
    dialogue = Dialogue(bank.make_connector(dialect="commerzbank"), new_login(LOGIN))
    guard = Guard()
    step = dialogue.begin(make_pay(dialogue), may_send=guard)
    assert step == Failed(FailureKind.NO_SUPPORTED_METHOD, "the bank's profile has no client_id")
    assert guard.asked == 0
