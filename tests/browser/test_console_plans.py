"""Contracts, cashflow and disposable money in a real browser."""

import pytest
from playwright.sync_api import expect

from banking import new_customer
from browser.accessibility import DESKTOP, PHONE, find_problems, fits

pytestmark = pytest.mark.long

PAGES = ("/contracts", "/cashflow", "/disposable")
CONTRACTS = "/customer/v2/ai/contracts"


def list_pages(console_site):
    """Each page once; of contracts the one with most to show."""
    contracts = console_site.rich.read(CONTRACTS)
    longest = max(
        contracts, key=lambda contract: ("loan" in contract["details"], len(contract["details"]["transactionIds"]))
    )
    return (*PAGES, f"/contracts/{longest['id']}")


def test_long_tables_of_partners_and_parts_fit_a_phone(open_console, console_site):
    page = open_console("/cashflow?of=HOUSING&span=24", is_phone=True)
    for path in ("/cashflow?of=HOUSING&span=24", "/cashflow?tag=partners&by=quarter"):
        page.goto(console_site.url + path)
        assert fits(page), path
        expect(page.locator("#matrix tbody tr").first).to_be_visible()


def test_all_pages_are_accessible_in_light_and_dark_and_fit_a_phone(open_console, console_site):
    page = open_console()
    problems = {}
    for path in list_pages(console_site):
        page.goto(console_site.url + path)
        expect(page.locator("h1")).to_have_count(1)
        found = find_problems(page, "light", DESKTOP) + find_problems(page, "dark", PHONE)
        if found:
            problems[path] = found
    assert problems == {}


def test_empty_pages_are_accessible_and_fit_a_phone(open_console, console_site):
    page = open_console(customer=new_customer(console_site.regulated))
    for path in PAGES:
        page.goto(console_site.url + path)
        expect(page.locator(".nothing")).to_be_visible()
        assert find_problems(page, "light", PHONE) == []


def test_contracts_are_filtered_sorted_and_opened(open_console, console_site):
    contracts = console_site.rich.read(CONTRACTS)
    running = [contract for contract in contracts if contract["details"]["status"] != "INACTIVE"]
    incomes = [contract for contract in running if contract["details"]["amountLatest"] > 0]
    page = open_console("/contracts")
    rows = page.locator("table.contracts tbody tr")
    expect(rows).to_have_count(len(running))
    page.get_by_role("link", name="Einnahmen", exact=True).click()
    expect(rows).to_have_count(len(incomes))
    page.select_option("#sort", "name")
    page.wait_for_url("**/contracts?show=income&sort=name")
    name = rows.first.locator("a").inner_text()
    rows.first.locator("a").click()
    expect(page.locator("h1")).to_have_text(name)
    expect(page.locator("html")).to_have_attribute("data-charts", "drawn")
    page.locator("#chart-development summary").click()
    expect(page.locator("#table-development tbody tr").first).to_be_visible()
    expect(page.locator("#why li").first).to_be_visible()
    expect(page.locator("#menu a[aria-current=page]")).to_have_text("Verträge")


def test_the_year_calendar_is_a_table_on_a_desktop_and_a_list_of_months_on_a_phone(open_console):
    page = open_console("/contracts")
    expect(page.locator("#calendar thead th")).to_have_count(13)
    expect(page.locator("#calendar td.due").first).to_be_visible()
    expect(page.locator(".month").first).to_be_hidden()
    page.set_viewport_size(PHONE)
    expect(page.locator("#calendar")).to_be_hidden()
    expect(page.locator(".month")).to_have_count(12)
    page.locator(".month summary").nth(1).click()
    expect(page.locator(".month").nth(1).locator("tbody tr").first).to_be_visible()


def test_cashflow_opens_a_category_and_switches_spans_and_savings(open_console, console_site):
    page = open_console("/cashflow")
    expect(page.locator("html")).to_have_attribute("data-charts", "drawn")
    page.locator("#chart-totals summary").click()
    expect(page.locator("#table-totals tbody tr")).to_have_count(13)  # a year, and the month to come
    housing = page.locator("#matrix tbody a", has_text="Wohnen")
    housing.click()
    expect(page.locator("#parts h2")).to_have_text("Ausgaben nach Kategorie: Wohnen")
    page.get_by_role("link", name="Quartale").click()
    expect(page.locator("#parts h2")).to_have_text("Ausgaben nach Kategorie: Wohnen")
    expect(page.locator("#matrix thead th").nth(2)).to_contain_text("Q")
    page.get_by_role("link", name="ohne Sparen").click()
    expect(page.get_by_role("link", name="ohne Sparen")).to_have_attribute("aria-current", "true")
    expect(page.locator("#matrix tbody th", has_text="Sparen")).to_have_count(0)


def test_disposable_money_is_one_picture_with_a_twin(open_console, console_site):
    details = console_site.rich.read("/customer/v2/ai/disposable-money").get("details")
    page = open_console("/disposable")
    if details is None:  # on some days no salary is expected
        expect(page.locator(".nothing h2")).to_be_visible()
        return
    expect(page.locator("#sentence")).to_contain_text("Bis zum Gehalt am")
    expect(page.locator("#waterfall svg")).to_have_count(6)
    widths = page.locator("#waterfall .fall-front").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().width)"
    )
    assert all(width > 0 for width in widths)
    page.locator("#waterfall summary").click()
    expect(page.locator("#table-waterfall tbody tr")).to_have_count(6)


def test_everything_can_be_read_without_scripts(open_console, console_site):
    page = open_console("/contracts", java_script_enabled=False, language="en")
    page.select_option("#sort", "amount")
    page.locator("form.filters button").click()
    expect(page.locator("#sort")).to_have_value("amount")
    for path in list_pages(console_site):
        page.goto(console_site.url + path)
        expect(page.locator("main h1")).to_be_visible()
        expect(page.locator("main table").first).to_be_attached()
    page.goto(f"{console_site.url}/cashflow")
    expect(page.locator("#table-totals")).to_be_visible()


def test_pages_are_light(open_console, console_site):
    """What a first visit loads, as it comes over the wire."""
    page = open_console("/cashflow")
    sizes = {}
    for path in (*list_pages(console_site), "/cashflow?tag=partners&span=24"):
        page.goto(console_site.url + path)
        sizes[path] = page.evaluate(
            "[performance.getEntriesByType('navigation')[0], ...performance.getEntriesByType('resource')]"
            ".reduce((sum, one) => sum + one.encodedBodySize, 0)"
        )
    assert {path: size for path, size in sizes.items() if size > 300_000} == {}
