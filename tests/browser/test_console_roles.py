"""Customers, advisers and operators in a browser: each acts in pages of their own, at both widths and by keyboard."""

from datetime import datetime, timedelta

import pytest

from banking import href, new_customer
from browser.accessibility import DESKTOP, PHONE, find_problems
from console_site import make_console_adviser
from kontor.pages.formatting import BERLIN

DISCLOSURES = "/customer/v2/freigaben"


def look_at(page, is_phone):
    """Dark on a phone, light on a desktop."""
    assert find_problems(page, *(("dark", PHONE) if is_phone else ("light", DESKTOP))) == []


def press(page, selector, key="Enter"):
    """Without a mouse."""
    page.locator(selector).focus()
    page.keyboard.press(key)


@pytest.mark.parametrize("is_phone", [False, True])
def test_a_customer_shares_an_adviser_reads_and_the_customer_sees_it_and_withdraws(
    open_console, console_site, is_phone
):
    customer, adviser = new_customer(console_site.advised), make_console_adviser(console_site)
    page = open_console("/disclosures", customer=customer, is_phone=is_phone)
    press(page, "#scope-contracts", "Space")
    press(page, "#whom-one", "Space")
    page.fill("#adviser", adviser.reference)
    look_at(page, is_phone)
    press(page, "#preview")
    page.wait_for_selector("#give")
    shown = page.locator(".recorded").inner_text()
    look_at(page, is_phone)
    press(page, "#give")
    page.wait_for_url("**/disclosures?notice=disclosure_given")
    assert page.get_by_role("status").inner_text() == "Ihre Freigabe gilt ab sofort."
    (given,) = customer.read(DISCLOSURES)
    assert given["text"] == shown

    office = open_console("/adviser", customer=adviser, is_phone=is_phone)
    look_at(office, is_phone)
    office.click("table.customers a")
    look_at(office, is_phone)
    office.get_by_role("link", name="Öffnen").click()
    office.wait_for_selector("main[data-view=customer_contracts]")
    look_at(office, is_phone)

    page.get_by_role("link", name="Wer hat was gelesen?").click()
    assert adviser.reference in page.locator("#reads").inner_text()
    look_at(page, is_phone)
    press(page, "#withdraw")
    page.wait_for_url("**notice=disclosure_withdrawn")
    office.reload()
    office.wait_for_selector("text=nichts freigegeben")


@pytest.fixture
def payer(console_site):
    """A user with one contract."""
    customer = new_customer(console_site.regulated)
    product = customer.products(customer.add_complete("leer"))[0]
    month = datetime.now(BERLIN).date().replace(day=1)
    rows = []
    for number in range(6):
        rows.append({
            "identifier": {"batchId": "one", "id": str(number)}, "betrag": -19.99, "buchungsdatum": str(month),
            "gegenkontoInhaber": "Fitness Beispiel GmbH", "gegenkontoIban": "DE89370400440532013000", "gvCode": "105",
            "verwendungszweck": "Beitrag", "buchungstext": "LASTSCHRIFT",
        })  # fmt: skip
        month = (month - timedelta(days=1)).replace(day=1)
    assert customer.post(href(product, "get_kontoumsaetze"), rows).status_code == 201
    return customer


@pytest.mark.parametrize("is_phone", [False, True])
def test_a_customer_names_cancels_and_hides_a_contract_and_brings_it_back(open_console, payer, is_phone):
    page = open_console("/contracts", customer=payer, is_phone=is_phone)
    page.locator("table.contracts th a").first.click()
    page.fill("#name", "Mein Studio")
    page.select_option("#notice-period", "P3M")
    page.fill("#minimum-term-end", "2031-12-31")
    press(page, "#save")
    page.wait_for_url("**notice=contract_saved")
    assert page.locator("h1").inner_text() == "Mein Studio"
    assert page.locator(".tile", has_text="Kündigen bis").locator("dd").inner_text().startswith("30.09.2031")
    assert page.get_by_role("status").is_visible()
    look_at(page, is_phone)
    with page.expect_download() as download:
        press(page, "#cancellation")
    assert download.value.suggested_filename == "kuendigung.pdf"
    press(page, "#hide")
    page.wait_for_url("**show=hidden**")
    look_at(page, is_phone)
    page.get_by_role("button", name="Mein Studio wieder anzeigen").press("Enter")
    page.wait_for_url("**notice=contract_restored")
    assert page.locator("table.contracts").get_by_text("Mein Studio").is_visible()


@pytest.mark.parametrize("is_phone", [False, True])
def test_an_operator_opens_an_access_and_pauses_it_after_a_question(open_console, console_site, is_phone):
    customer = new_customer(console_site.regulated)
    access_id = customer.add_complete("leer")
    page = open_console(f"/ops/accesses/{customer.reference}/{access_id}", is_operator=True, is_phone=is_phone)
    look_at(page, is_phone)
    page.locator("#actions").get_by_role("link", name="Pausieren").press("Enter")
    page.wait_for_selector("#confirmation")
    look_at(page, is_phone)
    press(page, "#confirm")
    page.wait_for_url("**notice=access_pause")
    assert page.get_by_role("heading", name="Von einem Betreiber pausiert").is_visible()
