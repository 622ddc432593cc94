"""The console's page of account statements: what the API lists, files of it, and whether a bank is asked."""

import httpx
import pytest

from banking import ACCESSES, BankCustomer, href, new_customer
from console_site import ConsoleSite, read_token
from kontor.console.accesses import read_product
from kontor.console.rendering import load_texts
from kontor.console.statements import read_years
from kontor.wire.account_statements import FORMATS, STATES

PAGE = "/console/statements"


def send(visitor: httpx.Client, action: str, access_id: str) -> httpx.Response:
    token = read_token(visitor.get("/console/accounts").text)
    return visitor.post(PAGE, data={"action": action, "token": token, "access": access_id})


@pytest.fixture(scope="module")
def reader(console_site: ConsoleSite) -> tuple[BankCustomer, str]:
    """Somebody with statements, for tests that only read."""
    customer = new_customer(console_site.regulated)
    return customer, customer.add_complete("student+console", kontoauszuege=True)


def list_statements(customer: BankCustomer, access_id: str):
    return customer.read(href(customer.product(access_id, "GIROKONTO"), "get_kontoauszuege"))


def test_statements_are_listed_by_year_and_their_files_are_those_of_the_api(console_site, reader):
    customer, access_id = reader
    product = customer.product(access_id, "GIROKONTO")
    listed = list_statements(customer, access_id)
    with console_site.visit(customer) as visitor:
        page = visitor.get(PAGE).text
        for statement in listed:
            url = f"{PAGE}/{access_id}/{product['id']}/{statement['id']}"
            assert (f'href="{url}"' in page) == (statement["status"] == "VORHANDEN")
        first = listed[0]
        file = visitor.get(f"{PAGE}/{access_id}/{product['id']}/{first['id']}")
        missing = visitor.get(f"{PAGE}/{access_id}/{product['id']}/{listed[-1]['id']}")
    expected = customer.get(f"{href(product, 'get_kontoauszuege')}/{first['id']}")
    assert file.content == expected.content
    assert file.headers["content-disposition"] == expected.headers["content-disposition"]
    assert file.headers["cache-control"] == "no-store"
    assert listed[-1]["status"] == "GELISTET"
    assert missing.status_code == 404
    assert "noch nicht verfügbar" in missing.text


def test_nobody_reads_files_of_others_or_without_signing_in(console_site, reader):
    customer, access_id = reader
    product = customer.product(access_id, "GIROKONTO")
    url = f"{PAGE}/{access_id}/{product['id']}/{list_statements(customer, access_id)[0]['id']}"
    with console_site.visit(new_customer(console_site.regulated)) as stranger:
        assert stranger.get(url).status_code == 404
        stranger.cookies.clear()
        answer = stranger.get(url)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/console/sign-in?next={PAGE}")


def test_a_bank_is_asked_on_request_and_no_longer_when_the_user_stops(console_site):
    customer = new_customer(console_site.regulated)
    access_id = customer.add_complete("student+asked")
    with console_site.visit(customer) as visitor:
        assert "nicht mehr auf Papier" in visitor.get(PAGE).text
        answer = send(visitor, "request", access_id)
        assert answer.headers["location"] == f"{PAGE}?notice=statements_requested"
        customer.wait_until_complete(access_id)
        assert customer.read_access(access_id)["kontoauszuege"] is True
        stored = list_statements(customer, access_id)
        assert any(statement["status"] == "VORHANDEN" for statement in stored)
        assert send(visitor, "stop", access_id).headers["location"] == f"{PAGE}?notice=statements_stopped"
        assert "kontoauszuege" not in customer.read_access(access_id)
        assert list_statements(customer, access_id) == stored
        assert stored[0]["id"] in visitor.get(PAGE).text


def test_who_has_to_authenticate_first_is_told_so_and_the_wish_is_kept(console_site):
    """This tenant handles credentials itself: no form of ours leads to the bank."""
    customer = new_customer(console_site.regulated)
    access_id = customer.add("test_phototan+asked")
    with console_site.visit(customer) as visitor:
        assert send(visitor, "request", access_id).headers["location"] == PAGE
        page = visitor.get(PAGE).text
    assert customer.read_access(access_id)["kontoauszuege"] is True
    assert f'href="/console/accounts#bank-{access_id}"' in page


def test_a_request_for_an_access_that_is_gone_adds_none(console_site):
    customer = new_customer(console_site.regulated)
    with console_site.visit(customer) as visitor:
        assert send(visitor, "request", "nobodys").headers["location"] == f"{PAGE}?notice=bank_gone"
        assert send(visitor, "request", "").status_code == 400
    assert customer.read(ACCESSES) == {}


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_state_and_format_has_its_words(language):
    texts = load_texts()[language].texts
    assert [
        state for state in STATES.values() if state != "VORHANDEN" and f"statements.state.{state}" not in texts
    ] == []
    assert [name for name in FORMATS.values() if f"statements.formats.{name}" not in texts] == []


def test_statements_without_numbers_and_days_are_grouped_as_far_as_they_tell():
    product = read_product("a b", {"id": "p", "kategorie": "GIROKONTO"})
    listed = [
        {"id": "1", "status": "VORHANDEN", "von": "2026-01-01", "bis": "2026-01-31"},
        {"id": "2", "status": "GELISTET", "jahr": 2025, "nummer": 12},
        {"id": "3", "status": "ZU_GROSS"},
    ]
    years = read_years(product, listed)
    assert [year.year for year in years] == [2026, 2025, None]
    assert years[0].statements[0].url == f"{PAGE}/a%20b/p/1"
    assert [year.statements[0].is_stored for year in years] == [True, False, False]
