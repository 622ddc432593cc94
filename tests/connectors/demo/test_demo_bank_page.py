"""The bank's own page asks for what is really confirmed: access, or a payment with payee and amount."""

from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from demo_payer import make_order

from kontor.storage.demo_bank import DemoBankMemory


@pytest.fixture
def bank(settings):
    return DemoBankMemory(settings.database_url, f"{settings.base_url}/demobank/confirm")


def show(http, page):
    return http.get(urlsplit(page).path)


def test_a_payment_is_shown_with_payee_iban_and_amount(http, bank):
    orders = [make_order("12.34", recipient="<b>Erika & Co</b> $page_id"), make_order("1.00", purpose="")]
    page = bank.open_page("https://caller.example/", orders)
    answer = show(http, page)
    assert answer.status_code == 200
    assert "Auftrag freigeben?" in answer.text
    assert "&lt;b&gt;Erika &amp; Co&lt;/b&gt; $page_id" in answer.text
    assert "<b>" not in answer.text
    assert answer.text.count(orders[0].iban) == 2
    assert "12,34 EUR" in answer.text
    assert answer.text.count("Verwendungszweck") == 1


def test_without_orders_it_is_about_access(http, bank):
    answer = show(http, bank.open_page("https://caller.example/"))
    assert "Zugriff auf Ihre Konten freigeben?" in answer.text
    assert "Überweisung" not in answer.text


@pytest.mark.parametrize("decision", ["confirm", "cancel"])
def test_a_payment_is_decided_once(http, bank, decision):
    page = bank.open_page(f"https://caller.example/{uuid4()}", [make_order()])
    assert not bank.is_page_confirmed(page)
    path = urlsplit(page).path
    assert http.post(path, data={"decision": decision}, follow_redirects=False).status_code == 303
    assert bank.is_page_confirmed(page) == (decision == "confirm")
    assert http.post(path, data={"decision": "confirm"}, follow_redirects=False).status_code == 410
    assert show(http, page).status_code == 410
