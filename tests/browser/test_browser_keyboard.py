"""With the keyboard alone: every step can be reached, is marked when it is, and can be taken."""

import pytest
from playwright.sync_api import expect

from browser.form_driver import TANS
from browser.keyboard import tab_to
from consenting import new_login


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_whole_form_with_the_keyboard_alone(new_form, language):
    form = new_form(language=language)
    keyboard = form.page.keyboard
    form.open().at("legal")
    keyboard.press("Tab")
    expect(form.page.get_by_role("link", name=form.text("common.skip"))).to_be_focused()
    tab_to(form.page, form.button("legal.accept"))
    keyboard.press("Enter")
    form.at("provider")
    expect(form.page.get_by_label(form.text("provider.label"))).to_be_focused()
    keyboard.type("demo-bank")
    expect(form.page.get_by_role("option")).to_have_count(1)
    keyboard.press("ArrowDown")
    expect(form.page.get_by_role("option", selected=True)).to_contain_text("Demo-Bank")
    keyboard.press("Enter")
    form.at("credentials")
    expect(form.page.locator("#field-userid")).to_be_focused()
    keyboard.type(new_login("test_sca_method"))
    keyboard.press("Tab")
    keyboard.type("demo")
    tab_to(form.page, form.page.get_by_role("button", name=form.text("credentials.show_label", label="PIN")))
    keyboard.press("Space")
    expect(form.page.locator("#field-pin")).to_have_attribute("type", "text")
    tab_to(form.page, form.button("credentials.submit"))
    keyboard.press("Enter")
    form.at("method")
    tab_to(form.page, form.page.get_by_role("radio", name="mockTAN"))
    keyboard.press("ArrowDown")
    expect(form.page.get_by_role("radio", name="iTAN")).to_be_checked()
    keyboard.press("Enter")
    form.at("tan")
    expect(form.page.get_by_label("TAN", exact=True)).to_be_focused()
    keyboard.type(TANS["iTAN"])
    keyboard.press("Enter")
    form.at("accounts")
    first = form.page.get_by_role("checkbox").first
    tab_to(form.page, first)
    keyboard.press("Space")
    expect(first).not_to_be_checked()
    kept = form.page.get_by_role("checkbox", checked=True).count()
    tab_to(form.page, form.button("accounts.submit"))
    keyboard.press("Enter")
    form.expect_return("ACCOUNT_CREATED")
    form.customer.wait_until(form.access_id, lambda access: len(access["bankprodukte"]) == kept)


def test_the_bank_search_is_a_combobox(form):
    """What a screen reader is told: how many are found, which one is meant, and whether the list is open."""
    form.open().accept().at("provider")
    field = form.page.get_by_role("combobox", name=form.text("provider.label"))
    expect(field).to_have_attribute("aria-expanded", "false")
    field.press_sequentially("Volksbank")
    expect(form.page.get_by_role("option")).to_have_count(8)
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(form.page.get_by_role("status")).to_contain_text("Banken gefunden")
    options = form.page.get_by_role("listbox").get_by_role("option")
    field.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    field.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    meant = field.get_attribute("aria-activedescendant")
    assert options.first.get_attribute("id") == meant
    field.press("Escape")
    assert field.get_attribute("aria-activedescendant") is None
    expect(field).to_be_focused()


SEARCHES = [
    ("370 501 98", "Sparkasse KölnBonn"),
    ("demo", "Demo-Bank"),
    ("37050198", "Sparkasse KölnBonn"),
    ("sparkasse koeln", "Köln"),
    ("COLSDE33", "Sparkasse KölnBonn"),
    ("sparkasse köln", "Köln"),
]


def test_banks_are_found_by_name_city_code_and_bic(form):
    form.open().accept()
    for query, found in SEARCHES:
        expect(form.search(query).filter(has_text=found).first).to_be_visible()


def test_a_bank_that_cannot_be_connected_says_so_and_another_can_be_chosen(form):
    form.open().accept()
    form.search("Commerzbank Berlin").first.click()
    expect(form.page.get_by_role("alert")).to_have_text(form.text("provider.unavailable"))
    form.choose_bank().at("credentials")
