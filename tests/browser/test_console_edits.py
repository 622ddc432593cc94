"""Several transactions in the console, with the keyboard alone, on a phone."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from banking import new_customer
from browser.accessibility import check
from console_site import ConsoleSite


def test_rows_are_chosen_and_changed_with_the_keyboard_and_the_change_is_undone(
    open_console: Callable[..., Page], console_site: ConsoleSite
):
    customer = new_customer(console_site.regulated)
    customer.add_complete("demo1+edits")
    page = open_console("/transactions", customer=customer, is_phone=True)
    page.locator("#several > summary").focus()
    page.keyboard.press("Enter")
    for at in (0, 1):
        page.locator(".pick input").nth(at).focus()
        page.keyboard.press("Space")
    expect(page.locator("#chosen-count")).to_have_text("2")
    check(page)
    page.get_by_label("Schlagwörter setzen").fill("Ausflug")
    page.keyboard.press("Enter")
    expect(page.locator("#preview .big-figure")).to_have_text("2")
    check(page)
    page.get_by_role("button", name="2 Umsätze ändern").press("Enter")
    expect(page.locator(".notice")).to_contain_text("Hier lässt es sich rückgängig machen")
    page.get_by_role("link", name="Liste").press("Enter")
    expect(page.locator(".entry", has_text="#Ausflug")).to_have_count(2)
    page.get_by_role("link", name="#Ausflug", exact=True).press("Enter")
    page.wait_for_url(re.compile("keyword=Ausflug"))
    expect(page.locator(".entry")).to_have_count(2)
    page.locator(".entry > summary").first.press("Enter")
    page.get_by_role("link", name="Umsatz aufteilen").press("Enter")
    expect(page.locator("#split-title")).to_be_visible()
    check(page)
    page.goto(f"{console_site.url}/transactions/edits")
    page.get_by_role("button", name=re.compile("^Rückgängig")).press("Enter")
    expect(page.locator(".nothing")).to_contain_text("Noch haben Sie nicht mehrere")
