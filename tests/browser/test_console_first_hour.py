"""The first hour of somebody new: in, to a bank, to what the bookings mean, and out again without a trace."""

import json
import re
from pathlib import Path

from playwright.sync_api import expect

from banking import new_customer
from browser.form_driver import Form
from console_site import enter
from timeouts import WAIT_TIMEOUT_SECONDS

FETCHING_MS = 3 * WAIT_TIMEOUT_SECONDS * 1000  # three years of bookings, each looked at
PATIENCE_MS = WAIT_TIMEOUT_SECONDS * 1000
FINDINGS = "/customer/v2/ai"


def test_a_newcomer_sees_understands_corrects_and_takes_along_everything_and_leaves_no_trace(
    open_console, console_site
):
    customer = new_customer(console_site.redirecting)
    page = open_console(customer=customer)
    page.set_default_timeout(PATIENCE_MS)
    connect_bank(page, customer)
    look_at_account(page, customer)
    corrected, count = correct_category(page, customer)
    look_at_contracts(page, customer)
    look_at_cashflow(page)
    look_at_disposable_money(page, customer)
    look_at_life(page, customer)
    look_at_insurances_and_triggers(page, customer)
    look_at_affordability(page, customer)
    look_behind_the_page(page, console_site)
    look_at_quick_start(page, console_site, customer)
    take_data_along(page, corrected, count)
    erase_everything(page, customer)


def go_to(page, name, view):
    """By the navigation, as a person does."""
    page.locator("#menu").get_by_role("link", name=name, exact=True).click()
    expect(page.locator("main")).to_have_attribute("data-view", view, timeout=PATIENCE_MS)
    expect(page.locator("#menu a[aria-current=page]")).to_have_text(name)


def connect_bank(page, customer):
    expect(page.locator("h1")).to_have_text("Übersicht")
    expect(page.locator(".who-name")).to_contain_text(customer.username)
    expect(page.locator(".nothing")).to_contain_text("Noch ist keine Bank verbunden.")
    page.get_by_role("link", name="Bank verbinden").click()
    page.click("#connect")
    form = Form(page, customer)
    form.accept().choose_bank().log_in(f"hauskauf+{customer.username}").confirm_accounts()
    page.wait_for_url("**/console/accounts**", timeout=FETCHING_MS)
    # The page looks for the bookings itself, and shows itself anew when they are there.
    expect(page.locator('.bank[data-state="connected"]')).to_be_visible(timeout=FETCHING_MS)
    expect(page.locator(".bank h2")).to_contain_text("Demo-Bank")


def look_at_account(page, customer):
    access_id = page.locator(".bank").get_attribute("id").removeprefix("bank-")
    products = customer.products(access_id)
    expect(page.locator(".products tbody tr")).to_have_count(len(products))
    name = customer.product(access_id, "GIROKONTO")["bezeichnung"]
    page.locator(".products").get_by_role("link", name=name, exact=True).click()
    expect(page.locator("h1")).to_have_text(name)
    expect(page.locator("html")).to_have_attribute("data-charts", "drawn", timeout=PATIENCE_MS)
    page.locator("#chart-balances summary").click()
    expect(page.locator("#table-balances tbody tr").first).to_be_visible()
    assert page.locator("#table-balances tbody tr").count() > 80
    go_to(page, "Übersicht", "overview")
    expect(page.locator("#accounts tbody th a")).to_have_count(len(products))
    expect(page.locator("#outlook svg.wide-only")).to_be_visible()


def correct_category(page, customer):
    """Of all bookings with a partner, by a rule. The category's name, and how many there are."""
    go_to(page, "Umsätze", "transactions")
    expect(page.locator(".entry")).to_have_count(50)
    page.get_by_label("Suche").fill("rundfunk")
    page.get_by_role("button", name="Suchen").click()
    page.wait_for_url(re.compile("search=rundfunk"))
    entries = page.locator(".entry")
    expect(entries.nth(2)).to_contain_text(re.compile("rundfunk", re.IGNORECASE))
    count = int(page.locator("#sums tbody th").inner_text())
    first = entries.first
    before = first.locator(".category").inner_text()
    first.locator("summary").click()
    expect(first.get_by_role("heading", name="Warum")).to_be_visible()
    expect(first.locator(".reasons li").first).to_contain_text(before)
    choice = first.get_by_label("Neue Kategorie")
    choice.select_option("RECREATION_OTHER")
    corrected = choice.locator("option:checked").inner_text()
    assert corrected != before
    first.get_by_label(re.compile("^Alle Umsätze mit")).check()
    first.get_by_role("button", name="Kategorie übernehmen").click()
    expect(page.locator("#preview .big-figure")).to_have_text(str(count))
    page.get_by_role("button", name="Regel anlegen").click()
    expect(page.locator(".notice")).to_contain_text("Die Regel ist angelegt")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text(corrected)
    rules = customer.read(f"{FINDINGS}/tagging-rules")
    assert [rule["tagTreeItem"]["displayName"] for rule in rules] == [corrected]
    page.goto(page.url.partition("/rules")[0] + "?search=rundfunk")
    assert entries.locator(".category").all_inner_texts() == [corrected] * count
    return corrected, count


