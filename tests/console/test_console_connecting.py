"""Connecting a bank on the console's pages, other credentials for one, and consents that end."""

import html
import re
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import httpx
import psycopg
import pytest

from banking import ACCESSES, DEMO_BANK, BankCustomer, new_customer, new_id
from consenting import decide_at_bank
from console_site import ConsoleSite, read_token
from form_client import FormClient, connect_account
from kontor.console.banks import mark_ending, read_bank
from kontor.console.connecting import read_health
from kontor.console.rendering import load_texts

ACCOUNTS, CONNECT = "/console/accounts", "/console/connect"
PUBLIC = {"X-Forwarded-For": "8.8.8.8"}


def send(visitor: httpx.Client, page: str, action: str, **fields: str) -> httpx.Response:
    token = read_token(visitor.get(ACCOUNTS).text)
    return visitor.post(page, data={"action": action, "token": token} | fields)


def log_in(visitor: httpx.Client, page: str, login: str, pin: str, **fields: str) -> httpx.Response:
    """The page's own form, filled in."""
    found = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.partition('id="login"')[2]))
    return visitor.post(CONNECT, data=found | {"field-userid": login, "field-pin": pin} | fields)


def new_login() -> str:
    return f"demo1+{new_id()[:8]}"


@pytest.fixture
def customer(console_site: ConsoleSite) -> BankCustomer:
    return new_customer(console_site.regulated)


# By value


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [
        (None, None),
        ({"fetches": 0}, None),
        ({"fetches": 9, "successRate": 0.1}, None),
        ({"fetches": 10, "successRate": 0.8}, None),
        ({"fetches": 10, "successRate": 0.79}, "disturbed"),
        ({"fetches": 100, "successRate": 1.0, "downSince": "2026-11-18T10:00:00"}, "down"),
    ],
)
def test_a_bank_is_disturbed_when_many_fetches_failed_and_down_since_a_time(statistics, expected):
    found = read_health(statistics)
    assert (None if found is None else found.kind) == expected
    if expected == "down":
        assert found.since.hour == 10
    if expected == "disturbed":
        assert found.rate == Decimal("0.79")


def test_a_consent_that_ends_soon_is_named_ending_and_the_bank_stays_connected():
    said = {"level": "INFO", "code": "BA3000", "message": "…"}
    relations = [{"rel": "start_sca", "href": "https://kontor.example/customer/v2/bankzugaenge/a/consent"}]
    access = {"id": "a", "status": "VOLLSTAENDIG", "sync": True, "messages": [said], "relations": relations}
    bank = read_bank(access, {}, None)
    alert = {
        "art": "CONSENT_ENDS",
        "text": "Endet bald.",
        "objekt": {"rel": "bankzugang", "href": "https://kontor.example/customer/v2/bankzugaenge/a"},
    }
    assert bank.state == "authenticate"
    assert mark_ending([bank], []) == [bank]
    (ending,) = mark_ending([bank], [alert])
    assert (ending.state, ending.ending, ending.is_connected) == ("ending", "Endet bald.", True)


# Pages


def test_a_tenant_that_may_handle_credentials_gets_a_form_and_its_user_a_connected_bank(console_site, customer):
    with console_site.visit(customer) as visitor:
        assert send(visitor, ACCOUNTS, "connect").headers["location"] == CONNECT
        found = visitor.get(CONNECT, params={"q": "demo"}).text
        assert f"{CONNECT}?provider={DEMO_BANK}" in html.unescape(found)
        assert 'id="own-banks"' not in found
        page = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
        assert 'id="safe"' in page
        answer = log_in(visitor, page, new_login(), "demo")
        assert answer.headers["location"] == f"{ACCOUNTS}?notice=bank_added", answer.text
        assert "Ihre Banken" in visitor.get(CONNECT).text
    (access,) = customer.read(ACCESSES).values()
    assert access["providerId"] == DEMO_BANK


def test_the_state_of_a_bank_is_told_in_the_results_of_the_search_and_before_the_login(console_site, customer, owner):
    owner.execute("insert into provider_outages values (%s, 9, now() - interval '1 hour', now())", [DEMO_BANK])
    try:
        with console_site.visit(customer) as visitor:
            found = visitor.get(CONNECT, params={"q": "demo-bank"}).text
            login = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
    finally:
        owner.execute("delete from provider_outages where provider_id = %s", [DEMO_BANK])
    assert f'<span class="badge">{load_texts()["de"]("connect.down_badge")}</span>' in found
    assert 'data-health="down"' in login


