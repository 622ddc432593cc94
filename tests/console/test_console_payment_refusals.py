"""Orders that the API refuses or does not answer, and forms that no page of ours has."""

import base64
import json
from datetime import date
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from banking import new_customer
from console_site import ConsoleSite, read_token
from kontor.console.rendering import load_texts
from kontor.console.views import payments
from kontor.console.visits import RedirectTo
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TRANSFER
from kontor_client import ApiError
from kontor_client.errors import Message
from plain_http import plain_client

PAGE = "/console/payments"
ORDER_PATH = "/customer/v2/bankzugaenge/a/p/payment/standing-order"
PRODUCT = {
    "id": "p",
    "kategorie": "GIROKONTO",
    "relations": [
        {
            "rel": "initiate_single_transfer",
            "href": "http://kontor/customer/v2/bankzugaenge/a/p/payment/single-transfer",
        },
        {"rel": "get_standing_orders", "href": f"http://kontor{ORDER_PATH}"},
    ],
}
STANDING_ORDER = {
    "id": "s",
    "state": "ACTIVE",
    "transferDetails": {
        "recipient": "Erika Muster",
        "iban": "DE89370400440532013000",
        "purpose": "Miete",
        "amount": 50,
        "currency": "EUR",
    },
    "period": "MONTH_ONE",
    "firstExecutionDate": "2030-01-01",
    "relations": [{"rel": "delete_standing_order", "href": f"http://kontor{ORDER_PATH}/s"}],
}
FIELDS = {
    "account": "a/p",
    "recipient": "Erika Muster",
    "iban": "DE89370400440532013000",
    "bic": "COBADEFFXXX",
    "amount": "12,50",
    "purpose": "Miete",
}
ADDRESS = ApiError(400, [], text="Customer-IP-Address: expected a public address")
CALLBACK = ApiError(400, [], text="callbackUrl: is not allowed for this tenant")


class RefusingApi:
    """Knows an account with a standing order, and fails at each order and each answer."""

    def __init__(self, error: ApiError) -> None:
        self.error = error

    async def get(self, path: str, **_: Any) -> Any:
        if path.endswith("/bankzugaenge"):
            return {"a": {"id": "a", "providerId": "b", "bankprodukte": [PRODUCT]}}
        return [STANDING_ORDER]

    async def send(self, *_: Any, **__: Any) -> Any:
        raise self.error


def make_visit(error: ApiError) -> Any:
    path = {"kind": "single-transfer", "payment": "1"}
    return SimpleNamespace(
        api=RefusingApi(error),
        request=SimpleNamespace(client=SimpleNamespace(host="10.0.0.1"), headers={}),
        language="de",
        own_url="http://kontor",
        today=date(2026, 1, 1),
        path=path.__getitem__,
    )


def make_form(**fields: str) -> dict[str, list[str]]:
    return {name: [value] for name, value in (FIELDS | {"payment_id": str(uuid4())} | fields).items()}


@pytest.mark.parametrize("status", [500, 503, 504])
async def test_an_order_without_an_answer_leads_to_the_list_and_to_no_empty_form(status):
    for act in (payments.order, payments.delete):
        with pytest.raises(RedirectTo) as target:
            await act(make_visit(ApiError(status, [])), make_form(**{"order": "s"} if act is payments.delete else {}))
        assert (target.value.url, target.value.notice) == (PAGE, "payment_unclear"), act


@pytest.mark.parametrize("status", [503, 504])
async def test_an_answer_without_an_outcome_leads_back_to_the_payment(status):
    for act in (payments.answer, payments.accept_payee, payments.cancel):
        with pytest.raises(RedirectTo) as target:
            await act(make_visit(ApiError(status, [])), make_form(step="tan", answer="12"))
        assert (target.value.url, target.value.notice) == (f"{PAGE}/single-transfer/1", "payment_unclear")


@pytest.mark.parametrize(("error", "problem"), [(ADDRESS, "address"), (CALLBACK, "callback")])
async def test_what_the_user_cannot_correct_is_not_blamed_on_what_was_entered(error, problem):
    facts = await payments.order(make_visit(error), make_form())
    assert facts is not None
    assert (facts["problem"], facts["details"], facts["entered"].amount) == (problem, None, "12,50")
    with pytest.raises(RedirectTo) as target:
        await payments.delete(make_visit(error), make_form(order="s"))
    assert target.value.notice == f"payment_{problem}"


async def test_a_refusal_is_explained_in_the_words_for_the_customer():
    text = "Von diesem Konto ist keine Überweisung möglich."
    error = ApiError(400, [Message("ERROR", "BA1104", text)], text="the product cannot transfer")
    facts = await payments.order(make_visit(error), make_form())
    assert facts is not None
    assert (facts["problem"], facts["details"]) == ("refused", text)


@pytest.mark.parametrize(
    "wrong",
    [{"payment_id": ""}, {"payment_id": "ü"}, {"payment_id": "a\r\nb"}, {"kind": "gift"}, {"period": "DAILY"}],
)
def test_a_form_that_no_page_has_is_refused(console_site: ConsoleSite, wrong: dict[str, str]):
    with console_site.visit(new_customer(console_site.regulated)) as visitor:
        known = {"token": read_token(visitor.get(PAGE).text), "action": "order", "payment_id": str(uuid4())}
        assert visitor.post(f"{PAGE}/new", data=known | FIELDS | wrong).status_code == 400


def test_a_client_that_may_not_pay_is_told_so_and_offered_nothing(console_site: ConsoleSite):
    tenant = console_site.regulated
    for scope, is_allowed in ((CUSTOMER_READ, False), (f"{CUSTOMER_READ} {CUSTOMER_TRANSFER}", True)):
        session = {"token": tenant.user_token(scope), "role": "user", "name": tenant.username}
        cookie = base64.urlsafe_b64encode(json.dumps(session).encode()).decode()
        with plain_client(base_url=console_site.address, cookies={"kontor-console": cookie}) as visitor:
            answer = visitor.get(PAGE, headers={"Accept-Language": "de"})
        assert answer.status_code == 200
        assert (load_texts()["de"]("payments.not_allowed") in answer.text) is not is_allowed
