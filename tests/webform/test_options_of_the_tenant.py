"""What a redirect tenant asks for is passed on through the session of the web form."""

from datetime import timedelta

import pytest

from banking import ACCESSES, href, new_customer, new_id
from consenting import CALLBACK, PRESENT
from form_client import FormClient
from form_navigation import begin, offered, to_accounts, walk
from kontor.services.runtime import Clock
from tenants import create_tenant

LOGIN = "test_products+wuensche"
BACK = {"callbackUrl": CALLBACK}


@pytest.fixture(scope="module")
async def redirecting(standing_services, http):
    return await create_tenant(standing_services, http, is_regulated=False)


@pytest.fixture
def visitor(bank_server, redirecting):
    return new_customer(redirecting)


def continue_form(customer, access_id, body=None, **query):
    """Another session for the access, by its `start_sca`."""
    address = href(customer.read_access(access_id), "start_sca")
    answer = customer.post(address, {access_id: body or {}}, params=query, headers=PRESENT)
    assert answer.status_code == 451, answer.text
    return answer.headers["location"]


def add_in_form(customer, owner, access_id, location, login):
    form = FormClient(str(customer.http.base_url)).open(location)
    pages = list(walk(form, login, owner))
    accounts = offered(form)
    form.send("confirm", account=accounts).at("end")
    customer.wait_until_complete(access_id)
    return pages, accounts


def test_max_transactions_of_the_call_that_began_the_session_holds_for_all_fetches(visitor, owner):
    _, eyes = to_accounts(visitor, owner, LOGIN)
    location = continue_form(visitor, eyes.access_id, maxTransactions="none", **BACK)
    assert visitor.delete(f"{ACCESSES}/{eyes.access_id}").status_code == 200  # what was fetched before has everything
    add_in_form(visitor, owner, eyes.access_id, location, LOGIN)
    limit = str(Clock().today() - timedelta(days=92))
    product = visitor.product(eyes.access_id, "GIROKONTO")
    assert all(row["buchungsdatum"] >= limit for row in visitor.transactions(product))
    assert visitor.refresh(eyes.access_id).status_code == 201
    assert all(row["buchungsdatum"] >= limit for row in visitor.transactions(product))


def test_only_selected_products_are_offered(visitor, owner):
    access_id = new_id()
    _, accounts = add_in_form(visitor, owner, access_id, begin(visitor, access_id), LOGIN)
    assert visitor.delete(f"{ACCESSES}/{access_id}").status_code == 200
    answer = visitor.post(ACCESSES, {access_id: {"selectedBankProducts": accounts[:2]}}, headers=PRESENT)
    assert answer.status_code == 451
    _, again = add_in_form(visitor, owner, access_id, answer.headers["location"], LOGIN)
    assert again == accounts[:2]
    assert [product["id"] for product in visitor.products(access_id)] == accounts[:2]


def test_purpose_and_last_day_are_shown_before_the_choice_of_accounts_and_hold_afterwards(visitor, owner):
    access_id, last_day = new_id(), (Clock().today() + timedelta(days=40)).isoformat()
    body = {access_id: {"zweck": "Kreditantrag <b>", "nutzungBis": last_day}}
    past = visitor.post(ACCESSES, {access_id: {"nutzungBis": "2020-01-01"}}, headers=PRESENT)
    assert (past.status_code, "nutzungBis" in past.json()["message"]) == (400, True)
    answer = visitor.post(ACCESSES, body, headers=PRESENT)
    assert answer.status_code == 451
    form = FormClient(str(visitor.http.base_url)).open(answer.headers["location"])
    list(walk(form, LOGIN, owner))
    shown = form.html.partition('id="permission"')[2].partition("</dl>")[0]
    assert "Kreditantrag &lt;b&gt;" in shown
    assert "einschließlich" in shown
    assert visitor.read("/customer/v2/berechtigungen") == [], "nothing before the choice"
    form.send("confirm", account=offered(form)).at("end")
    [permission] = visitor.read("/customer/v2/berechtigungen")
    assert (permission["zweck"], permission["bis"], permission["status"]) == ("Kreditantrag <b>", last_day, "AKTIV")


def test_purpose_and_last_day_of_another_session_for_an_unfinished_access_hold(visitor, owner):
    access_id, last_day = new_id(), (Clock().today() + timedelta(days=40)).isoformat()
    list(walk(FormClient(str(visitor.http.base_url)).open(begin(visitor, access_id)), LOGIN, owner))
    url = f"{ACCESSES}/{access_id}/consent"
    past = visitor.post(url, {access_id: {"nutzungBis": "2020-01-01"}}, headers=PRESENT, params=BACK)
    assert (past.status_code, "nutzungBis" in past.json()["message"]) == (400, True)
    body = {access_id: {"zweck": "Kreditantrag", "nutzungBis": last_day}}
    answer = visitor.post(url, body, headers=PRESENT, params=BACK)
    assert answer.status_code == 451
    add_in_form(visitor, owner, access_id, answer.headers["location"], LOGIN)
    [permission] = visitor.read("/customer/v2/berechtigungen")
    assert (permission["zweck"], permission["bis"]) == ("Kreditantrag", last_day)


def test_a_form_that_is_left_leaves_no_permission(visitor, owner):
    answer = visitor.post(ACCESSES, {new_id(): {"zweck": "Umzug"}}, headers=PRESENT)
    form = FormClient(str(visitor.http.base_url)).open(answer.headers["location"])
    list(walk(form, LOGIN, owner))
    assert visitor.delete("/customer/v2/regprotect/sessions").status_code == 200
    assert visitor.delete(ACCESSES).status_code == 200
    assert visitor.read("/customer/v2/berechtigungen") == []
    assert visitor.read("/customer/v2/export")["permissions"] == []


def test_a_renewal_changes_the_selection_and_refuses_unknown_products(visitor, owner):
    access_id = new_id()
    _, accounts = add_in_form(visitor, owner, access_id, begin(visitor, access_id), LOGIN)
    url = f"{ACCESSES}/{access_id}/consent"
    unknown = visitor.post(url, {access_id: {"selectedBankProducts": [new_id()]}}, headers=PRESENT, params=BACK)
    assert unknown.status_code == 400
    chosen = visitor.post(url, {access_id: {"selectedBankProducts": accounts[:1]}}, headers=PRESENT, params=BACK)
    assert chosen.status_code == 451
    assert [product["id"] for product in visitor.products(access_id)] == accounts[:1]


@pytest.mark.parametrize(("asks", "pages"), [("false", set()), ("true", {"method"})])
def test_query_tan_settings_asks_the_user_for_the_method_again(visitor, owner, asks, pages):
    login, access_id = f"test_sca_method+{asks}", new_id()
    add_in_form(visitor, owner, access_id, begin(visitor, access_id), login)
    url = f"{ACCESSES}/{access_id}/consent"
    answer = visitor.post(url, {access_id: {}}, headers=PRESENT, params=BACK | {"queryTanSettings": asks})
    assert answer.status_code == 451
    form = FormClient(str(visitor.http.base_url)).open(answer.headers["location"])
    shown = set(walk(form, login, owner, last="end"))
    assert shown & {"method"} == pages
