"""The pages that explain the API: one press logs in, operations are called, and nobody is kept out."""

import pytest
from playwright.sync_api import expect

from browser.accessibility import DESKTOP, PHONE, find_problems, fits
from browser.test_browser_accessibility import OPTIONS

pytestmark = pytest.mark.long

OPERATION = "list_all_transactions"


def test_one_press_logs_in_and_an_operation_is_called_by_keyboard(new_console_context, console_site):
    page = new_console_context().new_page()
    page.goto(f"{console_site.address}/docs#{OPERATION}")
    page.locator("#demo-login").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#login-state")).to_have_text(f"Logged in: {console_site.rich.username}.")
    page.fill("#filter", "transactions of all accounts newest")
    expect(page.locator("#found")).to_have_text("1 found")
    page.locator(f"a[href$='#{OPERATION}']").focus()
    page.keyboard.press("Enter")
    form = page.locator(f"#{OPERATION} .try")
    form.locator("[data-name=limit]").fill("1")
    page.keyboard.press("Enter")
    expect(form.locator(".answer p")).to_contain_text("200")
    assert '"betrag":' in form.locator(".answer pre").last.inner_text()
    assert "limit=1" in form.locator(".answer pre").first.inner_text()
    assert "Bearer $TOKEN" in form.locator(".answer pre").first.inner_text()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Kontor API")
    expect(page.locator("#forget")).to_be_visible()


def test_own_logins_are_accepted_and_wrong_ones_told(new_console_context, console_site, console_watch):
    page = new_console_context(viewport=PHONE).new_page()
    page.goto(f"{console_site.address}/docs/management")
    page.click("#own-login > summary")
    client, secret = console_site.regulated.admin
    page.fill("#login-client", client)
    page.fill("#login-secret", "wrong")
    page.click("#login-form button")
    expect(page.locator("#login-state")).to_contain_text("Not logged in: ")
    [refused] = console_watch.complaints
    assert "401" in refused
    console_watch.complaints.clear()
    page.fill("#login-secret", secret)
    page.click("#login-form button")
    expect(page.locator("#login-state")).to_have_text(f"Logged in: {client}.")


@pytest.mark.parametrize("section", ["", "/customer"])
def test_the_pages_are_accessible_and_fit_every_width(new_console_context, console_site, section):
    """Light and dark at both widths."""
    page = new_console_context().new_page()
    page.goto(f"{console_site.address}/docs{section}")
    for name in (OPERATION, "add_accesses", "shape-CustomerTransaction") if section else ():
        page.locator(f"[id='{name}'] > summary").click()
    for scheme in ("light", "dark"):
        for size in (DESKTOP, PHONE):
            assert find_problems(page, scheme, size, OPTIONS) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert fits(page)


def test_without_scripts_everything_can_be_read(new_console_context, console_site):
    page = new_console_context(java_script_enabled=False).new_page()
    page.goto(f"{console_site.address}/docs")
    page.locator(f"a[href$='#{OPERATION}']").click()
    assert page.url == f"{console_site.address}/docs/customer#{OPERATION}"
    page.locator(f"#{OPERATION} > summary").click()
    expect(page.locator(f"#{OPERATION} h2").first).to_be_visible()
    expect(page.locator(f"#{OPERATION} .try")).to_be_hidden()
    expect(page.locator("#login")).to_be_hidden()
