"""The outlook, budgets and savings goals in a real browser: by keyboard, at both widths, without scripts."""

import pytest
from playwright.sync_api import expect

from banking import new_customer
from browser.accessibility import DESKTOP, PHONE, find_problems

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def planner(console_site):
    """Somebody with three years of bookings, and no plan yet."""
    customer = new_customer(console_site.regulated)
    customer.add_complete("hauskauf+planning")
    return customer


def check(page):
    assert (page.url, find_problems(page, "light", DESKTOP) + find_problems(page, "dark", PHONE)) == (page.url, [])
    page.set_viewport_size(DESKTOP)


def test_the_outlook_is_there_without_scripts_and_has_a_picture_for_each_width(open_console, console_site):
    page = open_console("", java_script_enabled=False)
    curve = page.locator("#outlook svg.curve")
    expect(curve.nth(0)).to_be_visible()
    expect(curve.nth(1)).to_be_hidden()
    assert curve.nth(0).locator(".curve-line").bounding_box()["width"] > 500
    page.locator("#outlook summary").click()
    expect(page.locator("#table-outlook tbody tr").first).to_be_visible()
    page.set_viewport_size(PHONE)
    expect(curve.nth(0)).to_be_hidden()
    expect(curve.nth(1)).to_be_visible()
    page = open_console("")
    check(page)


def test_budgets_and_goals_are_planned_by_keyboard_at_both_widths(open_console, console_site, planner):
    page = open_console("/budgets", customer=planner)
    check(page)  # proposals
    page.locator("#accept").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".notice.good")).to_be_visible()
    expect(page.locator('.plan[data-status="IM_RAHMEN"], .plan[data-status="KNAPP"]').first).to_be_visible()
    check(page)
    page.locator("a[rel=prev]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/budgets?month=*")
    expect(page.get_by_role("link", name="Zum aktuellen Monat")).to_be_visible()
    page.locator(".plan-actions a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#amount")).to_be_visible()
    check(page)
    page.locator("#amount").fill("1")
    page.locator("#amount").press("Enter")
    page.locator("a[rel=prev]").click()  # early in a month nothing is spent yet
    expect(page.locator('.plan[data-status="UEBERSCHRITTEN"] .badge').first).to_have_text("Überschritten")
    make_goal(page, console_site)


def make_goal(page, console_site):
    page.set_viewport_size(PHONE)
    page.goto(f"{console_site.url}/goals")
    page.get_by_role("link", name="Neues Sparziel").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#target")).to_be_visible()
    check(page)
    page.set_viewport_size(PHONE)
    page.locator("#name").fill("Fahrrad")
    page.locator("#target").fill("900000")
    page.locator("#products input").first.focus()
    page.keyboard.press("Space")
    page.locator("#save").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".plan h2")).to_have_text("Fahrrad")
    expect(page.locator(".plan .badge")).to_be_visible()
    check(page)
    page.locator(".plan-actions a").click()
    page.locator("#delete").click()
    expect(page.locator("#delete-now")).to_be_visible()
    check(page)
    page.locator("#delete-now").click()
    expect(page.locator(".nothing")).to_be_visible()
