"""`GET …/contracts/{id}/cancellation`: a PDF, for the customer's own contracts alone."""

import io
from uuid import uuid4

import pytest
from pdfminer.high_level import extract_text
from pushed_rows import RENT

from banking import narrow, new_customer
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS

CONTRACTS = "/customer/v2/ai/contracts/"


@pytest.fixture
def rented(account):
    for month in range(6, 12):
        account.push(RENT, batch=f"rent {month}", at=f"2026-{month:02}-02 00:00:00")
    [contract] = account.customer.read(CONTRACTS)
    return account.customer, contract["id"]


def ask(customer, contract_id, **query):
    return customer.get(f"{CONTRACTS}{contract_id}/cancellation", params=query)


def test_the_letter_is_a_pdf_in_the_language_asked_for(rented):
    customer, contract_id = rented
    for query, name, words in (
        ({}, "kuendigung.pdf", "Hausverwaltung Meier"),
        ({"language": "de", "date": "2031-05-31"}, "kuendigung.pdf", "31.05.2031"),
        ({"language": "en", "date": "2031-05-31"}, "cancellation.pdf", "31 May 2031"),
    ):
        answer = ask(customer, contract_id, **query)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf"), answer.text
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert answer.headers["cache-control"] == "no-store"
        assert words in extract_text(io.BytesIO(answer.content))


def test_what_the_customer_has_set_is_in_the_letter_also_of_an_excluded_contract(rented):
    customer, contract_id = rented
    ask(customer, contract_id)
    body = {"name": "Wohnung Süd", "minimumTermEnd": "2031-05-31", "isContract": False}
    customer.http.put(f"{CONTRACTS}{contract_id}", json=body, headers=customer.headers)
    text = extract_text(io.BytesIO(ask(customer, contract_id).content))
    assert "Wohnung Süd" in text
    assert "31.05.2031" in text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"date": "2020-01-01"}, "date"),
        ({"date": "31.05.2031"}, "date"),
        ({"language": "fr"}, "language"),
        ({"datum": "2031-05-31"}, "datum"),
    ],
)
def test_a_wrong_query_is_refused_by_name(rented, query, field):
    answer = ask(*rented, **query)
    assert answer.status_code == 400
    assert field in answer.json()["message"]


def test_foreign_and_unknown_contracts_are_not_found(rented, shared):
    customer, contract_id = rented
    assert ask(new_customer(shared), contract_id).status_code == 404
    assert ask(customer, uuid4()).status_code == 404


def test_the_scope_for_reading_is_needed_and_enough(rented):
    customer, contract_id = rented
    assert ask(narrow(customer, CUSTOMER_TAGS), contract_id).status_code == 403
    assert ask(narrow(customer, CUSTOMER_READ), contract_id).status_code == 200
