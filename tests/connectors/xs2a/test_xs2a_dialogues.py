"""Dialogues with the demo bank that the contract suite does not know: what is particular to XS2A."""

import json
from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from kontor.connectors.base import (
    Cancel,
    ChooseMethod,
    Continue,
    Done,
    Failed,
    FailureKind,
    Fetch,
    LookUp,
    NeedConfirmation,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Pay,
    Poll,
    Progress,
    Returned,
    Tan,
)
from kontor.connectors.demo.people import person_for
from kontor.connectors.job_state import deserialize_job
from kontor.connectors.xs2a import Approach
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import NoResponseError
from kontor.connectors.xs2a.paying import Paying
from kontor.connectors.xs2a.rows import CHANNEL
from kontor.domain.mandates import DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction
from kontor.domain.secrets import Secret
from kontor.domain.transactions import mark_channel
from xs2a_dialogues import TODAY, Dialogue, new_login, running_xs2a_bank

BY_TAN = [Tan(Secret("24"))]


def make_pay(dialogue, amount="5.00", **facts):
    iban = person_for(dialogue.login, TODAY).accounts[0].product.iban
    order = Order("Erika Muster", "DE89370400440532013000", Decimal(amount), purpose="Rechnung 4711")
    return Pay(uuid4(), iban, (order,), **facts)


@pytest.mark.parametrize("kind", ["demo1", "familie"])
def test_everything_arrives_as_the_bank_has_it(xs2a_bank, kind):
    """Over the wire, page by page, and back: the same rows as in the bank's own books."""
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login(kind))
    *_, progress, done = dialogue.drive(BY_TAN)
    accounts = [account for account in person_for(dialogue.login, TODAY).accounts if account.product.iban]
    assert [product.key for product in progress.partial.products] == [account.product.iban for account in accounts]
    assert done.result.problems == ()
    for account, product in zip(accounts, progress.partial.products, strict=True):
        known = account.product
        assert (product.balance, product.currency) == (known.balance, known.currency)
        assert product.balances == known.balances
        assert (product.name, product.holder, product.bic) == (known.name, known.holder, known.bic)
        assert (product.account_number, product.bank_code) == (known.account_number, known.bank_code)
        assert product.can_transfer == known.can_transfer
        rows = sorted(map(repr, done.result.transactions[product.key]))
        known_rows = mark_channel([entry.transaction for entry in account.entries], CHANNEL)
        assert rows == sorted(map(repr, known_rows))


def test_a_consent_is_used_again_until_it_ends(settings):
    with running_xs2a_bank(settings) as bank:
        dialogue = Dialogue(bank.make_connector(), new_login("test_bank_message"))
        done = dialogue.drive(BY_TAN)[-1]
        assert done.result.consent_until == TODAY + timedelta(days=180)
        assert isinstance(dialogue.begin(connector_state=done.connector_state), Progress)
        bank.clock.move(days=181)
        later = TODAY + timedelta(days=181)
        assert isinstance(dialogue.begin(connector_state=done.connector_state, today=later), NeedTan)


