"""Dialogues of Kontor's connector with the demo bank that together use every message of the interface that we use.

`bank` is the demo bank, `url` where the connector finds it: its own address, or a proxy that looks at the messages.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

from kontor.connectors.base import (
    Cancel,
    ChooseMethod,
    Continue,
    Done,
    Failed,
    FailureKind,
    LookUp,
    NeedMethod,
    Pay,
    Poll,
    Returned,
    Tan,
)
from kontor.connectors.demo.people import person_for
from kontor.connectors.revocations import Revoke, Revoked
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction
from kontor.domain.secrets import Secret
from xs2a_dialogues import TODAY, Caller, Dialogue, Xs2aBankUnderTest, new_login

SHOP = "DE89370400440532013000"


def tan(text: str) -> Tan:
    return Tan(Secret(text))


ANSWERS: dict[str, list[Any]] = {
    "demo1": [tan("24")],
    "test_sca_method": [ChooseMethod("900"), tan("12")],
    "test_sca_method_media": [ChooseMethod("901.1"), tan("0")],
    "test_phototan": [tan("8534842")],
    "test_chiptan": [tan("936086")],
    "test_decoupled": [Poll(), Poll()],
    "test_partial": [tan("24")],
    "test_product_error": [tan("24")],
}
PAYERS = ("test_sca_method", "test_sca_method_media", "test_phototan", "test_chiptan", "test_decoupled")


def talk(bank: Xs2aBankUnderTest, url: str, kind: str) -> Dialogue:
    return Dialogue(bank.make_connector(url, has_card_accounts=True), new_login(kind))


def fetch(bank: Xs2aBankUnderTest, url: str, kind: str) -> None:
    dialogue = talk(bank, url, kind)
    done = dialogue.drive(ANSWERS[kind])[-1]
    assert isinstance(done, Done)
    assert isinstance(dialogue.drive([], connector_state=done.connector_state)[-1], Done)


def fetch_by_redirect(bank: Xs2aBankUnderTest, url: str) -> None:
    dialogue = talk(bank, url, "test_redirect")
    question: Any = dialogue.begin()
    progress = dialogue.resume(question, Returned(bank.confirm(question.url)))
    assert isinstance(dialogue.resume(progress, Returned("")), Done)


def revoke(bank: Xs2aBankUnderTest, url: str) -> None:
    """A consent is ended by the customer's wish; one that has ended is nothing else."""
    dialogue = talk(bank, url, "demo1")
    kept = dialogue.drive(ANSWERS["demo1"])[-1].connector_state  # type: ignore[union-attr]
    for _ in range(2):
        assert dialogue.begin(Revoke(), kept) == Done(Revoked())
    assert isinstance(dialogue.begin(connector_state=kept, customer_ip=None), NeedMethod)


def make_pay(dialogue: Dialogue, count: int = 1, amount: str = "1.00", **facts: Any) -> Pay:
    iban = person_for(dialogue.login, TODAY).accounts[0].product.iban  # type: ignore[union-attr]
    order = Order("Erika Muster", SHOP, Decimal(amount), purpose="Rechnung", purpose_code="RENT")
    return Pay(uuid4(), iban or "", (order,) * count, is_bulk=count > 1, **facts)


def pay(bank: Xs2aBankUnderTest, url: str, kind: str) -> None:
    dialogue = talk(bank, url, kind)
    job = make_pay(dialogue)
    *_, question, done = dialogue.drive(ANSWERS[kind], job)
    assert done.result.outcome is PaymentOutcome.EXECUTED  # type: ignore[union-attr]
    looked: Any = dialogue.begin(LookUp(job, question.state))  # type: ignore[union-attr]
    assert looked.result.outcome is PaymentOutcome.EXECUTED


def pay_otherwise(bank: Xs2aBankUnderTest, url: str) -> None:
    first = TODAY.replace(month=12)
    standing = [StandingInstruction(StandingAction.CREATE, Schedule(period, first)) for period in Period]
    kinds: list[tuple[int, dict[str, Any]]] = [
        (1, {"is_instant": True}),
        (3, {}),
        (1, {"execution_date": TODAY.replace(day=30)}),
        *((1, {"standing": instruction}) for instruction in standing),
    ]
    for count, facts in kinds:
        dialogue = talk(bank, url, "test_bank_message")
        assert isinstance(dialogue.drive([tan("24")], make_pay(dialogue, count, **facts))[-1], Done)


