"""Life, insurances, occasions, affordability, the quick start and the user's data, in a real browser."""

import re

import pytest

from banking import new_customer
from browser.accessibility import DESKTOP, find_problems, fits
from console_site import enter

pytestmark = pytest.mark.long

PATHS = ("life", "insurances", "triggers", "affordability", "quickstart", "data")


def test_the_pages_are_accessible(open_console, console_site):
    page = open_console()
    for path in PATHS:
        page.goto(f"{console_site.url}/{path}")
        assert page.locator("main").get_attribute("data-view") == path
        assert find_problems(page, "light", DESKTOP) + find_problems(page, "dark", DESKTOP) == [], path


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_pages_fit_a_phone(open_console, console_site, language):
    page = open_console(is_phone=True, language=language)
    for path in (*PATHS, "quickstart?code=typescript"):
        page.goto(f"{console_site.url}/{path}")
        assert fits(page), path


def test_life_is_a_time_line_with_reasons(open_console, console_site):
    page = open_console("/life")
    events = console_site.rich.read("/customer/v2/ai/life-events")
    stages = console_site.rich.read("/customer/v2/ai/life-stages")
    names = page.locator(".event h4").all_inner_texts()
    assert sorted(names) == sorted(event["tagTreeItem"]["displayName"] for event in events)
    days = page.locator(".event time").evaluate_all("all => all.map(one => one.dateTime)")
    assert days == sorted((event["details"]["eventDate"] for event in events), reverse=True)
    assert all(page.locator(".event .why").all_inner_texts())
    assert page.locator(".lanes circle").count() == len(events)
    assert page.locator(".stage").count() == len(stages)


def test_insurances_and_what_is_missing(open_console, console_site):
    page = open_console("/insurances")
    found = console_site.rich.read("/customer/v2/ai/sales-triggers")
    missing = [trigger for trigger in found if trigger["tagTreeItem"]["systemName"].startswith("MISSINGINSURANCE")]
    assert page.locator(".lacking > li").count() == len(missing)
    assert page.locator("#policies tbody tr:not(.division)").count() > 5
    assert page.locator(".kind.held").count() > 5
    if page.locator("#ended").count():
        page.click("#ended > summary")
        assert page.locator("#ended table").is_visible()


def test_affordability_is_an_account_with_a_checklist(open_console, console_site):
    page = open_console("/affordability")
    check = console_site.rich.read("/customer/v2/ai/credit-check")["details"]
    assert page.locator("#account tr.sum").count() == 4
    assert page.locator("#signs li").count() == 6
    overdrawn = page.locator("#signs li").last.locator("strong").inner_text()
    assert overdrawn == ("ja" if check["overdraftDays"] else "nein")
    assert page.locator("#findings tbody tr").count() == len(check["findings"])


def test_the_quick_start_has_tabs_and_everything_works_without_scripts(open_console, console_site):
    page = open_console("/quickstart", java_script_enabled=False)
    assert f"base={console_site.address}" in page.locator("#code-curl").inner_text()
    page.click("nav.tabs a >> text=Python")
    assert "from kontor_client import Kontor" in page.locator("#code-python").inner_text()
    page.click("nav.tabs a >> text=TypeScript")
    assert "await fetch(" in page.locator("#code-typescript").inner_text()
    for path in PATHS:
        page.goto(f"{console_site.url}/{path}")
        assert page.locator("h1").is_visible()


def test_exports_come_as_files(open_console):
    page = open_console("/data")
    endings = {
        "json": "json",
        "spreadsheet": "csv",
        "beancount": "beancount",
        "hledger": "journal",
        "gnucash": "gnucash",
    }
    for name, ending in endings.items():
        with page.expect_download() as download:
            page.click(f"#export-{name}")
        assert re.fullmatch(rf"kontor-(umsaetze-)?[\d-]+\.{ending}", download.value.suggested_filename)


def test_a_user_erases_everything_by_typing_the_own_name(open_console, console_site):
    customer = new_customer(console_site.regulated)
    page = open_console("/data", customer=customer)
    page.fill("#erase-username", "somebody else")
    page.click("#erase")
    assert "nichts gelöscht" in page.locator("#erase-problem").inner_text()
    page.fill("#erase-username", customer.username)
    page.click("#erase")
    page.wait_for_url("**/console/sign-in?notice=erased")
    assert "gelöscht" in page.locator("[role=status]").inner_text()
    enter(page, customer)
    assert "ist falsch" in page.locator("#problem").inner_text()
