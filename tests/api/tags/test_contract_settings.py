"""What customers say about a contract: `PUT …/contracts/{id}`."""

from uuid import uuid4

import pytest
from pushed_rows import RENT

from banking import narrow, new_customer
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS

CONTRACTS = "/customer/v2/ai/contracts/"
SETTABLE = {"name", "noticePeriod", "noticeDate", "minimumTermEnd"}
PROBLEM = {"Accept": "application/problem+json"}


def put(customer, contract_id, body, **facts):
    headers = customer.headers | facts.pop("headers", {})
    return customer.http.put(f"{CONTRACTS}{contract_id}", json=body, headers=headers, **facts)


def change(customer, contract_id, **body):
    answer = put(customer, contract_id, body)
    assert (answer.status_code, answer.content) == (200, b""), answer.text


def read_set(customer, **query):
    """What is set, by the id of each contract."""
    found = customer.read(CONTRACTS, params=query)
    return {
        contract["id"]: {key: value for key, value in contract["details"].items() if key in SETTABLE}
        for contract in found
    }


@pytest.fixture
def rented(account):
    for month in range(6, 12):
        account.push(RENT, batch=f"rent {month}", at=f"2026-{month:02}-02 00:00:00")
    [contract_id] = read_set(account.customer)
    return account, contract_id


def test_what_is_set_is_shown_and_null_resets_it(rented):
    account, contract_id = rented
    customer = account.customer
    assert read_set(customer) == {contract_id: {}}
    change(customer, contract_id, name="  Wohnung\tKölner Straße ", noticePeriod="P3M", minimumTermEnd="2031-05-31")
    shown = {
        "name": "Wohnung Kölner Straße",
        "noticePeriod": "P3M",
        "noticeDate": "2031-02-28",
        "minimumTermEnd": "2031-05-31",
    }
    assert read_set(customer) == {contract_id: shown}
    change(customer, contract_id, noticePeriod="P1M")
    assert read_set(customer)[contract_id] == shown | {"noticePeriod": "P1M", "noticeDate": "2031-04-30"}
    change(customer, contract_id, minimumTermEnd=None)
    assert read_set(customer)[contract_id] == {"name": "Wohnung Kölner Straße", "noticePeriod": "P1M"}
    change(customer, contract_id, name=None, noticePeriod=None)
    assert read_set(customer) == {contract_id: {}}


def test_what_is_set_stays_when_payments_come_and_a_category_is_corrected(rented):
    account, contract_id = rented
    change(account.customer, contract_id, name="Wohnung")
    account.push(RENT, batch="rent 5", at="2026-05-04 00:00:00")
    account.correct(account.list()[0], {"tags": {"systemName": "HOUSING_OTHER"}}, changeExisting="true")
    assert read_set(account.customer) == {contract_id: {"name": "Wohnung"}}


def test_an_excluded_contract_is_listed_with_excluded_alone_and_can_come_back(rented):
    account, contract_id = rented
    customer = account.customer
    assert read_set(customer, excluded="true") == {}
    change(customer, contract_id, isContract=False, name="Keine Miete")
    assert read_set(customer) == {}
    assert read_set(customer, excluded="true") == {contract_id: {"name": "Keine Miete"}}
    assert set(account.names("periods").values()) == {"IRREGULAR_UNKNOWN"}
    change(customer, contract_id, isContract=None)
    assert read_set(customer) == {contract_id: {"name": "Keine Miete"}}
    assert set(account.names("periods").values()) == {"MONTH_ONE"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "give one of name, isContract, noticePeriod, minimumTermEnd"),
        ({"noticeperiod": "P3M"}, "give one of name, isContract, noticePeriod, minimumTermEnd"),
        ({"name": " \t"}, "name: must not be empty; null resets it"),
        ({"name": "x" * 101}, "name: expected str of length <= 100"),
        ({"isContract": "no"}, "isContract: expected bool | null, got str"),
        ({"noticePeriod": "3 Monate"}, "noticePeriod: expected an ISO 8601 period of years, months, weeks and days,"
         " such as P3M, of at most ten years"),
        ({"minimumTermEnd": "31.05.2027"}, "minimumTermEnd: "),
        ({"minimumTermEnd": "9999-01-01"}, "minimumTermEnd: expected a day from 1950-01-01 to 2199-12-31"),
        ({"name": "", "noticePeriod": "P3"}, "name: must not be empty; null resets it; noticePeriod: expected an ISO"),
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused_with_all_that_is_wrong(rented, body, message):
    account, contract_id = rented
    answer = put(account.customer, contract_id, body)
    assert answer.status_code == 400
    assert message in answer.json()["message"]
    assert read_set(account.customer) == {contract_id: {}}


def test_a_problem_names_each_wrong_field(rented):
    account, contract_id = rented
    answer = put(account.customer, contract_id, {"name": "", "noticePeriod": "P3"}, headers=PROBLEM)
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/name", "/noticePeriod"]


def test_foreign_and_unknown_contracts_are_not_found_before_the_body_is_read(rented, shared):
    account, contract_id = rented
    for customer, wanted in ((new_customer(shared), contract_id), (account.customer, uuid4())):
        answer = put(customer, wanted, {"noticePeriod": "wrong"})
        assert answer.status_code == 404
        assert answer.json()["code"] == "404"


def test_the_scope_for_tags_is_needed_and_enough(rented):
    account, contract_id = rented
    assert put(narrow(account.customer, CUSTOMER_READ), contract_id, {"name": "x"}).status_code == 403
    assert put(narrow(account.customer, CUSTOMER_TAGS), contract_id, {"name": "x"}).status_code == 200


def test_the_export_shows_what_is_set(rented):
    account, contract_id = rented
    change(account.customer, contract_id, name="Wohnung", noticePeriod="P3M", minimumTermEnd="2031-05-31")
    [exported] = account.customer.read("/customer/v2/export")["contracts"]
    assert exported["id"] == contract_id
    assert len(exported["transaction_ids"]) == 6
    settings = (exported["name"], exported["is_contract"], exported["notice_period"], exported["minimum_term_end"])
    assert settings == ("Wohnung", None, "P3M", "2031-05-31")


def test_deleting_the_access_deletes_the_contract_and_what_was_said_about_it(rented):
    account, contract_id = rented
    change(account.customer, contract_id, name="Wohnung")
    account.customer.delete(f"/customer/v2/bankzugaenge/{account.access_id}")
    assert account.customer.read("/customer/v2/export")["contracts"] == []
    assert put(account.customer, contract_id, {"name": "x"}).status_code == 404
