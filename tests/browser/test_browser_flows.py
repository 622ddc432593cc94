"""Every demo login through the whole form to the tenant: both languages, desktop and phone, each pair at least once."""

import pytest
from playwright.sync_api import expect

from banking import rels
from browser.form_driver import TANS
from consenting import new_login


def pass_nothing(form):
    pass


def pass_method(form):
    form.choose("method", "mockTAN").enter(TANS["mockTAN"])


def pass_method_and_medium(form):
    form.choose("method", "iTAN").choose("medium", "Mein Tablet").enter(TANS["iTAN"])


def pass_decoupled(form):
    """Nothing to do but wait: the page goes on by itself once the bank has the confirmation."""
    main = form.at("confirmation")
    expect(main.get_by_role("status")).to_have_text(form.text("confirmation.waiting"))


def pass_photo(form):
    picture = form.at("tan").get_by_role("img", name=form.text("tan.photo_alt"))
    assert picture.evaluate("one => one.complete && one.naturalWidth") > 100
    form.enter(TANS["photoTAN"])


def pass_chip(form):
    expect(form.at("tan").get_by_role("img", name=form.text("flicker.label"))).to_be_visible()
    form.enter(TANS["chipTAN optisch"])


def pass_redirect(form):
    form.confirm_at_bank()


LOGINS = {
    "demo1": pass_nothing,
    "leer": pass_nothing,
    "test_sca_method": pass_method,
    "test_sca_method_media": pass_method_and_medium,
    "test_decoupled": pass_decoupled,
    "test_phototan": pass_photo,
    "test_chiptan": pass_chip,
    "test_redirect": pass_redirect,
}
# Each login in each language and on each device, each language on each device; the second round of each is long.
ROUNDS = [
    pytest.param(login, language, device, marks=[pytest.mark.long] if language == "en" else [])
    for place, login in enumerate(LOGINS)
    for language, device in (
        (("de", "desktop"), ("en", "phone")) if place % 2 == 0 else (("de", "phone"), ("en", "desktop"))
    )
]


@pytest.mark.parametrize(("login", "language", "device"), ROUNDS)
def test_a_new_access_through_the_whole_form(new_form, login, language, device):
    form = new_form(language=language, is_phone=device == "phone")
    form.open().to_credentials().log_in(new_login(login))
    LOGINS[login](form)
    accounts = form.at("accounts")
    assert form.page.evaluate("document.documentElement.lang") == language
    assert form.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "it scrolls sideways"
    shown = accounts.get_by_role("checkbox").count()
    form.press("accounts.submit")
    assert form.expect_return("ACCOUNT_CREATED") == {}
    stored = form.customer.wait_until_complete(form.access_id)
    assert len(stored["bankprodukte"]) == shown > 0
    assert "start_sca" not in rels(stored)


@pytest.mark.parametrize(
    ("login", "language", "device"),
    [
        ("test_sca_method", "de", "desktop"),
        ("test_redirect", "en", "phone"),
        ("demo1", "en", "desktop"),
    ],
)
def test_a_renewal_through_the_form(new_form, owner, login, language, device):
    form = new_form(language=language, is_phone=device == "phone")
    form.open().to_credentials().log_in(new_login(login))
    LOGINS[login](form)
    form.confirm_accounts().expect_return("ACCOUNT_CREATED")
    form.customer.wait_until_complete(form.access_id)
    owner.execute(
        "update accesses set consent_until = now() + interval '3 days' where user_id = %s and id = %s",
        [form.customer.reference, form.access_id],
    )
    assert "start_sca" in rels(form.customer.read_access(form.access_id))
    form.start_renewal(form.callback("/renewed", "?order=7"))
    form.page.goto(form.location)
    RENEWALS[login](form)
    assert form.expect_return("FINISHED", "/renewed") == {"order": "7"}
    assert "start_sca" not in rels(form.customer.read_access(form.access_id))


# A renewal asks no bank, no credentials and no accounts, and reuses the method and medium of the last time;
# a login for which the bank wants no SCA is back at once.
RENEWALS = {
    "test_sca_method": lambda form: form.enter(TANS["mockTAN"]),
    "test_redirect": pass_redirect,
    "demo1": pass_nothing,
}