def look_at_contracts(page, customer):
    go_to(page, "Verträge", "contracts")
    contracts = customer.read(f"{FINDINGS}/contracts")
    running = [contract for contract in contracts if contract["details"]["status"] != "INACTIVE"]
    assert len(running) > 10
    expect(page.locator("table.contracts tbody tr")).to_have_count(len(running))
    expect(page.locator("#calendar thead th")).to_have_count(13)
    expect(page.locator("#calendar td.due").first).to_be_visible()
    link = page.locator("table.contracts tbody a").first
    name = link.inner_text()
    link.click()
    expect(page.locator("h1")).to_have_text(name)
    expect(page.locator("#why li").first).to_be_visible()


def look_at_cashflow(page):
    go_to(page, "Einnahmen und Ausgaben", "cashflow")
    expect(page.locator("html")).to_have_attribute("data-charts", "drawn", timeout=PATIENCE_MS)
    page.locator("#chart-totals summary").click()
    rows = page.locator("#table-totals tbody tr")
    expect(rows).to_have_count(13)  # a year, and the month to come
    expect(rows.first).to_contain_text("€")
    expect(page.locator("#matrix tbody tr", has_text="Wohnen").locator("td").first).to_have_text(re.compile(r"−\d"))


def look_at_disposable_money(page, customer):
    go_to(page, "Verfügbares Geld", "disposable")
    if customer.read(f"{FINDINGS}/disposable-money").get("details") is None:  # on some days no salary is expected
        expect(page.locator(".nothing h2")).to_be_visible()
        return
    expect(page.locator("#sentence")).to_contain_text("Bis zum Gehalt am")
    expect(page.locator("#waterfall svg")).to_have_count(6)
    expect(page.locator("#why li").first).to_be_visible()


def look_at_life(page, customer):
    go_to(page, "Lebensereignisse", "life")
    events = customer.read(f"{FINDINGS}/life-events")
    assert events  # a house was bought
    names = page.locator(".event h4").all_inner_texts()
    assert sorted(names) == sorted(event["tagTreeItem"]["displayName"] for event in events)
    assert all(page.locator(".event .why").all_inner_texts())


def look_at_insurances_and_triggers(page, customer):
    triggers = customer.read(f"{FINDINGS}/sales-triggers")
    missing = [trigger for trigger in triggers if trigger["tagTreeItem"]["systemName"].startswith("MISSINGINSURANCE")]
    go_to(page, "Versicherungen", "insurances")
    expect(page.locator(".lacking > li")).to_have_count(len(missing))
    assert page.locator("#policies tbody tr:not(.division)").count() > 3
    see_as_adviser(page, "sales-triggers", "triggers")
    expect(page.locator(".occasion")).to_have_count(len(triggers))


def see_as_adviser(page, scope, view):
    """From what can be shared with advisers."""
    go_to(page, "Freigaben", "disclosures")
    page.click(f"#more-{scope} a")
    expect(page.locator("main")).to_have_attribute("data-view", view, timeout=PATIENCE_MS)


def look_at_affordability(page, customer):
    see_as_adviser(page, "affordability", "affordability")
    check = customer.read(f"{FINDINGS}/credit-check")["details"]
    expect(page.locator("#account tr.sum")).to_have_count(4)
    expect(page.locator("#signs li")).to_have_count(6)
    expect(page.locator("#findings tbody tr")).to_have_count(len(check["findings"]))


def look_behind_the_page(page, console_site):
    page.click("#calls > summary")
    call = page.locator(".call", has_text="/customer/v2/ai/credit-check")
    call.locator("summary").click()
    expect(call.get_by_label("curl")).to_contain_text(console_site.address)
    with page.context.expect_page() as opened:
        call.get_by_role("link", name="Vollständige Antwort öffnen").click()
    opened.value.wait_for_load_state()
    answer = json.loads(opened.value.locator("body").inner_text())
    assert "incomeMonthly" in answer["details"]
    opened.value.close()


def look_at_quick_start(page, console_site, customer):
    go_to(page, "Schnellstart", "quickstart")
    expect(page.locator("#code-curl")).to_contain_text(f"base={console_site.address}")
    page.locator("nav.tabs").get_by_role("link", name="Python").click()
    expect(page.locator("#code-python")).to_contain_text("from kontor_client import Kontor")
    expect(page.get_by_role("heading", name=f"Eigene Aufrufe als {customer.username}")).to_be_visible()


def take_data_along(page, corrected, count):
    go_to(page, "Meine Daten", "data")
    expect(page.locator("#stored tr", has_text="Eigene Regeln").locator("td")).to_have_text("1")
    with page.expect_download() as download:
        page.click("#export-spreadsheet")
    assert re.fullmatch(r"kontor-umsaetze-[\d-]+\.csv", download.value.suggested_filename)
    lines = Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) > 1000
    assert sum("rundfunk" in line.lower() and corrected in line for line in lines) == count


def erase_everything(page, customer):
    page.click("#language-en")
    expect(page.locator("h1")).to_have_text("My data")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.fill("#erase-username", customer.username)
    page.click("#erase")
    page.wait_for_url("**/console/sign-in?notice=erased", timeout=FETCHING_MS)
    expect(page.locator("[role=status]")).to_contain_text("erased")
    assert [cookie for cookie in page.context.cookies() if cookie["name"] == "kontor-console"] == []
    enter(page, customer)
    expect(page.locator("#problem")).to_be_visible()
    expect(page.locator("body.signed-in")).to_have_count(0)
    assert customer.get("/customer/v2/bankzugaenge").status_code in (401, 403)
