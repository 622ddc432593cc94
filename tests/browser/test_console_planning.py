"""The outlook in a real browser: without scripts, and a picture for each width."""

import pytest
from playwright.sync_api import expect

from browser.accessibility import DESKTOP, PHONE, find_problems

pytestmark = pytest.mark.long


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
