"""What all pages of the console share: signing in and out, navigation, languages, the calls behind a page."""

import pytest

from banking import new_customer
from browser.accessibility import check
from console_site import enter, sign_in

pytestmark = pytest.mark.long


def test_the_first_pages_are_accessible(new_console_context, console_site):
    page = new_console_context().new_page()
    for path in ("/sign-in", "/ops/sign-in"):
        page.goto(console_site.url + path)
        check(page)


def test_a_stranger_is_asked_to_sign_in_and_then_sees_the_page_that_was_asked_for(new_console_context, console_site):
    page = new_console_context().new_page()
    page.goto(f"{console_site.url}/contracts")
    assert page.url.endswith("/console/sign-in?next=%2Fconsole%2Fcontracts")
    customer = console_site.rich
    enter(page, customer, "wrong")
    assert "ist falsch" in page.locator("#problem").inner_text()
    enter(page, customer)
    page.wait_for_url(f"{console_site.url}/contracts")


def test_signing_out_revokes_the_token_and_forgets_the_session(new_console_context, console_site):
    customer = new_customer(console_site.regulated)
    context = new_console_context()
    page = context.new_page()
    sign_in(page, console_site, customer)
    cookie = next(cookie for cookie in context.cookies() if cookie["name"] == "kontor-console")
    assert cookie["httpOnly"]
    page.click("#sign-out")
    page.wait_for_url("**/console/sign-in")
    assert [cookie["name"] for cookie in context.cookies() if cookie["name"] == "kontor-console"] == []
    context.add_cookies([cookie])  # somebody kept it
    page.goto(console_site.url)
    assert "abgelaufen" in page.locator("[role=status]").inner_text()


def test_the_language_is_switched_and_remembered(open_console):
    page = open_console()
    assert page.locator("h1").inner_text() == "Übersicht"
    page.click("#language-en")
    assert page.locator("h1").inner_text() == "Overview"
    page.reload()
    assert page.locator("html").get_attribute("lang") == "en"


def test_every_page_shows_the_calls_it_was_made_of(open_console, console_site):
    page = open_console()
    page.click("#calls > summary")
    calls = page.locator(".call > summary").all_inner_texts()
    assert any("GET /customer/v2/bankzugaenge" in call for call in calls)
    page.locator(".call > summary").first.click()
    assert console_site.address in page.locator(".call pre").first.inner_text()
    with page.context.expect_page() as opened:
        page.locator(".call a").first.click()
    assert opened.value.evaluate("JSON.parse(document.body.innerText) !== null")


def test_the_menu_opens_on_a_phone(open_console):
    page = open_console(is_phone=True)
    assert not page.locator("#menu").is_visible()
    page.click("#menu-button")
    assert page.locator("#menu").is_visible()


def test_an_operator_and_a_user_have_sessions_of_their_own(open_console, console_site):
    page = open_console("/ops", is_operator=True)
    page.goto(console_site.url)
    assert page.url.endswith("/console/sign-in")