def pay_by_redirect(bank: Xs2aBankUnderTest, url: str) -> None:
    dialogue = talk(bank, url, "test_redirect")
    question: Any = dialogue.begin(make_pay(dialogue))
    paid: Any = dialogue.resume(question, Returned(bank.confirm(question.url)))
    assert paid.result.outcome is PaymentOutcome.EXECUTED


def fetch_and_pay_by_oauth(bank: Xs2aBankUnderTest, url: str) -> None:
    """At a bank whose consents and orders link to its OAuth server."""
    dialogue = Dialogue(bank.make_connector(url, client_id="PSDDE-BAFIN-000001"), new_login("test_bank_message"))
    question: Any = dialogue.begin()
    progress = dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login)))
    assert isinstance(dialogue.resume(progress, Continue()), Done)
    for decision, expected in (("confirm", Done), ("cancel", Failed)):
        question = dialogue.begin(make_pay(dialogue))
        query = bank.authorise(question.url, dialogue.login, decision=decision)
        assert isinstance(dialogue.resume(question, Returned(query)), expected)


def cancel_standing(bank: Xs2aBankUnderTest, url: str) -> None:
    """By TAN, in the app, and on the bank's page."""
    for kind in ("test_phototan", "test_decoupled", "test_redirect"):
        dialogue = Dialogue(bank.make_connector(url, cancels_periodic=True), new_login(kind))
        schedule = Schedule(Period.MONTH_ONE, TODAY.replace(month=12))
        created = _order(
            bank, dialogue, make_pay(dialogue, standing=StandingInstruction(StandingAction.CREATE, schedule))
        )
        ending = StandingInstruction(StandingAction.DELETE, schedule, created.standing_key)
        assert _order(bank, dialogue, make_pay(dialogue, standing=ending)).outcome is PaymentOutcome.EXECUTED
        path = f"/v1/periodic-payments/sepa-credit-transfers/{created.standing_key}"
        caller = Caller(url, dialogue.login)
        assert caller.call("GET", f"{path}/status").json()["transactionStatus"] == "CANC"
        assert len(caller.call("GET", f"{path}/cancellation-authorisations").json()["authorisationIds"]) == 1
        caller.close()


def _order(bank: Xs2aBankUnderTest, dialogue: Dialogue, job: Pay) -> Any:
    kind = dialogue.login.partition("+")[0]
    if kind in ANSWERS:
        return dialogue.drive(ANSWERS[kind], job)[-1].result  # type: ignore[union-attr]
    question: Any = dialogue.begin(job)
    return dialogue.resume(question, Returned(bank.confirm(question.url))).result  # type: ignore[union-attr]


def go_wrong(bank: Xs2aBankUnderTest, url: str) -> None:
    dialogue = talk(bank, url, "test_chiptan")
    question = dialogue.begin(make_pay(dialogue))
    assert dialogue.resume(question, tan("1")) == Failed(FailureKind.WRONG_TAN)
    assert dialogue.resume(question, Cancel()) == Failed(FailureKind.CANCELLED)
    assert dialogue.resume(question, tan("936086")).kind is FailureKind.REJECTED  # type: ignore[union-attr]
    dialogue.pin = "wrong"
    assert dialogue.begin() == Failed(FailureKind.WRONG_CREDENTIALS)
    dialogue.pin = "demo"
    poor = dialogue.drive([tan("936086")], make_pay(dialogue, amount="99999999.00"))[-1]
    assert poor.kind is FailureKind.NO_FUNDS  # type: ignore[union-attr]


def read_the_rest(bank: Xs2aBankUnderTest, url: str) -> None:
    """What the bank serves and the connector does not ask for."""
    caller = Caller(url, new_login("demo1"))
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
    card = caller.call("GET", "/v1/card-accounts?withBalance=true").json()["cardAccounts"][0]
    assert caller.call("GET", f"/v1/card-accounts/{card['resourceId']}").status_code == 200
    assert caller.call("DELETE", consent).status_code == 204
    assert caller.call("GET", "/v1/accounts").status_code == 401
    caller.close()


Flow = Callable[[Xs2aBankUnderTest, str], None]


def _fix(flow: Callable[..., None], kind: str) -> Flow:
    return lambda bank, url: flow(bank, url, kind)


FLOWS: dict[str, Flow] = {
    **{f"fetch {kind}": _fix(fetch, kind) for kind in ANSWERS},
    **{f"pay {kind}": _fix(pay, kind) for kind in PAYERS},
    "fetch by redirect": fetch_by_redirect,
    "pay by redirect": pay_by_redirect,
    "pay otherwise": pay_otherwise,
    "cancel": cancel_standing,
    "revoke": revoke,
    "go wrong": go_wrong,
    "read the rest": read_the_rest,
}
