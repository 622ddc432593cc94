"""A bank through Enable Banking, as a person connects it: web form and console, to the bank's page and back."""

import re

import pytest
from playwright.sync_api import expect

from banking import ACCESSES, new_customer, rels
from browser.enable_banking_site import running_site
from browser.form_driver import Form
from browser.keyboard import TWO_LOOKS, Person
from browser.tenant_site import TenantSite
from browser.test_browser_accessibility import OPTIONS
from browser.watching import Watch
from console_site import sign_in


@pytest.fixture(scope="module")
def enable_banking(settings, tmp_path_factory):
    with running_site(settings, tmp_path_factory.mktemp("enablebanking")) as site:
        yield site


@pytest.fixture
def watch(enable_banking):
    """Only Kontor and the bank are asked, and neither the bank nor the tenant learns where the browser was."""
    watch = Watch(enable_banking.address.partition("//")[2], sites=[enable_banking])
    yield watch
    assert watch.complaints == []
    assert watch.weak_documents() == []
    assert watch.foreign_hosts() == set()
    assert watch.referrers() == []


@pytest.fixture
def tenant_site(enable_banking, watch):
    with TenantSite(f"{enable_banking.address}/customer/v2/webform/embed.js") as site:
        watch.sites.append(site)
        yield site


@pytest.fixture(params=TWO_LOOKS, ids=str)
def new_person(request, new_context):
    return lambda: Person(new_context(**request.param.options).new_page(), request.param, OPTIONS)


def agree_at_bank(page, site, decision="confirm"):
    """On the bank's page. The web form leads there by itself after a moment."""
    expect(page.locator("main[data-page=demobank-login]")).to_be_visible()
    assert page.url.startswith(site.bank.url)
    page.fill("input[name=login]", "student")
    page.fill("input[name=pin]", "demo")
    page.click(f"#bank-{decision}")


def list_accounts(customer):
    """By IBAN or number: the ids under which the tenant knows them."""
    (access,) = customer.read(ACCESSES).values()
    return {product.get("iban") or product["kontonummer"]: product["id"] for product in access["bankprodukte"]}


def list_rows(customer, accounts):
    """With what the user has said about them."""
    query = {"limit": 1000, "produkt": ",".join(accounts.values())}
    return {row["id"]: row.get("notiz") for row in customer.read("/customer/v2/kontoumsaetze", params=query)}


def make_note(customer, accounts):
    row_id = next(iter(list_rows(customer, accounts)))
    body = {"ids": [row_id], "notiz": "Meins"}
    assert customer.post("/customer/v2/kontoumsaetze/bearbeitungen", body).status_code == 201


# The web form


def test_the_web_form_connects_a_bank_and_relinking_it_keeps_accounts_and_notes(
    enable_banking, tenant_site, new_person
):
    person, customer = new_person(), new_customer(enable_banking.redirecting)
    form = Form(person.page, customer, tenant_site)
    form.open().accept().choose_bank()
    fields = form.at("credentials").locator("#credentials-form input:not([type=hidden])")
    assert fields.count() == 1, "a name for the connection; the bank asks for the rest"
    person.check()
    fields.fill("Mein Konto")
    form.press("credentials.submit")
    agree_at_bank(person.page, enable_banking)
    expect(form.at("accounts").get_by_role("checkbox").first).to_be_checked()
    person.check()
    form.press("accounts.submit")
    form.expect_return("ACCOUNT_CREATED")
    customer.wait_until_complete(form.access_id)
    accounts = list_accounts(customer)
    make_note(customer, accounts)
    rows = list_rows(customer, accounts)
    assert len(rows) > 20

    enable_banking.end_sessions()
    form.start_renewal(form.callback("/renewed"))
    person.page.goto(form.location)
    agree_at_bank(person.page, enable_banking)
    assert form.expect_return("FINISHED", "/renewed") == {}
    customer.wait_until_complete(form.access_id)
    assert list_accounts(customer) == accounts
    assert list_rows(customer, accounts) == rows
    assert "Meins" in rows.values()


def test_whoever_declines_at_the_bank_has_connected_nothing(enable_banking, tenant_site, new_context):
    customer = new_customer(enable_banking.redirecting)
    form = Form(new_context().new_page(), customer, tenant_site)
    form.open().accept().choose_bank()
    form.at("credentials").locator("#credentials-form input:not([type=hidden])").fill("Mein Konto")
    form.press("credentials.submit")
    agree_at_bank(form.page, enable_banking, "cancel")
    expect(form.page.locator("main")).not_to_have_attribute("data-page", "accounts")
    assert all(access.get("bankprodukte", []) == [] for access in customer.read(ACCESSES).values())


# The console


def to_bank(person):
    person.at("consent")
    person.press("#to-bank")


def test_the_console_connects_a_bank_and_relinking_it_keeps_accounts_and_notes(enable_banking, new_person):
    person, customer = new_person(), new_customer(enable_banking.regulated)
    sign_in(person.page, enable_banking, customer)
    person.page.get_by_role("link", name="Bank verbinden").first.click()
    person.page.click("#connect")
    person.at("connect")
    person.enter("#q", "Demo-Bank")
    person.press("#search")
    person.press(person.page.locator(".bank-choices a").first)  # the other one is the demo bank itself
    expect(person.page.locator("#login input[id^=field-]")).to_have_count(1)
    person.at("connect")
    expect(person.page.locator("#safe")).to_have_count(0)  # nothing secret is asked for here
    person.enter("#field-userid", "Mein Konto")
    person.press("#send")
    to_bank(person)
    agree_at_bank(person.page, enable_banking)
    person.page.wait_for_url(re.compile("/console/accounts"))
    (access_id,) = customer.read(ACCESSES)
    customer.wait_until_complete(access_id)
    look_at_connected_bank(person, enable_banking)
    accounts = list_accounts(customer)
    make_note(customer, accounts)
    rows = list_rows(customer, accounts)

    enable_banking.end_sessions()
    assert customer.refresh(access_id).status_code in (201, 451), "the bank wants the customer"
    customer.wait_until(access_id, lambda access: "start_sca" in rels(access))
    person.page.goto(f"{enable_banking.url}/accounts")
    expect(person.page.locator('.bank[data-state="authenticate"]')).to_be_visible()
    person.at("accounts")
    person.press(person.page.locator(".bank button.renew"))
    to_bank(person)
    agree_at_bank(person.page, enable_banking)
    person.page.wait_for_url(re.compile("/console/accounts"))
    customer.wait_until(access_id, lambda access: "start_sca" not in rels(access))
    customer.wait_until_complete(access_id)
    look_at_connected_bank(person, enable_banking)
    assert list_accounts(customer) == accounts
    assert list_rows(customer, accounts) == rows
    assert "Meins" in rows.values()


def look_at_connected_bank(person, site):
    person.page.goto(f"{site.url}/accounts")
    expect(person.page.locator('.bank[data-state="connected"]')).to_be_visible()
    expect(person.page.locator(".bank table")).to_contain_text("Girokonto")
    person.at("accounts")
