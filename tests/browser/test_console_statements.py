"""Account statements in the console: asked for with a TAN, listed, and downloaded, by keyboard alone."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Page, expect

from banking import ACCESSES, new_customer
from browser.accessibility import check
from browser.form_driver import Form
from console_site import ConsoleSite

TAN = "8534842"


def go_to(page: Page, selector: str, most: int = 80) -> None:
    """With the tabulator, as somebody without a mouse."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.locator(selector).first.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{selector} cannot be reached")


@pytest.mark.parametrize("is_phone", [False, True])
def test_statements_are_asked_for_and_downloaded_by_keyboard(
    open_console: Callable[..., Page], console_site: ConsoleSite, is_phone: bool
):
    customer = new_customer(console_site.regulated)
    access_id = customer.add_complete(f"student+keys{is_phone}")
    page = open_console("/statements", customer=customer, is_phone=is_phone)
    expect(page.locator(".bank")).to_contain_text("nicht mehr auf Papier")
    check(page)
    go_to(page, "button.request")
    page.keyboard.press("Enter")
    expect(page.locator(".notice").first).to_contain_text("Die Auszüge sind angefordert")
    customer.wait_until_complete(access_id)
    page.reload()
    check(page)
    link = '.statements tr[data-state="VORHANDEN"] a'
    go_to(page, link)
    with page.expect_download() as found:
        page.keyboard.press("Enter")
    assert Path(found.value.path()).read_bytes().startswith(b"%PDF-")
    assert found.value.suggested_filename.startswith("kontoauszug-20")
    go_to(page, ".statements details:not([open]) summary")
    page.keyboard.press("Enter")
    expect(page.locator(".statements details").nth(1)).to_have_attribute("open", "")
    check(page)
    go_to(page, "button.stop")
    page.keyboard.press("Enter")
    expect(page.locator(".notice").first).to_contain_text("nicht mehr abgerufen")


def test_a_tan_is_given_in_the_web_form_on_the_way_to_the_statements(
    open_console: Callable[..., Page], console_site: ConsoleSite, owner: psycopg.Connection
):
    customer = new_customer(console_site.redirecting)
    page = open_console("/accounts", customer=customer, language="en")
    page.click("#connect")
    form = Form(page, customer, language="en")
    form.accept().choose_bank().log_in("test_phototan+statements").enter(TAN).confirm_accounts()
    page.wait_for_url(f"{console_site.url}/accounts**")
    (access_id,) = customer.read(ACCESSES)
    customer.wait_until_complete(access_id)
    owner.execute(
        "update accesses set consent_until = now() + interval '3 days' where user_id = %s and id = %s",
        [customer.reference, access_id],
    )
    page.goto(f"{console_site.url}/statements")
    expect(page.locator("h1")).to_have_text("Account statements")
    page.click("button.request")
    form.enter(TAN)
    page.wait_for_url(f"{console_site.url}/statements?**baReentry=**")
    expect(page.locator("#outcome")).to_be_visible()
    customer.wait_until_complete(access_id)
    page.reload()
    expect(page.locator('.statements tr[data-state="VORHANDEN"]').first).to_be_visible()
    check(page)
