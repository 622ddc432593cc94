"""A file in the console, as a person imports it: chosen once, previewed, described where it is unknown, stored."""

from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Page, expect

from banking import ACCESSES, new_customer
from browser.accessibility import check
from console_site import ConsoleSite

TABLE = "Datum;Empfänger;Was;Umsatz;Kontostand\n" + "".join(
    f"{day:02d}.11.2026;Laden {day};Einkauf Nr. {day};-10,00;{1000 - 10 * day},00\n" for day in range(1, 10)
)
UNKNOWN: FilePayload = {"name": "umsaetze.csv", "mimeType": "text/csv", "buffer": TABLE.encode("cp1252")}
BAD_ROW: FilePayload = UNKNOWN | {"buffer": (TABLE + "heute;X;Y;eins;1,00\n").encode()}  # type: ignore[assignment]


def test_a_file_of_an_unknown_form_is_chosen_once_described_previewed_and_imported(
    open_console: Callable[..., Page], console_site: ConsoleSite
):
    customer = new_customer(console_site.regulated)
    page = open_console("/imports", customer=customer)
    check(page)
    page.set_input_files("#file", UNKNOWN)
    page.click("#preview-button")
    expect(page.locator("#description-title")).to_be_focused()
    expect(page.get_by_label("Umsatz", exact=True)).to_have_value("betrag")
    page.get_by_label("Was", exact=True).select_option(label="Verwendungszweck")
    check(page)
    page.click("#describe-button")
    expect(page.locator("#problem")).to_contain_text("einen Namen")
    page.fill("#form-name", "Sparverein Süd")
    page.click("#describe-button")
    expect(page.locator("#preview-title")).to_be_focused()
    expect(page.locator("#preview [data-count=neu]")).to_have_text("9")
    expect(page.locator("#preview .balances")).to_contain_text("Die Salden stimmen")
    expect(page.locator("#preview .examples tbody tr")).to_have_count(5)
    check(page)
    assert customer.read(ACCESSES) == {}
    page.click("#import-button")
    page.wait_for_url("**/console/imports?result=*")
    expect(page.locator(".notice").first).to_have_text("Die Datei ist importiert.")
    expect(page.locator("#result [data-count=neu]")).to_have_text("9")
    check(page)
    page.locator("#result h3 a").click()
    expect(page.locator("main")).to_have_attribute("data-view", "account")
    assert len(customer.transactions(customer.products("dateien")[0])) == 9


def test_a_bad_row_and_a_file_that_is_none_are_told(open_console: Callable[..., Page], console_site: ConsoleSite):
    customer = new_customer(console_site.regulated)
    form = {
        "name": "Sparverein", "datumsformat": "dd.mm.yyyy", "dezimalzeichen": ",",
        "spalten": {"Datum": "buchungsdatum", "Was": "verwendungszweck", "Umsatz": "betrag"},
    }  # fmt: skip
    assert customer.post("/customer/v2/imports/forms", form).status_code == 201
    page = open_console("/imports", customer=customer)
    page.set_input_files("#file", {"name": "x.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 \x00"})
    page.click("#preview-button")
    expect(page.locator("#problem")).to_contain_text("Diese Datei kann nicht importiert werden.")
    check(page)
    page.set_input_files("#file", BAD_ROW)
    page.click("#preview-button")
    expect(page.locator("#preview [data-count=abgelehnt]")).to_have_text("1")
    expect(page.locator(".rejected li")).to_have_text(["Zeile 11: Der Betrag kann nicht gelesen werden."])
    check(page)
    page.locator("#forms button").click()
    expect(page.locator(".notice").first).to_have_text("Die Zuordnung ist gelöscht.")
    assert customer.read("/customer/v2/imports/forms") == []


@pytest.mark.long
def test_a_file_that_is_too_large_is_not_sent(open_console: Callable[..., Page], console_site: ConsoleSite):
    page = open_console("/imports", customer=new_customer(console_site.regulated))
    size = 16 * 1024 * 1024 + 1
    page.set_input_files("#file", {"name": "x.csv", "mimeType": "text/csv", "buffer": b"x" * size})
    page.click("#preview-button")
    assert "höchstens 16 MB" in page.locator("#file").evaluate("field => field.validationMessage")
    expect(page.locator("#problem")).to_have_count(0)
