"""Standing orders in the web form: shown with their schedule, authorised, and done once."""

from datetime import datetime, timedelta

import pytest

from banking import ACCESSES, new_customer
from consenting import new_login
from form_client import DETAILS, PRESENT, FormClient, connect_account
from kontor.domain.clocks import BERLIN
from kontor.webform.texts import load_texts, override_texts
from tenants import create_tenant

TEXTS = load_texts()


@pytest.fixture(scope="module")
async def redirecting(standing_services, http):
    return await create_tenant(standing_services, http, is_regulated=False)


@pytest.fixture(scope="module")
def payer(bank_server, redirecting):
    """A user with an account: (customer, address of its standing orders)."""
    customer = new_customer(redirecting)
    access_id = connect_account(customer, new_login("test_products"))
    product = customer.product(access_id, "GIROKONTO")
    return customer, f"{ACCESSES}/{access_id}/{product['id']}/payment/standing-order"


def make_body(**facts):
    first = datetime.now(BERLIN).date() + timedelta(days=9)
    return {"transferDetails": DETAILS, "period": "MONTH_THREE", "firstExecutionDate": str(first)} | facts


def open_form(payer, method, url, body=None, language="de"):
    customer, _ = payer
    answer = customer.http.request(method, url, json=body, headers=customer.headers | PRESENT)
    assert answer.status_code == 451, answer.text
    return FormClient(str(customer.http.base_url), language).open(answer.headers["location"])


def finish(client, texts, action):
    words = override_texts(texts, action)
    assert words("payment.title") in client.at("payment").text
    assert words("payment.pay") in client.text
    assert words("payment_steps.review") in client.text
    assert words("payment.reminder") in client.send("confirm").at("tan").text
    client.send("submit", tan="12")
    assert words("payment_end.FINISHED") in client.text
    assert client.returned()["baReentry"] == "FINISHED"


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_standing_order_is_created_changed_and_deleted(payer, language):
    customer, url = payer
    texts = TEXTS[language]
    client = open_form(payer, "POST", url, make_body(), language)
    for shown in (texts("standing_order.month_three"), DETAILS["recipient"], DETAILS["purpose"]):
        assert shown in client.text
    finish(client, texts, "create")
    order = next(found for found in customer.read(url) if found["state"] == "ACTIVE")
    last = datetime.now(BERLIN).date() + timedelta(days=400)
    client = open_form(payer, "PUT", f"{url}/{order['id']}", make_body(lastExecutionDate=str(last)), language)
    assert str(last.year) in client.text
    finish(client, texts, "change")
    assert customer.read(f"{url}/{order['id']}")["lastExecutionDate"] == str(last)
    finish(open_form(payer, "DELETE", f"{url}/{order['id']}", language=language), texts, "delete")
    assert customer.read(f"{url}/{order['id']}")["state"] == "ENDED"


def test_a_payee_who_does_not_match_is_shown_before_anything_is_set_up(bank_server, redirecting):
    customer = new_customer(redirecting)
    access_id = connect_account(customer, new_login("test_vop_nomatch"))
    product = customer.product(access_id, "GIROKONTO")
    url = f"{ACCESSES}/{access_id}/{product['id']}/payment/standing-order"
    client = open_form((customer, url), "POST", url, make_body())
    client.send("confirm").at("payees")
    assert override_texts(TEXTS["de"], "create")("payees.accept") in client.text
    assert TEXTS["de"]("payees.accept") not in client.text
    assert customer.read(url) == []
    client.send("accept").at("tan").send("submit", tan="12")
    assert client.returned()["baReentry"] == "FINISHED"
    assert [order["state"] for order in customer.read(url)] == ["ACTIVE"]


def test_a_change_to_another_name_is_warned_of_and_no_payee_counts_as_verified(bank_server, redirecting):
    customer = new_customer(redirecting)
    access_id = connect_account(customer, new_login("test_products"))
    product = customer.product(access_id, "GIROKONTO")
    url = f"{ACCESSES}/{access_id}/{product['id']}/payment/standing-order"
    client = open_form((customer, url), "POST", url, make_body())
    finish(client, TEXTS["de"], "create")
    order = next(found for found in customer.read(url) if found["state"] == "ACTIVE")
    same = open_form((customer, url), "PUT", f"{url}/{order['id']}", make_body())
    assert TEXTS["de"]("payees.matched") not in same.send("confirm").at("tan").text
    renamed = DETAILS | {"recipient": "Erik Muster"}
    client = open_form((customer, url), "PUT", f"{url}/{order['id']}", make_body(transferDetails=renamed))
    client.send("confirm").at("payees")
    assert TEXTS["de"]("payees.changed.title") in client.text
    assert order["transferDetails"]["recipient"] in client.text, client.text
    assert TEXTS["de"]("payees.matched") not in client.send("accept").at("tan").text
    assert client.send("submit", tan="12").returned()["baReentry"] == "FINISHED"
    changed = next(found for found in customer.read(url) if found["state"] == "ACTIVE")
    assert changed["transferDetails"]["recipient"] == "Erik Muster"


def test_every_period_has_a_name_in_every_language():
    for texts in TEXTS.values():
        names = ("month_one", "month_two", "month_three", "month_six", "year_one", "week_one", "week_two")
        assert len({texts(f"standing_order.{name}") for name in names}) == len(names)
