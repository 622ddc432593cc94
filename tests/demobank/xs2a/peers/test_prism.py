"""Prism between Kontor's connector and the demo bank: it checks every message of both against the official contract."""

from collections.abc import Iterator
from decimal import Decimal
from uuid import uuid4

import pytest
from prism import Watched, running_prism

from kontor.connectors.base import Cancel, ChooseMethod, Done, Failed, FailureKind, LookUp, Pay, Poll, Returned, Tan
from kontor.connectors.demo.people import person_for
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.secrets import Secret
from xs2a_talk import TODAY, Caller, Dialogue, Xs2aBankUnderTest, new_login

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def prism(xs2a_bank: Xs2aBankUnderTest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with running_prism(xs2a_bank.url, tmp_path_factory.mktemp("prism")) as watched:
        yield watched


@pytest.fixture(autouse=True)
def nothing_is_violated(prism: Watched) -> Iterator[None]:
    before, requests = len(prism.list_violations()), prism.count_requests()
    yield
    assert prism.list_violations()[before:] == []
    assert prism.count_requests() > requests, "nothing went through the proxy"


def tan(text: str) -> Tan:
    return Tan(Secret(text))


def talk(bank: Xs2aBankUnderTest, prism: Watched, kind: str, **profile: object) -> Dialogue:
    return Dialogue(bank.make_connector(prism.url, **profile), new_login(kind))


FLOWS = [
    ("demo1", [tan("24")]),
    ("test_sca_method", [ChooseMethod("900"), tan("12")]),
    ("test_sca_method_media", [ChooseMethod("901.1"), tan("0")]),
    ("test_phototan", [tan("8534842")]),
    ("test_chiptan", [tan("936086")]),
    ("test_decoupled", [Poll(), Poll()]),
    ("test_partial", [tan("24")]),
    ("test_product_error", [tan("24")]),
]


@pytest.mark.parametrize(("kind", "answers"), FLOWS, ids=[flow[0] for flow in FLOWS])
def test_fetching(xs2a_bank, prism, kind, answers):
    dialogue = talk(xs2a_bank, prism, kind)
    done = dialogue.drive(answers)[-1]
    assert isinstance(done, Done)
    assert isinstance(dialogue.drive([], connector_state=done.connector_state)[-1], Done)


def test_fetching_by_redirect(xs2a_bank, prism):
    dialogue = talk(xs2a_bank, prism, "test_redirect")
    question = dialogue.begin()
    query = xs2a_bank.confirm(question.url)
    progress = dialogue.resume(question, Returned(query))
    assert isinstance(dialogue.resume(progress, Returned("")), Done)


def make_pay(dialogue: Dialogue, count: int = 1, **facts: object) -> Pay:
    iban = person_for(dialogue.login, TODAY).accounts[0].product.iban
    orders = tuple(
        Order("Erika Muster", "DE89370400440532013000", Decimal("1.00"), purpose="Rechnung", purpose_code="RENT")
        for _ in range(count)
    )
    return Pay(uuid4(), iban, orders, is_bulk=count > 1, **facts)


@pytest.mark.parametrize(("kind", "answers"), FLOWS[1:6], ids=[flow[0] for flow in FLOWS[1:6]])
def test_paying(xs2a_bank, prism, kind, answers):
    dialogue = talk(xs2a_bank, prism, kind)
    job = make_pay(dialogue)
    assert dialogue.drive(answers, job)[-1].result.outcome is PaymentOutcome.EXECUTED
    assert dialogue.begin(LookUp(job)).result.outcome is PaymentOutcome.EXECUTED


@pytest.mark.parametrize(
    ("count", "facts"), [(1, {"is_instant": True}), (3, {}), (1, {"execution_date": TODAY.replace(day=30)})]
)
def test_paying_otherwise(xs2a_bank, prism, count, facts):
    dialogue = talk(xs2a_bank, prism, "test_bank_message")
    assert isinstance(dialogue.drive([tan("24")], make_pay(dialogue, count, **facts))[-1], Done)


def test_paying_by_redirect(xs2a_bank, prism):
    dialogue = talk(xs2a_bank, prism, "test_redirect")
    question = dialogue.begin(make_pay(dialogue))
    paid = dialogue.resume(question, Returned(xs2a_bank.confirm(question.url)))
    assert paid.result.outcome is PaymentOutcome.EXECUTED


def test_what_goes_wrong(xs2a_bank, prism):
    dialogue = talk(xs2a_bank, prism, "test_chiptan")
    question = dialogue.begin(make_pay(dialogue))
    assert dialogue.resume(question, tan("1")) == Failed(FailureKind.WRONG_TAN)
    assert dialogue.resume(question, Cancel()) == Failed(FailureKind.CANCELLED)
    assert dialogue.resume(question, tan("936086")).kind is FailureKind.REJECTED
    dialogue.pin = "wrong"
    assert dialogue.begin() == Failed(FailureKind.WRONG_CREDENTIALS)
    rich = make_pay(dialogue)
    rich = Pay(rich.payment_id, rich.product_key, (Order("A", "DE89370400440532013000", Decimal("99999999.00")),))
    dialogue.pin = "demo"
    assert dialogue.drive([tan("936086")], rich)[-1].kind is FailureKind.NO_FUNDS


def test_everything_else_that_the_bank_serves(xs2a_bank, prism):
    caller = Caller(prism.url, new_login("demo1"))
    caller.get_consent()
    consent = f"/v1/consents/{caller.consent}"
    for path in (consent, f"{consent}/status", f"{consent}/authorisations", "/v1/accounts?withBalance=true"):
        assert caller.call("GET", path).status_code == 200
    account = caller.call("GET", "/v1/accounts").json()["accounts"][0]
    path = f"/v1/accounts/{account['resourceId']}"
    assert caller.call("GET", path).status_code == 200
    for status in ("booked", "pending", "both", "all", "information"):
        rows = caller.call("GET", f"{path}/transactions?bookingStatus={status}&dateFrom=2026-10-01&withBalance=true")
        assert rows.status_code == 200
    booked = caller.call("GET", f"{path}/transactions?bookingStatus=booked&dateFrom=2026-10-01").json()
    number = booked["transactions"]["booked"][0]["transactionId"]
    assert caller.call("GET", f"{path}/transactions/{number}").status_code == 200
    assert caller.call("DELETE", consent).status_code == 204
    assert caller.call("GET", "/v1/accounts").status_code == 401
    caller.close()
