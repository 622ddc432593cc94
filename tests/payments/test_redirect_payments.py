"""Payments of redirect tenants: a draft and 451; then what the web form does with the draft."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
from paying import BANK, CALLBACK, CUSTOMER, DETAILS, PRESENT, SAVINGS
from scripted_bank import MOCK

from kontor.domain.clocks import BERLIN
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.order_checks import OrderError
from kontor.domain.payments import Order, PayeeMatch, PayeeResult, PaymentFailure, PaymentState
from kontor.domain.redirects import FormStep, RedirectOutcome, UseCase
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.domain.secrets import Secret
from kontor.services.payments import DraftChangedError, PaymentNotOpenError
from kontor.services.sca.steps import make_answer
from kontor.services.security import hash_secret

BODY = {"instant": False, "transferDetails": DETAILS}
FREE = f"{CUSTOMER}/payment/single-transfer"
NO_MATCH = PayeeResult(PayeeMatch.NO_MATCH)


@pytest.fixture
async def visitor(environment):
    return await environment.new_payer(environment.redirecting)


async def draft(visitor, url=None, query=None, headers=None, body=BODY):
    answer = await visitor.post(url or visitor.path(), body, params=(query or {}), headers=PRESENT | (headers or {}))
    assert answer.status_code == 451, answer.text
    return answer


def id_of(answer):
    return UUID(answer.json()["transfer"]["paymentId"])


@pytest.mark.parametrize("is_free", [False, True])
async def test_either_call_answers_451_with_the_way_into_the_form(visitor, is_free):
    answer = await draft(visitor, FREE if is_free else visitor.path())
    body = answer.json()
    location = answer.headers["location"]
    assert answer.headers["cache-control"] == "no-store"
    query = parse_qs(urlsplit(location).query)
    assert (location.partition("?")[0], query["useCase"]) == (
        str(visitor.environment.http.base_url).rstrip("/") + "/customer/v2/webform",
        ["INITIATE_PAYMENT"],
    )
    relations = {relation["rel"]: relation["href"] for relation in body["relations"]}
    assert set(relations) == {"self", "get_webform"}
    assert relations["get_webform"] == location
    assert body["transfer"]["transferDetails"] == DETAILS
    assert ("product" in body["transfer"]) is not is_free
    status = (await visitor.get(relations["self"])).json()
    assert (status["messages"], status["transfer"]) == ([], body["transfer"])
    assert [relation["rel"] for relation in status["relations"]] == ["self"]


async def test_the_draft_is_bound_to_the_session(visitor):
    query = {"editableDetails": "true"} | CALLBACK
    answer = await draft(visitor, query=query, headers={"Idempotency-Key": uuid4().hex})
    (handle,) = parse_qs(urlsplit(answer.headers["location"]).query)["session"]
    rows = await visitor.environment.execute(
        "select payment_id, use_case, access_id, callback_url, customer_ip from redirect_sessions"
        " where handle_hash = %s",
        hash_secret(handle),
    )
    assert rows == [(id_of(answer), "INITIATE_PAYMENT", "", CALLBACK["callbackUrl"], "8.8.8.8")]
    stored = await visitor.environment.execute(
        "select state, is_editable, access_id from payments where id = %s", id_of(answer)
    )
    assert stored == [("DRAFT", True, visitor.access_id)]


@pytest.mark.parametrize("url", ["product", "free"])
async def test_auto_confirm_is_refused_because_no_provider_can(visitor, url):
    target = FREE if url == "free" else visitor.path()
    answer = await visitor.post(target, BODY, params={"autoConfirm": "true"} | CALLBACK, headers=PRESENT)
    assert answer.status_code == 400
    assert "autoConfirm" in answer.json()["message"]
    assert [message["code"] for message in answer.json()["messages"]] == ["BA1104"]
    assert (await visitor.post(target, BODY, params={"autoConfirm": "false"}, headers=PRESENT)).status_code == 451


async def test_the_callers_id_is_ignored(visitor):
    mine = uuid4()
    assert id_of(await draft(visitor, query={"paymentId": str(mine)})) != mine
    assert id_of(await draft(visitor, query={"paymentId": "no uuid"})) != mine


async def test_the_same_idempotency_key_is_the_same_draft(visitor):
    headers = {"Idempotency-Key": uuid4().hex}
    first, second = await draft(visitor, headers=headers), await draft(visitor, headers=headers)
    assert id_of(first) == id_of(second)
    assert first.headers["location"] != second.headers["location"]


@pytest.mark.parametrize("url", ["product", "free"])
async def test_credentials_and_the_like_are_refused(visitor, url):
    target = FREE if url == "free" else visitor.path()
    for extra in ({"provider": str(BANK)}, {"credentials": await visitor.credentials()}, {"product": "giro"}):
        answer = await visitor.post(target, BODY | extra, headers=PRESENT)
        assert answer.status_code == 400
    assert (await visitor.post(target, BODY)).status_code == 400  # nobody says whose browser it is
    bad = await visitor.post(target, BODY, params={"callbackUrl": "https://evil.example/"}, headers=PRESENT)
    assert bad.status_code == 400
    wrong = {"instant": False, "transferDetails": DETAILS | {"iban": "DE00"}}
    answer = await visitor.post(target, wrong, headers=PRESENT)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1100")


async def test_products_are_checked_before_anybody_is_sent_to_the_form(visitor):
    answer = await visitor.post(visitor.path(product=SAVINGS), BODY, headers=PRESENT)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1104")
    unknown = f"{CUSTOMER}/bankzugaenge/{visitor.access_id}/{uuid4()}/payment/single-transfer"
    assert (await visitor.post(unknown, [])).status_code == 404


async def test_the_user_comes_back_with_the_payments_id(visitor):
    answer = await draft(visitor, query=CALLBACK)
    (handle,) = parse_qs(urlsplit(answer.headers["location"]).query)["session"]
    redirects = visitor.environment.services.redirects
    cookie = await redirects.open_session(Secret(handle), None, None, is_framed=False)
    session = await redirects.find_session(cookie)
    assert (session.use_case, session.payment_id) == (UseCase.INITIATE_PAYMENT, id_of(answer))
    ended = replace(session, step=FormStep.END, outcome=RedirectOutcome.FINISHED)
    query = parse_qs(urlsplit(redirects.target(ended)).query)
    assert query == {"state": ["1"], "baReentry": ["FINISHED"], "paymentId": [str(id_of(answer))]}


async def test_a_draft_that_nobody_came_for_is_over(visitor):
    answer = await draft(visitor)
    await visitor.environment.execute("update payments set expires_at = now() where id = %s", id_of(answer))
    await visitor.environment.services.payments.recovery.recover()
    status = (await visitor.get(f"{FREE}/{id_of(answer)}")).json()
    assert [message["code"] for message in status["messages"]] == ["BA3040"]


# What the web form does


class Form:
    """The draft of a visitor, as the web form sees it."""

    def __init__(self, visitor, payment_id):
        self.visitor, self.id, self.principal = visitor, payment_id, visitor.principal
        self.drafts, self.payments = visitor.environment.services.payment_drafts, visitor.environment.services.payments

    async def start(self, **facts):
        options = {"customer_ip": "8.8.8.8", "callback_url": "https://example.com/r"}
        return await self.drafts.start(self.principal, self.id, **(options | facts))

    async def answer(self, kind, value=""):
        return await self.payments.answer(self.principal, self.id, kind, make_answer(kind, value))

    async def read(self):
        return (await self.drafts.read(self.principal, self.id)).payment

    @property
    def executions(self):
        return sum(
            count
            for key, count in self.visitor.environment.bank.executed.items()
            if UUID(key) in self.visitor.environment.bank.orders and key == str(self.bank_id)
        )

    bank_id = None


async def open_form(visitor, url=None, body=BODY, **query):
    form = Form(visitor, id_of(await draft(visitor, url, query=query, body=body)))
    form.bank_id = (await form.read()).bank_id
    return form


async def test_a_draft_with_an_account_is_started_and_paid(visitor):
    form = await open_form(visitor)
    view = await form.start()
    assert (view.payment.state, view.payment.dialogue.position.state) == (PaymentState.OPEN, ScaState.TAN)
    assert view.secrets.challenge is not None
    assert (await form.answer(AnswerKind.TAN, "12")).payment.state is PaymentState.EXECUTED
    assert form.executions == 1
    status = (await visitor.get(f"{FREE}/{form.id}")).json()
    assert status["messages"][0]["code"] == "BA1111"


async def test_a_page_that_is_sent_twice_pays_once(visitor):
    visitor.plan.way = "none"
    form = await open_form(visitor)
    views = await asyncio.gather(*[form.start() for _ in range(4)])
    assert {view.payment.state for view in views} == {PaymentState.EXECUTED}
    assert form.executions == 1
    assert (await form.start()).payment.state is PaymentState.EXECUTED


async def test_a_draft_without_an_account_needs_one_first(visitor):
    form = await open_form(visitor, FREE)
    with pytest.raises(OrderError):
        await form.start()
    with pytest.raises(OrderError):
        await form.drafts.verify(form.principal, form.id, None)
    (view,) = await form.drafts.list_products(form.principal, form.id)
    assert {stored.product.key for stored in view.products} == {"giro", "limited"}
    with pytest.raises(OrderError):
        await form.drafts.choose_product(form.principal, form.id, visitor.access_id, visitor.product(SAVINGS))
    with pytest.raises(NotFoundError):
        await form.drafts.choose_product(form.principal, form.id, visitor.access_id, uuid4())
    await form.drafts.choose_product(form.principal, form.id, visitor.access_id, visitor.product())
    await form.start()
    assert (await form.answer(AnswerKind.TAN, "12")).payment.state is PaymentState.EXECUTED


async def test_a_draft_is_paid_with_credentials_from_the_form(visitor):
    form = await open_form(visitor, FREE)
    with pytest.raises(OrderError):
        await form.drafts.choose_credentials(form.principal, form.id, BANK, {}, "giro")
    with pytest.raises(InvalidError):
        await form.drafts.choose_credentials(form.principal, form.id, uuid4(), {}, "giro")
    credentials = {"userid": Secret(visitor.login), "pin": Secret("demo")}
    await form.drafts.choose_credentials(form.principal, form.id, BANK, credentials, "DE91100000000123456789")
    assert await form.drafts.verify(form.principal, form.id, None) == (PayeeResult(PayeeMatch.MATCH),)
    await form.start()
    assert (await form.answer(AnswerKind.TAN, "12")).payment.state is PaymentState.EXECUTED
    rows = await visitor.environment.execute("select sealed, credentials from payments where id = %s", form.id)
    assert rows == [(None, None)]


async def test_details_are_changed_only_where_the_tenant_allows_it(visitor):
    order = Order("Max", "GB33BUKB20201555555555", Decimal("1.00"), purpose="neu", bic="BUKBGB22")
    facts = {"is_instant": True, "execution_date": None}
    fixed = await open_form(visitor)
    with pytest.raises(InvalidError):
        await fixed.drafts.change(fixed.principal, fixed.id, [order], **facts)
    free = await open_form(visitor, editableDetails="true")
    with pytest.raises(OrderError):
        await free.drafts.change(free.principal, free.id, [replace(order, iban="DE00")], **facts)
    with pytest.raises(OrderError):
        await free.drafts.change(free.principal, free.id, [order, order], **facts)
    past = datetime.now(BERLIN).date() - timedelta(days=2)
    with pytest.raises(OrderError):
        await free.drafts.change(free.principal, free.id, [order], is_instant=False, execution_date=past)
    await free.drafts.change(free.principal, free.id, [order], **facts)
    await free.start()
    sent = visitor.environment.bank.orders[free.bank_id]
    assert (sent.orders[0].recipient, sent.is_instant) == ("Max", True)
    with pytest.raises(PaymentNotOpenError):
        await free.drafts.change(free.principal, free.id, [order], **facts)


async def test_a_draft_that_was_changed_after_it_was_read_is_not_ordered(visitor):
    """In another tab, while the first one waits for the credentials: neither the old order nor the new one is sent."""
    form = await open_form(visitor, editableDetails="true")
    seen = await form.read()
    order = replace(seen.given[0], amount=Decimal("99.00"))
    await form.drafts.change(form.principal, form.id, [order], is_instant=False, execution_date=None)
    with pytest.raises(DraftChangedError):
        await form.payments.begin_stored(seen, form.principal, ())
    left = await form.read()
    assert (left.state, left.given[0].amount) == (PaymentState.DRAFT, Decimal("99.00"))
    assert form.bank_id not in visitor.environment.bank.orders
    await form.start()
    assert visitor.environment.bank.orders[form.bank_id].orders[0].amount == Decimal("99.00")


async def test_a_payee_that_was_accepted_before_is_accepted_in_a_step_of_its_own_where_the_bank_holds_the_order(
    visitor,
):
    """The order has passed the send guard already: going on with it must pass it anew."""
    visitor.plan.payees, visitor.plan.holds_payees, visitor.plan.guards_tan = (NO_MATCH,), True, True
    form = await open_form(visitor)
    view = await form.start(accepted_payees=(NO_MATCH,))
    assert (view.payment.state, view.payment.dialogue.is_payee_open) == (PaymentState.OPEN, True)
    await form.payments.accept_payees(form.principal, form.id)
    assert (await form.answer(AnswerKind.TAN, "12")).payment.state is PaymentState.EXECUTED
    assert form.executions == 1


async def test_the_form_verifies_the_payee_and_lets_the_user_decide(visitor):
    visitor.plan.payees = (NO_MATCH,)
    form = await open_form(visitor)
    assert await form.drafts.verify(form.principal, form.id, None) == (NO_MATCH,)
    assert (await form.read()).dialogue.payees == (NO_MATCH,)
    accepted = await form.start(accepted_payees=(NO_MATCH,))
    assert accepted.payment.dialogue.position.state is ScaState.TAN
    other = await open_form(visitor)
    stopped = await other.start(accepted_payees=(replace(NO_MATCH, match=PayeeMatch.CLOSE_MATCH),))
    assert stopped.payment.dialogue.is_payee_open, "what was accepted is not what the bank says now"
    careless = await open_form(visitor)
    stopped = await careless.start()
    assert stopped.payment.dialogue.is_payee_open
    view = await careless.payments.accept_payees(careless.principal, careless.id)
    assert view.payment.dialogue.position.state is ScaState.TAN


async def verify_before(visitor, **changes):
    body = {"transferDetails": DETAILS | changes}
    answer = await visitor.post(visitor.path("vop"), body, params={"paymentId": str(uuid4())})
    assert answer.status_code == 200, answer.text
    return answer.json()["vopId"]


async def test_a_payee_that_the_tenant_has_verified_is_not_asked_about_again(visitor):
    visitor.plan.payees = (NO_MATCH,)
    form = await open_form(visitor, body=BODY | {"vopId": await verify_before(visitor)})
    assert (await form.read()).is_payee_accepted
    view = await form.start()
    assert view.payment.dialogue.position.state is ScaState.TAN
    assert not view.payment.dialogue.is_payee_open


async def test_a_verification_of_another_payee_or_a_used_one_is_refused(visitor):
    used = await verify_before(visitor)
    await draft(visitor, body=BODY | {"vopId": used})
    other = await verify_before(visitor, recipient="Jemand anderes")
    for wrong in (used, other, str(uuid4())):
        answer = await visitor.post(visitor.path(), BODY | {"vopId": wrong}, headers=PRESENT)
        assert answer.status_code == 400
        assert "vopId" in answer.json()["message"]
        assert [message["code"] for message in answer.json()["messages"]] == ["BA1100"]


async def test_a_payee_that_the_user_has_changed_is_verified_anew(visitor):
    body = BODY | {"vopId": await verify_before(visitor)}
    form = await open_form(visitor, body=body, editableDetails="true")
    given = (await form.read()).given[0]
    facts = {"is_instant": False, "execution_date": None}
    await form.drafts.change(form.principal, form.id, [replace(given, amount=Decimal("3.00"))], **facts)
    assert (await form.read()).is_payee_accepted
    await form.drafts.change(form.principal, form.id, [replace(given, recipient="Jemand anderes")], **facts)
    assert not (await form.read()).is_payee_accepted


async def test_a_draft_can_be_cancelled(visitor):
    form = await open_form(visitor)
    view = await form.answer(AnswerKind.CANCEL)
    assert (view.payment.state, view.payment.failure) == (PaymentState.FAILED, PaymentFailure.CANCELLED)
    assert (await form.start()).payment.state is PaymentState.FAILED
    assert form.executions == 0


async def test_a_draft_is_nobody_elses(environment, visitor):
    form = await open_form(visitor)
    stranger = await environment.new_payer(environment.redirecting)
    with pytest.raises(NotFoundError):
        await form.drafts.read(stranger.principal, form.id)
    with pytest.raises(NotFoundError):
        await form.drafts.choose_product(stranger.principal, form.id, stranger.access_id, stranger.product())


async def test_steps_are_not_offered_to_a_tenant_whose_users_answer_in_the_form(visitor):
    visitor.plan.methods = (MOCK,)
    form = await open_form(visitor)
    await form.start()
    status = (await visitor.get(f"{FREE}/{form.id}")).json()
    assert [relation["rel"] for relation in status["relations"]] == ["self"]