def test_a_renewal_asks_although_the_old_consent_holds(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_bank_message"))
    done = dialogue.drive(BY_TAN)[-1]
    steps = dialogue.drive(BY_TAN, Fetch(is_renewal=True), done.connector_state)
    assert isinstance(steps[0], NeedTan)
    assert steps[-1].connector_state["consent"] != done.connector_state["consent"]


def test_a_renewal_is_still_one_in_the_state_of_the_dialogue(xs2a_bank):
    """Nobody is present: the bank is not called before the state is returned."""
    dialogue = Dialogue(xs2a_bank.make_connector("http://127.0.0.1:1"), new_login("test_bank_message"))
    renewal = Fetch(is_renewal=True)
    step = dialogue.begin(renewal, customer_ip=None)
    assert isinstance(step, NeedMethod)
    assert deserialize_job(step.state["job"]) == renewal


def test_old_bookings_are_left_out_when_the_authentication_is_not_fresh(settings):
    with running_xs2a_bank(settings) as bank:
        dialogue = Dialogue(bank.make_connector(), new_login("student"))
        done = dialogue.drive(BY_TAN)[-1]
        bank.clock.move(minutes=30)
        again = dialogue.drive([], connector_state=done.connector_state)[-1]
    assert again.result.problems == ()
    for key, rows in again.result.transactions.items():
        assert set(rows) <= set(done.result.transactions[key])
    assert sum(map(len, again.result.transactions.values())) < sum(map(len, done.result.transactions.values()))


def test_nobody_is_bothered_while_nobody_is_there(xs2a_bank):
    """A refresh at night without a consent opens nothing at the bank, and no phone rings."""
    dialogue = Dialogue(xs2a_bank.make_connector("http://127.0.0.1:1"), new_login("test_decoupled"))
    step = dialogue.begin(customer_ip=None)
    assert isinstance(step, NeedMethod)
    awake = Dialogue(xs2a_bank.make_connector(), dialogue.login)
    assert isinstance(awake.resume(step, ChooseMethod(step.methods[0].code)), NeedConfirmation)
    assert awake.resume(step, Cancel()) == Failed(FailureKind.CANCELLED)


def test_at_night_the_bank_counts_and_says_when_it_is_enough(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_bank_message"))
    done = dialogue.drive(BY_TAN)[-1]
    for _ in range(4):
        assert isinstance(dialogue.begin(connector_state=done.connector_state, customer_ip=None), Progress)
    assert dialogue.begin(connector_state=done.connector_state, customer_ip=None).kind is FailureKind.UNREACHABLE


def test_a_redirect_for_the_consent_and_back(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_redirect"))
    question = dialogue.begin()
    assert isinstance(question, NeedRedirect)
    query = xs2a_bank.confirm(question.url)
    assert isinstance(dialogue.resume(question, Returned(query)), Progress)


def test_whoever_says_no_on_the_page_has_said_no(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_redirect"))
    question = dialogue.begin()
    query = xs2a_bank.confirm(question.url, "cancel")
    assert dialogue.resume(question, Returned(query)).kind is FailureKind.CANCELLED
    assert dialogue.resume(question, Returned("result=ok&code=1")).kind is FailureKind.CANCELLED


def test_a_payment_by_redirect_is_sent_with_the_confirmation_code(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_redirect"))
    job, asked = make_pay(dialogue), []
    question = dialogue.begin(job, may_send=lambda: asked.append(1) or True)
    query = xs2a_bank.confirm(question.url)
    assert asked == []
    stopped = dialogue.resume(question, Returned(query), may_send=lambda: False)
    assert stopped == Failed(FailureKind.INTERNAL)
    paid = dialogue.resume(question, Returned(query), may_send=lambda: asked.append(1) or True)
    assert (paid.result.outcome, asked) == (PaymentOutcome.EXECUTED, [1])


def test_without_confirmation_the_send_guard_is_passed_before_the_customer_leaves(settings):
    with running_xs2a_bank(settings, confirms_redirects=False) as bank:
        dialogue = Dialogue(bank.make_connector(), new_login("test_redirect"))
        job, asked = make_pay(dialogue), []
        assert dialogue.begin(job, may_send=lambda: False) == Failed(FailureKind.INTERNAL)
        question = dialogue.begin(job, may_send=lambda: asked.append(1) or True)
        assert (type(question), asked) == (NeedRedirect, [1])
        bank.confirm(question.url)
        paid = dialogue.resume(question, Returned(""), may_send=lambda: asked.append(1) or True)
        assert (paid.result.outcome, asked) == (PaymentOutcome.EXECUTED, [1])


def test_a_payment_in_the_app_is_sent_with_the_push_and_can_be_called_back(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_decoupled"))
    job, asked = make_pay(dialogue), []
    question = dialogue.begin(job, may_send=lambda: asked.append(1) or True)
    assert (type(question), asked) == (NeedConfirmation, [1])
    assert "DE89370400440532013000" in question.challenge.instructions
    assert dialogue.resume(question, Cancel()) == Failed(FailureKind.CANCELLED)
    assert dialogue.resume(question, Poll()).kind is FailureKind.REJECTED
    assert dialogue.begin(LookUp(job, question.state)).result.outcome is PaymentOutcome.NEVER


def test_what_was_paid_cannot_be_called_back(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_decoupled"))
    steps = dialogue.drive([Poll(), Poll()], make_pay(dialogue))
    assert dialogue.resume(steps[0], Cancel()).result.outcome is PaymentOutcome.EXECUTED


@pytest.fixture
def sent(monkeypatch):
    """Methods of all requests that the connector sends."""
    methods = []
    call = Client.call

    def record(client, method, *arguments, **options):
        methods.append(method)
        return call(client, method, *arguments, **options)

    monkeypatch.setattr(Client, "call", record)
    return methods


def test_a_look_up_asks_by_the_banks_number_and_places_no_order(xs2a_bank, sent):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_bank_message"))
    job = make_pay(dialogue)
    question, done = dialogue.drive(BY_TAN, job)
    assert isinstance(done, Done)
    sent.clear()
    assert dialogue.begin(LookUp(job, question.state)).result.outcome is PaymentOutcome.EXECUTED
    assert set(sent) == {"GET"}


def test_an_order_whose_number_is_not_known_is_not_asked_about(xs2a_bank, sent):
    """Neither one that never arrived nor one whose answer was lost: placing it again might pay."""
    dialogue = Dialogue(xs2a_bank.make_connector(may_exempt_payments=True), new_login("test_bank_message"))
    assert dialogue.begin(LookUp(make_pay(dialogue))).result.outcome is PaymentOutcome.UNKNOWN
    assert sent == []


def test_a_look_up_leaves_an_order_alone_that_the_bank_has_not_decided_about(xs2a_bank, sent):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_bank_message"))
    job = make_pay(dialogue)
    question = dialogue.begin(job)
    sent.clear()
    assert dialogue.begin(LookUp(job, question.state)).result.outcome is PaymentOutcome.UNKNOWN
    assert set(sent) == {"GET"}
    assert isinstance(dialogue.resume(question, BY_TAN[0]), Done)


def test_an_unknown_outcome_comes_with_what_it_is_looked_up_by(xs2a_bank, monkeypatch):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_bank_message"))
    job = make_pay(dialogue)
    question = dialogue.begin(job)
    with monkeypatch.context() as patch:
        patch.setattr(Paying, "_conclude", lambda paying, authoriser: paying._end(NoResponseError("gone"), authoriser))
        lost = dialogue.resume(question, BY_TAN[0])
    assert lost.is_outcome_unknown
    assert dialogue.begin(LookUp(job, json.loads(json.dumps(lost.state)))).result.outcome is PaymentOutcome.EXECUTED


def test_what_the_profile_does_not_offer_is_not_tried(xs2a_bank):
    connector = xs2a_bank.make_connector(
        "http://127.0.0.1:1", has_bulk=False, payment_products=("sepa-credit-transfers",)
    )
    dialogue = Dialogue(connector, "test_bank_message")
    for facts in ({"is_instant": True}, {"is_bulk": True}):
        assert dialogue.begin(make_pay(dialogue, **facts)).kind is FailureKind.NOT_SUPPORTED


def instruct(action=StandingAction.CREATE, period=Period.MONTH_ONE, key=None, last=None):
    first = TODAY + timedelta(days=20)
    return StandingInstruction(action, Schedule(period, first, last), key)


def read_bodies(monkeypatch):
    """Addresses and bodies of orders that the connector places."""
    bodies = []
    call = Client.call

    def record(client, method, link, body=None, *arguments, **options):
        if method == "POST" and body and "debtorAccount" in body:
            bodies.append((str(link), body))
        return call(client, method, link, body, *arguments, **options)

    monkeypatch.setattr(Client, "call", record)
    return bodies


@pytest.mark.parametrize(
    ("period", "frequency", "more"),
    [
        (Period.MONTH_ONE, "Monthly", {"dayOfExecution": "3", "executionRule": "following"}),
        (Period.MONTH_TWO, "EveryTwoMonths", {"dayOfExecution": "3"}),
        (Period.MONTH_THREE, "Quarterly", {"dayOfExecution": "3"}),
        (Period.MONTH_SIX, "SemiAnnual", {"dayOfExecution": "3"}),
        (Period.YEAR_ONE, "Annual", {"dayOfExecution": "3"}),
        (Period.WEEK_ONE, "Weekly", {}),
        (Period.WEEK_TWO, "EveryTwoWeeks", {}),
    ],
)
def test_a_standing_order_is_a_periodic_payment(xs2a_bank, monkeypatch, period, frequency, more):
    bodies = read_bodies(monkeypatch)
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_bank_message"))
    job = make_pay(dialogue, standing=instruct(period=period, last=TODAY + timedelta(days=400)))
    question, done = dialogue.drive(BY_TAN, job)
    assert (done.result.outcome, done.result.standing_key) == (PaymentOutcome.EXECUTED, question.state["standing_key"])
    ((link, body),) = bodies
    assert "periodic-payments/sepa-credit-transfers" in link
    names = ("startDate", "endDate", "frequency", "dayOfExecution", "executionRule")
    assert {name: body[name] for name in names if name in body} == {
        "startDate": "2026-12-03",
        "endDate": "2027-12-18",
        "frequency": frequency,
        **more,
    }
    looked_up = dialogue.begin(LookUp(job, question.state)).result
    assert (looked_up.outcome, looked_up.standing_key) == (PaymentOutcome.EXECUTED, done.result.standing_key)


def test_a_standing_order_by_redirect_is_created_once_and_its_money_moves_on_its_days(settings):
    with running_xs2a_bank(settings) as bank:
        dialogue = Dialogue(bank.make_connector(), new_login("test_redirect"))
        question = dialogue.begin(make_pay(dialogue, standing=instruct()))
        done = dialogue.resume(question, Returned(bank.confirm(question.url)))
        assert done.result.outcome is PaymentOutcome.EXECUTED
        bank.clock.move(days=60)
        reader = Dialogue(bank.make_connector(), dialogue.login)
        later = reader.context.today + timedelta(days=60)
        asked = reader.begin(today=later)
        progress = reader.resume(asked, Returned(bank.confirm(asked.url)), today=later)
        fetched = reader.resume(progress, Continue(), today=later).result
        rows = [row for rows in fetched.transactions.values() for row in rows if "Rechnung 4711" in (row.purpose or "")]
        assert [row.amount for row in rows] == [Decimal("-5.00")] * 2
        assert fetched.standing_orders == {}


@pytest.mark.parametrize(
    ("action", "key", "cancels"),
    [
        (StandingAction.CHANGE, "1", True),
        (StandingAction.DELETE, "1", False),
        (StandingAction.DELETE, None, True),
    ],
)
def test_xs2a_changes_no_standing_order_and_deletes_none_where_the_profile_does_not_say_so(
    xs2a_bank, sent, action, key, cancels
):
    dialogue = Dialogue(xs2a_bank.make_connector(cancels_periodic=cancels), new_login("test_bank_message"))
    failed = dialogue.begin(make_pay(dialogue, standing=instruct(action, key=key)))
    assert (failed.kind, sent) == (FailureKind.NOT_SUPPORTED, [])


def test_xs2a_collects_no_direct_debits_and_no_product_offers_them(xs2a_bank, sent):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_bank_message"))
    mandate = Mandate("M-1", date(2026, 1, 31))
    debit = DebitInstruction(DebitScheme.CORE, "DE98ZZZ09999999999", SequenceType.RCUR, (mandate,))
    failed = dialogue.begin(make_pay(dialogue, debit=debit, execution_date=date(2026, 12, 1)))
    assert (failed.kind, sent) == (FailureKind.NOT_SUPPORTED, [])
    progress = next(step for step in dialogue.drive(BY_TAN) if isinstance(step, Progress))
    assert [product.debit_forms for product in progress.partial.products if product.debit_forms] == []


@pytest.mark.parametrize(
    ("has_periodic", "cancels_periodic", "actions"),
    [
        (True, False, (StandingAction.CREATE,)),
        (True, True, (StandingAction.CREATE, StandingAction.DELETE)),
        (False, True, ()),
    ],
)
def test_a_product_tells_what_the_profile_offers(xs2a_bank, has_periodic, cancels_periodic, actions):
    connector = xs2a_bank.make_connector(has_periodic=has_periodic, cancels_periodic=cancels_periodic)
    dialogue = Dialogue(connector, new_login("test_bank_message"))
    progress = next(step for step in dialogue.drive(BY_TAN) if isinstance(step, Progress))
    assert progress.partial.products[0].standing_order_actions == actions
    if not has_periodic:
        assert dialogue.begin(make_pay(dialogue, standing=instruct())).kind is FailureKind.NOT_SUPPORTED


def test_a_bank_that_may_exempt_payments_is_asked_after_the_send_guard(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(may_exempt_payments=True), new_login("test_bank_message"))
    job = make_pay(dialogue)
    assert dialogue.begin(job, may_send=lambda: False) == Failed(FailureKind.INTERNAL)
    asked = []
    question = dialogue.begin(job, may_send=lambda: asked.append(1) or True)
    paid = dialogue.resume(question, BY_TAN[0], may_send=lambda: asked.append(1) or True)
    assert (paid.result.outcome, asked) == (PaymentOutcome.EXECUTED, [1])


def test_three_wrong_tans_are_the_end(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(), new_login("test_chiptan"))
    question = dialogue.begin()
    assert question.challenge.hhd_uc
    wrong = Tan(Secret("111"))
    assert [dialogue.resume(question, wrong).kind for _ in range(3)] == [FailureKind.WRONG_TAN] * 3
    assert dialogue.resume(question, Tan(Secret("936086"))).kind is FailureKind.REJECTED


def test_no_secret_is_kept(xs2a_bank):
    login = new_login("test_sca_method")
    dialogue = Dialogue(xs2a_bank.make_connector(preferred_approach=Approach.EMBEDDED), login, pin="test_sca_method")
    code, tan = ChooseMethod("900"), Tan(Secret("12"))
    kept = [
        json.dumps(getattr(step, "state", None) or getattr(step, "connector_state", None))
        for job in (Fetch(), make_pay(dialogue))
        for step in dialogue.drive([code, tan], job)
    ]
    assert len(kept) > 5
    assert not any('"test_sca_method"' in text or '"12"' in text for text in kept)


def test_lists_are_asked_for_where_the_bank_wants_them(xs2a_bank):
    dialogue = Dialogue(xs2a_bank.make_connector(consents_to_lists=True), new_login("test_bank_message"))
    progress = dialogue.resume(dialogue.begin(), BY_TAN[0])
    assert len(progress.partial.products) == 2
    assert isinstance(dialogue.resume(progress, Continue()), Done)
