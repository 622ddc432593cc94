"""What every page of the web form says at its foot, how it ends, and what it keeps for whoever mistypes."""

import re
from html import unescape

import httpx
import psycopg
import pytest

from banking import ACCESSES, DEMO_BANK, BankCustomer, new_customer, new_id
from consenting import PRESENT
from form_client import FormClient, connect_account, order_payment
from kontor.domain.errors import InvalidError
from kontor.domain.redirects import Branding
from kontor.services.bundle import Services
from kontor.services.identity.branding import BrandingChange, merge_notes
from kontor.webform.rendering import make_foot
from kontor.webform.texts import load_texts
from tenants import TenantUnderTest, create_tenant

GERMAN = load_texts()["de"]


@pytest.fixture
async def tenant(services: Services, http: httpx.Client) -> TenantUnderTest:
    return await create_tenant(services, http, is_regulated=False)


@pytest.fixture
def customer(tenant: TenantUnderTest) -> BankCustomer:
    return new_customer(tenant)


def start(customer: BankCustomer, access_id: str | None = None) -> FormClient:
    answer = customer.post(ACCESSES, {access_id or new_id(): {}})
    assert answer.status_code == 451, answer.text
    return FormClient(str(customer.http.base_url)).open(answer.headers["location"])


def renew(customer: BankCustomer, access_id: str) -> FormClient:
    answer = customer.post(f"{ACCESSES}/{access_id}/consent", {}, headers=PRESENT)
    assert answer.status_code == 451, answer.text
    return FormClient(str(customer.http.base_url)).open(answer.headers["location"])


def new_login(name: str = "test_products") -> str:
    return f"{name}+{new_id()[:8]}"


# Foot


def test_a_tenants_own_notes_stand_at_the_foot():
    change = BrandingChange(imprint_url="https://a.example/i", privacy_url="https://a.example/p", licence=" BaFin 1 ")
    branding = Branding("x", notes=tuple(merge_notes(change, {}).items()))
    foot = make_foot(branding, GERMAN, is_demo=False)
    assert foot["links"] == [("imprint", "https://a.example/i"), ("privacy", "https://a.example/p")]
    assert foot["licence"] == "BaFin 1"


def test_kontor_has_a_privacy_notice_and_the_demo_all_three():
    plain = make_foot(Branding("x"), GERMAN, is_demo=False)
    assert plain == {"links": [("privacy", "/customer/v2/webform/privacy")], "licence": None}
    demo = make_foot(Branding("x"), GERMAN, is_demo=True)
    assert [name for name, _ in demo["links"]] == ["imprint", "privacy"]
    assert demo["licence"]


def test_an_empty_text_removes_a_note_and_no_text_keeps_it():
    before = {"imprint": "https://a.example/i", "licence": "L"}
    assert merge_notes(BrandingChange(), before) == before
    assert merge_notes(BrandingChange(imprint_url="", licence=""), before) == {}


@pytest.mark.parametrize(
    "url", ["http://a.example", "javascript:alert(1)", "a.example", "https://", "https://u@a.example"]
)
def test_other_addresses_than_https_are_refused(url):
    with pytest.raises(InvalidError, match="--imprint-url"):
        merge_notes(BrandingChange(imprint_url=url), {})


async def test_links_at_the_foot_open_beside_the_session(services: Services, customer: BankCustomer):
    change = BrandingChange(imprint_url="https://a.example/i", licence="Register 4711", colours={"primary": "#005ea8"})
    stored = await services.tenant_administration.change_branding(customer.tenant.name, change)
    assert stored.colours == (("primary", "#005ea8"),)
    form = start(customer)
    links = re.findall(r'<a href="([^"]*)" target="_blank" rel="noopener" id="foot-(\w+)"', form.html)
    assert links == [("https://a.example/i", "imprint"), ("/customer/v2/webform/privacy", "privacy")]
    assert "Register 4711" in form.html
    page = form.http.get("/customer/v2/webform/privacy")
    assert page.status_code == 200
    assert customer.tenant.name in page.text
    assert form.reload().page == "legal", "the session goes on"


def test_the_privacy_notice_can_be_read_without_a_session(bank_server: str):
    with httpx.Client(base_url=bank_server) as client:
        assert client.get("/customer/v2/webform/privacy").status_code == 200


# Logging in


def test_a_wrong_pin_keeps_the_user_name_in_this_browser_alone(customer: BankCustomer):
    login, access_id = new_login(), new_id()
    form = start(customer, access_id).accept().log_in(login, pin="wrong").at("credentials")
    assert form.find(r'id="field-userid"[^>]* value="([^"]*)"') == login
    assert form.find(r'id="field-pin"[^>]* value="([^"]*)"') == ""
    form.log_in(login).at("accounts")
    other = start(customer, access_id).send("choose", provider=DEMO_BANK)
    assert other.page == "credentials"
    assert login not in other.html


