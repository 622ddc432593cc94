"""Direct debits in the web form: shown with debtor, mandate and day, authorised, and collected once."""

from datetime import datetime, timedelta

import pytest

from banking import ACCESSES, new_customer
from form_client import PRESENT, FormClient, connect_account
from kontor.domain.clocks import BERLIN
from kontor.webform.texts import load_texts, override_texts
from tenants import create_tenant

TEXTS = load_texts()
DEBIT = {
    "debtor": "Erika Mustermann",
    "iban": "DE89370400440532013000",
    "amount": 12.3,
    "currency": "EUR",
    "purpose": "Beitrag 2026",
    "mandateId": "M-4711",
    "mandateDate": "2026-01-31",
    "sequenceType": "RCUR",
}


@pytest.fixture(scope="module")
async def collecting(standing_services, http):
    return await create_tenant(standing_services, http, is_regulated=False, may_collect=True)


@pytest.fixture(scope="module")
def collector(bank_server, collecting):
    """A user with an account: (customer, the account as it is shown)."""
    customer = new_customer(collecting)
    access_id = connect_account(customer, "leer+collector")
    return customer, access_id, customer.product(access_id, "GIROKONTO")


def order(collector, *debits, language="de"):
    customer, access_id, product = collector
    day = datetime.now(BERLIN).date() + timedelta(days=9)
    body = {"scheme": "CORE", "creditorId": "DE98ZZZ09999999999", "requestedCollectionDate": str(day)}
    url = f"{ACCESSES}/{access_id}/{product['id']}/payment/direct-debit"
    answer = customer.http.post(url, json=body | {"debits": list(debits)}, headers=customer.headers | PRESENT)
    assert answer.status_code == 451, answer.text
    form = FormClient(str(customer.http.base_url), language).open(answer.headers["location"])
    return form, answer.json()["transfer"]["paymentId"]


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_direct_debit_is_shown_authorised_and_accepted(collector, language):
    customer = collector[0]
    texts, words = TEXTS[language], override_texts(TEXTS[language], "debit")
    form, payment_id = order(collector, DEBIT, language=language)
    names = ("title", "recipient", "mandate", "when", "from", "pay")
    for shown in (*(words(f"payment.{name}") for name in names), "Erika Mustermann", "M-4711", "Beitrag 2026"):
        assert shown in form.at("payment").text
    assert texts("payment.recipient") not in form.text
    form.send("confirm").at("tan").send("submit", tan="12")
    assert words("payment_end.FINISHED") in form.text
    assert form.returned()["baReentry"] == "FINISHED"
    status = customer.read(f"/customer/v2/payment/direct-debit/{payment_id}")
    assert [message["code"] for message in status["messages"]] == ["BA1112"]


def test_several_direct_debits_are_shown_as_one_order_and_can_be_cancelled(collector):
    customer = collector[0]
    form, payment_id = order(collector, DEBIT, DEBIT | {"debtor": "Max Muster", "mandateId": "M-2", "amount": 1})
    for shown in (override_texts(TEXTS["de"], "debit")("payment.to_many", count=2), "13,30", "Max Muster", "M-2"):
        assert shown in form.at("payment").text
    form.send("cancel")
    status = customer.read(f"/customer/v2/payment/direct-debit/{payment_id}")
    assert [message["code"] for message in status["messages"]] == ["BA3040"]


def test_the_product_offers_direct_debits_to_the_redirect_tenant_as_well(collector):
    assert "initiate_direct_debit" in [relation["rel"] for relation in collector[2]["relations"]]