def test_a_wrong_pin_keeps_the_user_name_and_the_next_try_is_about_the_same_access(console_site, customer):
    login = new_login()
    with console_site.visit(customer) as visitor:
        page = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
        refused = log_in(visitor, page, login, "wrong")
        assert refused.status_code == 422
        assert load_texts()["de"]("connect.refusal.wrong") in html.unescape(refused.text)
        assert f'value="{login}"' in refused.text
        assert "wrong" not in re.findall(r'type="password" value="([^"]*)"', refused.text)
        answer = log_in(visitor, refused.text, login, "demo")
        assert answer.headers["location"] == f"{ACCOUNTS}?notice=bank_added"
    assert len(customer.read(ACCESSES)) == 1


def test_no_password_stands_in_the_calls_behind_a_page(console_site, customer):
    with console_site.visit(customer) as visitor:
        page = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
        refused = log_in(visitor, page, new_login(), "verysecretpin")
    assert "/customer/v2/bankzugaenge" in refused.text
    assert "verysecretpin" not in refused.text
    assert "dmVyeXNlY3JldHBpbg" not in refused.text, "nor in Base64"


def test_what_is_missing_is_said_before_the_bank_is_asked(console_site, customer):
    with console_site.visit(customer) as visitor:
        page = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
        refused = log_in(visitor, page, "", "demo")
    assert refused.status_code == 422
    assert 'id="problem-userid"' in refused.text
    assert customer.read(ACCESSES) == {}


def test_a_changed_pin_replaces_the_credentials_and_keeps_the_access(console_site, customer):
    login = new_login()
    access_id = customer.add(login, pin="wrong")
    with console_site.visit(customer) as visitor:
        shown = visitor.get(ACCOUNTS).text
        assert "Zugangsdaten ändern" in shown
        assert "Haben Sie Ihre PIN geändert?" in shown
        target = send(visitor, ACCOUNTS, "change", access=access_id).headers["location"]
        assert target == f"{CONNECT}?access={access_id}"
        page = visitor.get(target).text
        answer = log_in(visitor, page, login, "demo")
        assert answer.headers["location"] == f"{ACCOUNTS}?notice=bank_added", answer.text
    assert list(customer.read(ACCESSES)) == [access_id]
    customer.wait_until_complete(access_id)


@pytest.mark.parametrize(
    ("login", "answers"),
    [
        ("test_sca_method_media", [("method", "901"), ("medium", "Mein Tablet"), ("tan", "4711112")]),
        ("test_phototan", [("tan", "8534842")]),
        ("test_decoupled", [("app", ""), ("app", "")]),
    ],
)
def test_the_banks_questions_are_answered_on_a_page_of_the_console(console_site, customer, login, answers):
    with console_site.visit(customer) as visitor:
        visitor.headers.update(PUBLIC)
        page = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
        place = log_in(visitor, page, login, "demo").headers["location"]
        for step, value in answers:
            page = visitor.get(place).text
            assert f'id="step-{step}"' in page
            assert ("same-phone" in page) == (login == "test_phototan")
            answer = send(visitor, place, "answer", step=step, answer=value)
            assert answer.headers["location"] == place
        done = visitor.get(place)
    assert done.headers["location"] == f"{ACCOUNTS}?notice=bank_added"


def test_who_comes_back_from_the_banks_own_page_is_recognised(console_site, customer, owner: psycopg.Connection):
    with console_site.visit(customer) as visitor:
        visitor.headers.update(PUBLIC)
        page = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
        place = log_in(visitor, page, "test_redirect", "demo").headers["location"]
        asked = re.search(r'id="to-bank" href="([^"]*)"', visitor.get(place).text)
        assert asked is not None
        back = visitor.get(decide_at_bank(owner, html.unescape(asked[1])))
        assert back.headers["location"] == place
        assert visitor.get(place).headers["location"] == f"{ACCOUNTS}?notice=bank_added"


def test_who_cancels_or_enters_no_tan_changes_nothing_at_the_bank(console_site, customer):
    with console_site.visit(customer) as visitor:
        visitor.headers.update(PUBLIC)
        page = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
        place = log_in(visitor, page, "test_phototan", "demo").headers["location"]
        assert send(visitor, place, "answer", step="tan", answer=" ").status_code == 422
        assert send(visitor, place, "cancel").headers["location"] == f"{ACCOUNTS}?notice=bank_cancelled"
        assert 'id="failed"' in visitor.get(place).text


def test_somebody_elses_access_cannot_be_given_other_credentials(console_site, customer):
    with console_site.visit(customer) as visitor:
        answer = visitor.get(CONNECT, params={"access": console_site.access_id})
        assert answer.headers["location"] == f"{ACCOUNTS}?notice=bank_gone"
        unknown = visitor.get(CONNECT, params={"provider": new_id()})
        assert unknown.headers["location"] == f"{CONNECT}?notice=bank_unknown"


