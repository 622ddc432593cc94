"""The operators' pages in a browser."""

from browser.accessibility import check
from kontor.console.views import VIEWS

PAGES = [view.path for view in VIEWS if view.is_operator and "{" not in view.url]


def test_all_pages_are_accessible_and_fit_a_phone(open_console, console_site):
    page = open_console("/ops", is_operator=True)
    for path in PAGES:
        page.goto(console_site.url + path)
        check(page)


def test_an_operator_finds_the_way_by_the_navigation(open_console, console_site):
    page = open_console("/ops", is_operator=True)
    assert page.locator("h1").inner_text() == "Status"
    page.get_by_role("link", name="Bankzugänge", exact=True).click()
    page.select_option("select[name=status]", "COMPLETE")
    page.wait_for_url("**status=COMPLETE**")
    assert page.get_by_text("Demo-Bank").first.is_visible()


def test_the_chain_of_the_audit_trail_is_verified_by_a_button(open_console, console_site):
    page = open_console("/ops/audit", is_operator=True)
    page.get_by_role("button", name="Kette prüfen").click()
    assert page.get_by_role("status").get_by_text("Die Kette ist lückenlos.").is_visible()
