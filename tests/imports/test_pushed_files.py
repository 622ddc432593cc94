"""Statement files over HTTP: into one product, of that account only, and nothing twice."""

from contextlib import closing
from http.client import HTTPConnection
from uuid import uuid4

import httpx
import pytest

from banking import ACCESSES, href, new_customer
from kontor.connectors.demo.people import person_for
from kontor.domain.products import Product, ProductCategory
from statement_files import DAY, of_another_account, pack, write, write_bank_csv, write_csv

TYPES = {"mt940": "text/plain", "camt.052": "application/xml", "camt.053": "text/xml"}


@pytest.fixture(scope="module")
def account(bank_server, shared):
    """A customer's account at the demo bank: (customer, product on the wire, product)"""
    customer = new_customer(shared)
    access = customer.add_complete(f"leer+{uuid4().hex[:8]}")
    shown = customer.products(access)[0]
    product = Product(shown["iban"], ProductCategory.CHECKING, "Konto", "", "EUR", iban=shown["iban"])
    return customer, shown, product


def make_rows(count, start=1):
    person = person_for("test_student", DAY)
    return [entry.transaction for entry in person.accounts[0].entries if not entry.transaction.is_pending][
        start : start + count
    ]


def push(customer, product, data, media_type="text/plain", **query):
    return customer.http.post(
        href(product, "get_kontoumsaetze"),
        content=data,
        params=query,
        headers=customer.headers | {"Content-Type": media_type},
    )


def test_every_format_adds_what_is_new_and_a_preview_only_tells(account):
    customer, shown, product = account
    before = len(customer.transactions(shown))
    rows = make_rows(12)
    for number, (form, media_type) in enumerate(TYPES.items()):
        data = write(form, product, rows[: 4 * (number + 1)])
        told = push(customer, shown, data, media_type, preview="true")
        assert (told.status_code, len(told.json())) == (200, 4), told.text
        assert len(customer.transactions(shown)) == before + 4 * number
        stored = push(customer, shown, data, media_type)
        assert stored.status_code == 201, stored.text
        assert stored.headers["location"] == href(shown, "get_kontoumsaetze")
        assert len(customer.transactions(shown)) == before + 4 * (number + 1)
        assert push(customer, shown, data, media_type, preview="true").json() == []


def test_csv_and_zips_are_understood(account):
    customer, shown, product = account
    before = len(customer.transactions(shown))
    data = write_csv(product, ("03.02.26", "Stadtwerke", "-45,10"), ("04.02.26", "Bäckerei", "-3,20"))
    assert push(customer, shown, data, "text/csv").status_code == 201
    zipped = pack(**{"umsaetze.csv": data, "more.sta": write("mt940", product, make_rows(2, start=40))})
    assert push(customer, shown, zipped, "application/zip").status_code == 201
    assert push(customer, shown, zipped, "application/octet-stream", preview="true").json() == []
    assert len(customer.transactions(shown)) == before + 4
    assert any("Bäckerei" in str(transaction) for transaction in customer.transactions(shown))


def test_a_push_tells_what_came_of_the_file(account):
    customer, shown, product = account
    data = write_csv(product, ("05.03.26", "Gärtnerei", "-7,10"), ("06.03.26", "Kaputt", "-8,x"))
    answer = push(customer, shown, data, "text/csv")
    assert answer.status_code == 201
    assert answer.headers["location"] == href(shown, "get_kontoumsaetze")
    (told,) = answer.json()["konten"]
    (row,) = told.pop("abgelehnt")
    assert (row["zeile"], "amount" in row["grund"]) == (3, True)
    assert told == {
        "produktId": shown["id"],
        "form": "CSV sparkasse-camt",
        "gelesen": 1,
        "neu": 1,
        "geaendert": 0,
        "bekannt": 0,
        "doubts": [],
    }
    again = push(customer, shown, data, "text/csv").json()["konten"][0]
    assert (again["neu"], again["bekannt"]) == (0, 1)


def test_balances_that_contradict_the_bookings_are_told(account):
    customer, shown, product = account
    data = write("camt.053", product, make_rows(2, start=60)).replace(b">100.00<", b">90.00<", 1)
    (told,) = push(customer, shown, data, "application/xml").json()["konten"]
    assert told["saldoAnfang"] == 90.0
    assert told["doubts"] == [{"art": "BALANCE_MISMATCH", "differenz": 10.0}]


def test_a_file_that_names_no_account_goes_into_the_product_it_is_pushed_to(account):
    customer, shown, _ = account
    before = len(customer.transactions(shown))
    data = write_bank_csv("dkb", "Töpferei", "-31,00")
    assert push(customer, shown, data, "text/csv").json()["konten"][0]["produktId"] == shown["id"]
    assert len(customer.transactions(shown)) == before + 1


def test_a_file_of_bad_rows_only_is_400_and_says_why(account):
    customer, shown, product = account
    before = len(customer.transactions(shown))
    answer = push(customer, shown, write_csv(product, ("99.99.26", "Kaputt", "-8,00")), "text/csv")
    assert (answer.status_code, "line 2" in answer.text) == (400, True)
    assert len(customer.transactions(shown)) == before


@pytest.mark.parametrize("media_type", ["application/pdf", "image/png", "multipart/form-data", ""])
def test_other_types_are_415(account, media_type):
    customer, shown, _product = account
    assert push(customer, shown, b"x", media_type).status_code == 415


def test_a_file_that_is_too_large_is_413(account):
    customer, shown, _ = account
    url = httpx.URL(href(shown, "get_kontoumsaetze"))
    with closing(HTTPConnection(url.host, url.port, timeout=30)) as connection:
        connection.putrequest("POST", url.path)
        announced = {"Content-Type": "text/plain", "Content-Length": str(1 << 40)}
        for name, value in (customer.headers | announced).items():
            connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status == 413


@pytest.mark.parametrize("data", [b"", b"<html/>", b"%PDF-1.7", b"\x00" * 1000, b"a;b;c\n1;2;3"])
def test_a_file_that_is_no_statement_is_400(account, data):
    customer, shown, _ = account
    before = len(customer.transactions(shown))
    assert push(customer, shown, data, "application/octet-stream").status_code == 400
    assert len(customer.transactions(shown)) == before


def test_a_file_of_another_account_is_400(account):
    customer, shown, product = account
    data = write("mt940", of_another_account(product), make_rows(3))
    for query in ({}, {"preview": "true"}):
        answer = push(customer, shown, data, **query)
        assert answer.status_code == 400, answer.text


def test_somebody_elses_product_does_not_exist(account, shared):
    customer, shown, product = account
    stranger = new_customer(shared)
    data = write("mt940", product, make_rows(3))
    before = len(customer.transactions(shown))
    assert push(stranger, shown, data).status_code == 404
    assert push(stranger, shown, data, preview="true").status_code == 404
    nowhere = {"relations": [{"rel": "get_kontoumsaetze", "href": f"{ACCESSES}/x/{uuid4()}/kontoumsaetze"}]}
    assert push(customer, nowhere, data).status_code == 404
    assert len(customer.transactions(shown)) == before


def test_a_preview_of_json_is_refused(account):
    customer, shown, _ = account
    answer = customer.post(href(shown, "get_kontoumsaetze") + "?preview=true", [])
    assert answer.status_code == 400
