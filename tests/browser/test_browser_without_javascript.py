"""Everything but the flicker graphic and the search while typing works without JavaScript."""

import pytest
from playwright.sync_api import expect

from browser.form_driver import TANS, WRONG_TAN, keep_bank_waiting, let_bank_answer
from browser.test_browser_outcomes import is_stored
from consenting import new_login

pytestmark = pytest.mark.long


@pytest.fixture
def plain(new_form):
    return new_form(java_script_enabled=False)


def choose_bank(form, query="Demo"):
    form.accept().at("provider")
    form.page.get_by_label(form.text("provider.label")).fill(query)
    form.press("provider.search")
    form.page.get_by_role("button", name="Demo-Bank").click()
    return form


def confirm_in_app(form):
    """The bank has it at the second look."""
    form.at("confirmation")
    for _ in range(2):
        form.press("confirmation.confirmed")


def enter_what_stands_there(form):
    expect(form.at("tan").locator("noscript code, p code").first).to_contain_text("2908881344731012345678900515,00")
    form.enter(TANS["chipTAN optisch"])


WAYS = {
    "demo1": lambda form: None,
    "test_sca_method_media": lambda form: (
        form.choose("method", "mockTAN").choose("medium", "Mein Handy").enter(WRONG_TAN).enter(TANS["mockTAN"])
    ),
    "test_decoupled": confirm_in_app,
    "test_phototan": lambda form: form.enter(TANS["photoTAN"]),
    "test_chiptan": enter_what_stands_there,
    "test_redirect": lambda form: form.confirm_at_bank(),
}


@pytest.mark.parametrize("login", WAYS)
def test_a_new_access_without_javascript(plain, login):
    choose_bank(plain.open()).log_in(new_login(login))
    WAYS[login](plain)
    plain.confirm_accounts().expect_return("ACCOUNT_CREATED")
    assert is_stored(plain)


def test_a_slow_bank_without_javascript(plain, owner):
    """The page that waits loads itself anew."""
    choose_bank(plain.open()).log_in(new_login("test_sca_method")).at("method")
    methods = keep_bank_waiting(owner, plain)
    plain.page.reload()
    plain.at("connecting")
    let_bank_answer(owner, plain, methods)
    plain.choose("method", "iTAN").enter(TANS["iTAN"]).at("accounts")


def test_popular_banks_are_links_without_javascript(plain):
    plain.open().accept().at("provider")
    plain.page.get_by_role("link", name="Commerzbank").click()
    expect(plain.page.get_by_role("button", name="Commerzbank").first).to_be_visible()


def test_cancel_and_language_without_javascript(plain):
    plain.open().accept().at("provider")
    plain.page.get_by_role("link", name="EN", exact=True).click()
    expect(plain.heading()).to_have_text("Which bank is your account with?")
    plain.language = "en"
    plain.press("common.cancel", tenant=plain.customer.tenant.name)
    plain.expect_return("USER_CANCELLED")