def test_two_accesses_to_one_bank_show_their_holders(console_site):
    products = console_site.rich.products(console_site.access_id)
    named = ", ".join(dict.fromkeys(product["inhaber"] for product in products))
    with console_site.visit() as visitor:
        page = html.unescape(visitor.get(ACCOUNTS).text)
    assert named
    assert f'<p class="small holder">{named}</p>' in page


def test_a_consent_is_renewed_early_by_one_press(console_site, customer, owner: psycopg.Connection):
    access_id = customer.add_complete(new_login())
    owner.execute("update accesses set consent_until = current_date + 5 where id = %s", [access_id])
    with console_site.visit(customer) as visitor:
        visitor.headers.update(PUBLIC)
        page = visitor.get(ACCOUNTS).text
        assert 'class="renew"' in page
        answer = send(visitor, ACCOUNTS, "renew", access=access_id)
        assert answer.headers["location"] == f"{ACCOUNTS}?notice=bank_added"


def test_a_bank_that_does_not_answer_says_since_when(console_site, customer, owner: psycopg.Connection):
    owner.execute(
        "insert into provider_outages values (%s, 9, now() - interval '1 hour', now())",
        [DEMO_BANK],
    )
    try:
        with console_site.visit(customer) as visitor:
            page = visitor.get(CONNECT, params={"provider": DEMO_BANK}).text
    finally:
        owner.execute("delete from provider_outages where provider_id = %s", [DEMO_BANK])
    assert 'data-health="down"' in page
    assert "antwortet seit" in page


def test_a_redirect_tenants_user_changes_credentials_in_the_web_form(console_site):
    customer = new_customer(console_site.redirecting)
    login = new_login()
    access_id = connect_account(customer, login)
    with console_site.visit(customer) as visitor:
        visitor.headers.update(PUBLIC)
        target = send(visitor, ACCOUNTS, "change", access=access_id).headers["location"]
    query = dict(parse_qsl(urlsplit(target).query))
    assert query["useCase"] == "AUTHENTICATE_ACCOUNT"
    assert FormClient(console_site.address).http.get(target).status_code == 200


# For what, and until when


def test_purpose_and_last_day_are_optional_and_shown_with_the_permission(console_site, customer):
    last = (date.today() + timedelta(days=30)).isoformat()  # noqa: DTZ011 (a day ahead of any time zone's today)
    with console_site.visit(customer) as visitor:
        page = html.unescape(visitor.get(f"{CONNECT}?provider={DEMO_BANK}").text)
        assert all(word in page for word in ('name="purpose"', 'name="until"', "Zweck (optional)"))
        for purpose, until in (("", ""), (" \t ", " "), ("Haushaltsbuch <für zwei>", last)):
            page = visitor.get(f"{CONNECT}?provider={DEMO_BANK}").text
            answer = log_in(visitor, page, f"leer+{new_id()[:8]}", "demo", purpose=purpose, until=until)
            assert answer.status_code == 303, answer.text
        permissions = customer.read("/customer/v2/berechtigungen")
        assert sorted(permission.get("zweck", "") for permission in permissions) == ["", "", "Haushaltsbuch <für zwei>"]
        assert [permission["bis"] for permission in permissions if "zweck" in permission] == [last]
        shown = html.unescape(visitor.get("/console/permissions").text)
        assert "Haushaltsbuch <für zwei>" in shown


@pytest.mark.parametrize("until", ["2020-01-01", "gestern", "0000-00-00"])
def test_a_last_day_that_is_over_is_told_and_the_bank_not_asked(console_site, customer, until):
    with console_site.visit(customer) as visitor:
        page = visitor.get(f"{CONNECT}?provider={DEMO_BANK}").text
        answer = log_in(visitor, page, "leer", "demo", purpose="Haushaltsbuch", until=until)
        text = html.unescape(answer.text)
        assert "Bitte wählen Sie bei „Nutzen bis (optional)“ einen Tag ab heute." in text
        assert 'value="Haushaltsbuch"' in text
        assert customer.read(ACCESSES) == {}


def test_other_credentials_for_a_bank_ask_nothing_about_the_permission(console_site, customer):
    access_id = customer.add_complete("leer", zweck="Haushaltsbuch")
    with console_site.visit(customer) as visitor:
        page = visitor.get(f"{CONNECT}?access={access_id}").text
        assert 'name="purpose"' not in page
        log_in(visitor, page, "leer", "demo", purpose="anderes", until="2020-01-01")
        [permission] = customer.read("/customer/v2/berechtigungen")
        assert permission["zweck"] == "Haushaltsbuch"