def test_a_renewal_asks_for_credentials_first_where_the_bank_has_refused_them(
    customer: BankCustomer, owner: psycopg.Connection
):
    login = new_login()
    access_id = connect_account(customer, login)
    owner.execute(
        """update accesses set messages = '[{"kind": "WRONG_CREDENTIALS"}]'::jsonb where id = %s""", [access_id]
    )
    form = renew(customer, access_id)
    assert form.page == "credentials"
    assert login not in form.html, "the session may have been opened by the tenant"
    assert form.log_in(login).returned()["baReentry"] == "FINISHED"
    assert list(customer.read(ACCESSES)) == [access_id]


def test_banks_that_a_user_has_connected_come_first(customer: BankCustomer):
    first = start(customer).accept()
    assert 'id="own-banks"' not in first.html
    connect_account(customer, new_login())
    again = start(customer)
    assert again.page == "provider"
    assert again.find(r'id="own-banks">\s*<li><button type="submit" name="provider" value="([^"]*)"') == DEMO_BANK
    stranger = start(new_customer(customer.tenant)).accept()
    assert 'id="own-banks"' not in stranger.html


def test_the_state_of_a_bank_is_told_before_the_login(customer: BankCustomer, owner: psycopg.Connection):
    owner.execute("insert into provider_outages values (%s, 9, now() - interval '1 hour', now())", [DEMO_BANK])
    try:
        form = start(customer).accept().send("choose", provider=DEMO_BANK)
    finally:
        owner.execute("delete from provider_outages where provider_id = %s", [DEMO_BANK])
    assert "antwortet seit" in form.find(r'id="health" role="status">([^<]*)<')


DOWN = "insert into provider_outages values (%s, 9, now() - interval '1 hour', now())"
OFTEN = (
    "insert into provider_outcomes (provider_id, is_success, is_refused, seconds)"
    " select %s, false, false, 0.125 from generate_series(1, 5000)"
)


@pytest.mark.parametrize(("change", "badge"), [(DOWN, "down_badge"), (OFTEN, "disturbed_badge")])
def test_the_state_of_a_bank_is_told_in_the_results_of_the_search(
    customer: BankCustomer, owner: psycopg.Connection, change: str, badge: str
):
    """On the page, and for its script."""
    form, wanted = start(customer).accept(), GERMAN(f"provider.{badge}")
    assert list_badges(form) == [None]
    owner.execute(change, [DEMO_BANK])
    try:
        assert list_badges(form) == [wanted]
        page = form.http.get("/customer/v2/webform/step", params={"q": "demo-bank"}).text
    finally:
        owner.execute("delete from provider_outages where provider_id = %s", [DEMO_BANK])
        owner.execute("delete from provider_outcomes where provider_id = %s and seconds = 0.125", [DEMO_BANK])
    assert f'<span class="badge">{wanted}</span>' in page.partition(f'value="{DEMO_BANK}"')[2].partition("</li>")[0]


def list_badges(form: FormClient) -> list[str | None]:
    banks = form.http.get("/customer/v2/webform/providers", params={"q": "demo-bank"}).json()["banks"]
    return [bank["badge"] for bank in banks]


# Authorising


def test_a_phone_is_told_that_it_cannot_scan_itself(customer: BankCustomer):
    form = start(customer).accept().log_in("test_phototan").at("tan")
    assert 'id="same-phone"' in form.html
    other = start(customer).log_in("test_chiptan").at("tan")
    assert 'id="same-phone"' not in other.html


@pytest.mark.parametrize("iban", ["DE98999999990000000008", "DE71999999990000000009"])
def test_a_payee_mismatch_has_no_primary_button_and_shows_the_liability_notice(customer: BankCustomer, iban: str):
    access_id = connect_account(customer, new_login())
    product = customer.product(access_id, "GIROKONTO")
    details = {"recipient": "Erika Muster", "purpose": "x", "iban": iban, "bic": "COBADEFFXXX"}
    body = {"instant": False, "transferDetails": details | {"currency": "EUR", "amount": 1}}
    path = f"{ACCESSES}/{access_id}/{product['id']}/payment/single-transfer"
    _, location = order_payment(customer, path, body)
    form = FormClient(str(customer.http.base_url)).open(location).send("confirm").at("payees")
    assert unescape(form.find(r'id="liability"><strong>([^<]*)<')) == GERMAN("payees.liability")
    assert 'class="primary"' not in form.html
    assert form.actions >= {"accept", "cancel"}


# End


def test_the_last_page_says_what_was_connected_and_that_one_may_go(customer: BankCustomer):
    form = start(customer).accept().log_in(new_login()).at("accounts")
    ids = re.findall('name="account" value="([^"]*)"', form.html)
    names = [unescape(name) for name in re.findall(r'class="choice-name">([^<]*)<', form.html)]
    form.send("confirm", account=ids[:1]).at("end")
    shown = form.html.partition('id="connected"')[2].partition("</section>")[0]
    assert "Demo-Bank" in shown
    assert names[0] in unescape(shown)
    assert shown.count("<li>") == 1, "nothing of accounts that were not chosen"
    assert 'id="close"' in form.html
    assert 'id="target"' in form.html


def test_who_cancels_is_shown_nothing_that_was_connected(customer: BankCustomer):
    form = start(customer).accept().send("cancel").at("end")
    assert 'id="connected"' not in form.html
