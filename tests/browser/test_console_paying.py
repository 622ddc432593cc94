"""Payments in the console, as a person makes them."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from banking import BankCustomer, new_customer
from browser.accessibility import check, shows
from browser.payment_driver import PAYMENT_TAN, PaymentForm
from console_site import ConsoleSite, money
from form_client import connect_account
from kontor.domain.clocks import BERLIN

IBAN = "DE89 3704 0044 0532 0130 00"
SOON = (datetime.now(BERLIN).date() + timedelta(days=20)).isoformat()


@pytest.fixture(scope="module")
def payer(console_site: ConsoleSite) -> BankCustomer:
    customer = new_customer(console_site.redirecting)
    connect_account(customer, "test_bank_message+console-browser")
    return customer


def enter(page: Page, amount: str) -> None:
    page.fill("#recipient", "Erika Muster")
    page.fill("#iban", IBAN)
    page.fill("#amount", amount)
    page.fill("#purpose", "Miete")


def authorise(page: Page, customer: BankCustomer, button: str) -> None:
    """In the web form."""
    form = PaymentForm(page, customer).review()
    page.get_by_role("button", name=button, exact=True).click()
    form.at("tan")
    form.enter(PAYMENT_TAN)


@shows("console/payment_new", "console/payments")
def test_a_standing_order_is_set_up_and_deleted_through_the_web_form(
    open_console: Callable[..., Page], console_site: ConsoleSite, payer: BankCustomer
):
    page = open_console("/payments", customer=payer)
    before = page.locator(".orders tbody tr").count()
    page.click("#new-standing-order")
    enter(page, "750,00")
    page.select_option("#period", "MONTH_ONE")
    page.fill("#day", SOON)
    check(page)
    page.click("#order")
    authorise(page, payer, "Dauerauftrag einrichten")
    page.wait_for_url(f"{console_site.url}/payments**")
    expect(page.locator("#outcome")).to_contain_text("entgegengenommen")
    expect(page.locator(".orders tbody tr")).to_have_count(before + 1)
    row = page.locator(".orders tbody tr", has_text="Erika Muster")
    expect(row).to_contain_text(money(750))
    check(page)
    row.locator("a.delete").click()
    check(page)
    page.click("#delete-order")
    authorise(page, payer, "Dauerauftrag löschen")
    page.wait_for_url(f"{console_site.url}/payments**")
    expect(page.locator(".orders tbody tr", has_text="Erika Muster")).to_contain_text("beendet")


@shows("console/payment")
def test_a_dated_transfer_is_entered_with_the_keyboard_and_paid_on_its_day(
    open_console: Callable[..., Page], console_site: ConsoleSite, payer: BankCustomer
):
    page = open_console("/payments/new", customer=payer)
    enter(page, "12,34")
    page.fill("#day", SOON)
    page.locator("#purpose").press("Enter")
    authorise(page, payer, "Terminüberweisung beauftragen")
    page.wait_for_url(f"{console_site.url}/payments**")
    row = page.locator("#payments tbody tr").first
    expect(row).to_contain_text("angenommen")
    row.get_by_role("link").click()
    expect(page.locator("#state")).to_have_text("angenommen")
    check(page)


def test_a_tan_is_asked_for_on_the_page_and_the_page_is_accessible(
    open_console: Callable[..., Page], console_site: ConsoleSite
):
    customer = new_customer(console_site.regulated)
    customer.add_complete("test_bank_message+console-browser-tan")
    page = open_console("/payments/new", customer=customer)
    enter(page, "1")
    page.click("#order")
    check(page)
    page.fill("#tan", "12")
    page.click("#send-tan")
    expect(page.locator("#state")).to_have_text("ausgeführt")
