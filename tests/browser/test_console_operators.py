"""The operators' pages in a browser."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from kontor.console.views import VIEWS

PAGES = [one.path for one in VIEWS if one.is_operator and "{" not in one.url]


def _violations(page):
    found = Axe().run(page)
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found.response["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_pages_are_accessible(open_console, console_site, scheme):
    page = open_console("/ops", is_operator=True, color_scheme=scheme)
    for path in PAGES:
        page.goto(console_site.url + path)
        assert _violations(page) == [], path


def test_no_page_is_wider_than_a_phone(open_console, console_site):
    page = open_console("/ops", is_operator=True, is_phone=True)
    for path in PAGES:
        page.goto(console_site.url + path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_an_operator_finds_the_way_by_the_navigation(open_console, console_site):
    page = open_console("/ops", is_operator=True)
    assert page.locator("h1").inner_text() == "Lage"
    page.get_by_role("link", name="Bankzugänge", exact=True).click()
    page.select_option("select[name=status]", "COMPLETE")
    page.wait_for_url("**status=COMPLETE**")
    assert page.get_by_text("Demo-Bank").first.is_visible()


def test_the_chain_of_the_audit_trail_is_verified_by_a_button(open_console, console_site):
    page = open_console("/ops/audit", is_operator=True)
    page.get_by_role("button", name="Kette prüfen").click()
    assert page.get_by_role("status").get_by_text("Die Kette ist lückenlos.").is_visible()
