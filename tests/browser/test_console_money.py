"""Accounts and transactions in the console, as a person uses them."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from banking import ACCESSES, DEMO_BANK, BankCustomer, new_customer
from browser.accessibility import check
from browser.form_driver import Form
from console_site import ConsoleSite, money
from kontor.domain.clocks import BERLIN


@pytest.fixture(scope="module")
def spender(console_site: ConsoleSite) -> tuple[BankCustomer, str]:
    """Somebody with every kind of product, whose categories tests may change."""
    customer = new_customer(console_site.regulated)
    return customer, customer.add_complete("demo1+spender")


def test_a_newcomer_connects_a_bank_in_the_web_form_and_deletes_it_again(
    open_console: Callable[..., Page], console_site: ConsoleSite
):
    customer = new_customer(console_site.redirecting)
    page = open_console("/accounts", customer=customer)
    page.click("#connect")
    Form(page, customer).accept().choose_bank().log_in("leer").confirm_accounts()
    page.wait_for_url(f"{console_site.url}/accounts**")
    expect(page.locator('.bank[data-state="connected"]')).to_be_visible()
    expect(page.locator(".products tbody tr")).to_have_count(1)
    page.goto(f"{console_site.url}/accounts?baReentry=ACCOUNT_CREATED")
    expect(page.locator("#outcome")).to_contain_text("Die Bank ist verbunden")
    page.click("a.delete")
    check(page)
    page.click("#delete-now")
    expect(page.locator(".notice")).to_contain_text("gelöscht")
    expect(page.locator(".bank")).to_have_count(0)
    check(page)


def test_whoever_cancels_in_the_web_form_is_told_so(open_console: Callable[..., Page], console_site: ConsoleSite):
    customer = new_customer(console_site.redirecting)
    page = open_console("/accounts", customer=customer)
    page.click("#connect")
    Form(page, customer).press("legal.decline")
    page.wait_for_url(re.compile(r"/console/accounts\?.*baReentry=LEGAL_NOT_ACCEPTED"))
    expect(page.locator("#outcome")).to_contain_text("Ohne Zustimmung")


def test_purpose_and_last_day_are_agreed_when_connecting_and_shown_with_the_permission(
    open_console: Callable[..., Page], console_site: ConsoleSite
):
    customer = new_customer(console_site.regulated)
    page = open_console(f"/connect?provider={DEMO_BANK}", customer=customer)
    check(page)
    last = datetime.now(BERLIN).date() + timedelta(days=30)
    page.fill("#field-userid", "leer+agreed")
    page.fill("#field-pin", "demo")
    page.get_by_label("Zweck (optional)").fill("Haushaltsbuch")
    page.get_by_label("Nutzen bis (optional)").fill(last.isoformat())
    page.click("#send")
    page.wait_for_url(f"{console_site.url}/accounts**")
    page.goto(f"{console_site.url}/permissions")
    facts = page.locator("#open .disclosure-facts")
    expect(facts).to_contain_text("Haushaltsbuch")
    expect(facts).to_contain_text(f"{last:%d.%m.%Y}")
    check(page)


def test_accounts_of_every_kind_are_shown_and_accessible(
    open_console: Callable[..., Page], console_site: ConsoleSite, spender: tuple[BankCustomer, str]
):
    customer, access_id = spender
    page = open_console("/accounts", customer=customer)
    products = customer.products(access_id)
    expect(page.locator(".products tbody tr")).to_have_count(len(products))
    for product in products:
        expect(page.locator(".products tr", has_text=product["bezeichnung"])).to_contain_text(money(product["saldo"]))
    page.click("#connect")
    expect(page.locator("h1")).to_have_text("Bank verbinden")
    check(page)
    page.get_by_role("link", name="Demo-Bank").click()
    expect(page.locator("input[type=password]")).to_be_visible()
    check(page)
    for kind in ("BAUSPARKONTO", "DEPOT"):
        product = customer.product(access_id, kind)
        page.goto(f"{console_site.url}/accounts/{access_id}/{product['id']}")
        expect(page.locator("h1")).to_have_text(product["bezeichnung"])
        expect(page.locator(".tile dd").first).to_contain_text(money(product["saldo"]))
        if kind != "DEPOT":
            page.wait_for_selector("html[data-charts=drawn]")
        check(page)


def test_the_chart_follows_the_chosen_range(open_console: Callable[..., Page], spender: tuple[BankCustomer, str]):
    customer, access_id = spender
    product = customer.product(access_id, "GIROKONTO")
    page = open_console(f"/accounts/{access_id}/{product['id']}", customer=customer)
    days = page.locator("#table-balances tbody tr").count()
    page.get_by_role("link", name="Alles").click()
    page.wait_for_selector("html[data-charts=drawn]")
    months = customer.read(f"{ACCESSES}/{access_id}/{product['id']}/balances?interval=month")
    expect(page.locator("#table-balances tbody tr")).to_have_count(len(months))
    assert days > 80


def test_a_search_narrows_the_list_and_a_row_opens_to_its_reasons(
    open_console: Callable[..., Page], spender: tuple[BankCustomer, str]
):
    customer, _ = spender
    page = open_console("/transactions", customer=customer)
    expect(page.locator(".entry")).to_have_count(50)
    page.get_by_label("Kategorie").first.select_option("LIVING_GROCERIES")
    page.wait_for_url(re.compile("category=LIVING_GROCERIES"))
    assert "search=" not in page.url  # what is empty is left out
    expect(page.locator(".entry").first).to_contain_text("Lebensmittel")
    page.locator(".entry > summary").first.focus()
    page.keyboard.press("Enter")
    body = page.locator(".entry").first.locator(".entry-details")
    expect(body).to_be_visible()
    expect(body.locator(".reasons li").first).to_contain_text("Lebensmittel")
    check(page)
    page.get_by_role("link", name="Weitere anzeigen").click()
    expect(page.get_by_role("link", name="Zurück zu den neuesten")).to_be_visible()
    assert "category=LIVING_GROCERIES" in page.url


def test_all_of_a_partner_are_corrected_by_a_rule_after_its_preview_and_the_rule_is_deleted(
    open_console: Callable[..., Page], spender: tuple[BankCustomer, str]
):
    customer, _ = spender
    page = open_console("/transactions", customer=customer)
    page.get_by_label("Suche").fill("rundfunk")
    page.get_by_role("button", name="Suchen").click()
    page.wait_for_url(re.compile("search=rundfunk"))
    count = page.locator("#sums tbody th").inner_text()
    row = page.locator(".entry").first
    name = row.locator(".entry-title").inner_text()
    row.locator("summary").click()
    row.get_by_label("Neue Kategorie").select_option("RECREATION_OTHER")
    row.get_by_label(f"Alle Umsätze mit {name} ({count})").check()
    row.get_by_role("button", name="Kategorie übernehmen").click()
    expect(page.locator("#preview .big-figure")).to_have_text(count)
    check(page)
    page.get_by_role("button", name="Regel anlegen").click()
    expect(page.locator(".notice")).to_contain_text("Die Regel ist angelegt")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody th")).to_contain_text(name)
    check(page)
    page.goto(page.url.partition("/rules")[0] + "?search=rundfunk")
    expect(page.locator(".entry", has_text="durch Ihre Regel").first).to_contain_text("Freizeit")
    page.get_by_role("link", name="Regeln").click()
    page.get_by_role("button", name=re.compile("^Löschen")).click()
    expect(page.locator(".nothing")).to_contain_text("Es gibt noch keine Regel")


def test_everything_works_without_scripts(open_console: Callable[..., Page], spender: tuple[BankCustomer, str]):
    customer, _ = spender
    page = open_console("/transactions", customer=customer, java_script_enabled=False)
    page.get_by_label("Suche").fill("gehalt")
    page.get_by_role("button", name="Suchen").click()
    row = page.locator(".entry").first
    row.locator("summary").click()
    row.get_by_role("link", name="Alle Details").click()
    expect(page.locator("#details")).to_contain_text("Warum")
    page.get_by_label("Neue Kategorie").select_option("INCOME_OTHER")
    page.get_by_role("button", name="Kategorie übernehmen").click()
    expect(page.locator(".entry").first).to_contain_text("von Ihnen festgelegt")


def test_the_pages_of_a_transaction_speak_english(
    open_console: Callable[..., Page], console_site: ConsoleSite, spender: tuple[BankCustomer, str]
):
    customer, _ = spender
    page = open_console("/transactions", customer=customer, language="en")
    expect(page.locator("h1")).to_have_text("Transactions")
    page.goto(console_site.address + (page.locator(".entry").nth(3).get_attribute("data-url") or ""))
    expect(page.locator("#details")).to_contain_text("Details from the bank")
    check(page)
