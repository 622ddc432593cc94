"""The page of permissions: what the API says of each, a withdrawal after a question, and the receipt."""

import html

import pytest

from banking import new_customer
from console_site import read_token

PAGE, PERMISSIONS = "/console/permissions", "/customer/v2/berechtigungen"


@pytest.fixture
def customer(console_site):
    return new_customer(console_site.regulated)


@pytest.fixture
def browser(console_site, customer):
    with console_site.visit(customer) as browser:
        yield browser


def text_of(answer):
    assert answer.status_code == 200, answer.text
    return html.unescape(answer.text).replace("\N{NO-BREAK SPACE}", " ")


def withdraw(browser, permission_id):
    token = read_token(browser.get(PAGE).text)
    return browser.post(PAGE, data={"action": "withdraw", "token": token, "permission": permission_id})


def test_the_page_shows_bank_purpose_accounts_way_and_caller(browser, customer):
    assert "Zurzeit darf niemand Ihre Konten abrufen." in text_of(browser.get(PAGE))
    customer.add_complete("demo1", zweck="Haushaltsbuch <für zwei>")
    page = text_of(browser.get(PAGE))
    [permission] = customer.read(PERMISSIONS)
    for shown in ("Demo-Bank", "Haushaltsbuch <für zwei>", "Girokonto", "aktiv", *permission["aufrufer"]):
        assert shown in page, shown
    assert "<für" not in browser.get(PAGE).text


def test_a_withdrawal_is_asked_about_and_leads_to_the_receipt(browser, customer):
    customer.add_complete("leer")
    [permission] = customer.read(PERMISSIONS)
    asked = text_of(browser.get(f"{PAGE}?withdraw={permission['id']}"))
    assert 'id="withdraw-now"' in asked
    assert customer.read(PERMISSIONS)[0]["status"] == "AKTIV"
    answer = withdraw(browser, permission["id"])
    assert answer.headers["location"] == f"{PAGE}/{permission['id']}?notice=permission_withdrawn"
    [ended] = customer.read(PERMISSIONS)
    receipt = text_of(browser.get(f"{PAGE}/{permission['id']}"))
    assert ended["pruefsumme"] in receipt
    assert "widerrufen" in receipt
    page = text_of(browser.get(f"{PAGE}?withdraw={permission['id']}"))
    assert f'href="{PAGE}/{permission["id"]}"' in page
    assert 'id="withdraw-now"' not in page, "it has ended"


def test_imported_files_are_named_as_such_and_an_open_permission_has_no_receipt_yet(browser, customer):
    headers = customer.headers | {"Content-Type": "text/csv"}
    table = b"Datum;Wert;Text\n01.10.2026;-5,00;Markt\n"
    columns = {"Datum": "buchungsdatum", "Wert": "betrag", "Text": "verwendungszweck"}
    form = {
        "name": "f",
        "kennzeichen": ["Datum"],
        "datumsformat": "dd.mm.yyyy",
        "dezimalzeichen": ",",
        "spalten": columns,
    }
    assert customer.post("/customer/v2/imports/forms", form).status_code == 201
    answer = customer.http.post("/customer/v2/imports?form=f", content=table, headers=headers)
    assert answer.status_code == 201, answer.text
    [permission] = customer.read(PERMISSIONS)
    assert "Importierte Dateien" in text_of(browser.get(PAGE))
    assert "besteht noch" in text_of(browser.get(f"{PAGE}/{permission['id']}"))


def test_nobody_withdraws_or_sees_what_belongs_to_another_customer(browser, customer, console_site):
    other = new_customer(console_site.regulated)
    other.add_complete("leer")
    [permission] = other.read(PERMISSIONS)
    assert browser.get(f"{PAGE}/{permission['id']}").status_code == 404
    assert withdraw(browser, permission["id"]).status_code == 404
    assert other.read(PERMISSIONS)[0]["status"] == "AKTIV"
