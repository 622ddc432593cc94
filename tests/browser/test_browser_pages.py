"""What single pages offer: credentials, flicker graphic, countdown, choice of accounts; consent; language; look."""

import base64
import re

import pytest
from playwright.sync_api import expect

from browser.form_driver import TANS, Form
from consenting import new_login
from kontor.pages.formatting import embed_picture

pytestmark = pytest.mark.long

LOGO = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40" onload="top.hacked=1">'
    b'<script>top.hacked = 1</script><rect width="120" height="40" fill="#0a7"/></svg>'
)


# Credentials


def test_the_credentials_form_is_drawn_from_the_providers_fields(form):
    form.open().to_credentials().at("credentials")
    user, pin = form.page.locator("#field-userid"), form.page.locator("#field-pin")
    expect(user).to_have_attribute("autocomplete", "username")
    expect(pin).to_have_attribute("autocomplete", "current-password")
    expect(pin).to_have_attribute("type", "password")
    for field in (user, pin):
        expect(field).to_have_attribute("required", "")
        described = field.get_attribute("aria-describedby") or ""
        for name in described.split():
            expect(form.page.locator(f"#{name}")).to_be_visible()
    form.press("credentials.submit")
    assert user.evaluate("one => one.validity.valueMissing")
    pin.fill("geheim")
    form.page.get_by_role("button", name=form.text("credentials.show_label", label="PIN")).click()
    expect(pin).to_have_attribute("type", "text")
    form.page.get_by_role("button", name=form.text("credentials.hide_label", label="PIN")).click()
    expect(pin).to_have_attribute("type", "password")


def test_missing_fields_are_named_and_the_pin_is_not_sent_back(form):
    form.open().to_credentials().at("credentials")
    form.page.locator("#credentials-form").evaluate("one => one.noValidate = true")
    form.page.locator("#field-pin").fill("geheim-1")
    form.press("credentials.submit")
    alert = form.page.get_by_role("alert")
    expect(alert).to_be_focused()
    alert.get_by_role("link").first.click()
    expect(form.page.locator("#field-userid")).to_be_focused()
    expect(form.page.locator("#field-userid")).to_have_attribute("aria-invalid", "true")
    expect(form.page.locator("#field-pin")).to_have_value("")
    assert "geheim-1" not in form.page.content()
    assert form.page.title().startswith(form.text("common.error_prefix"))


# Authorising


def read_bars(form: Form) -> str:
    return form.page.locator(".bars").evaluate("one => [...one.children].map((bar) => +bar.matches('.on')).join('')")


def test_the_flicker_graphic_can_be_sized_slowed_and_paused(form):
    form.open().to_credentials().log_in(new_login("test_chiptan")).at("tan")
    seen = set()
    for _ in range(12):
        seen.add(read_bars(form))
        form.page.wait_for_timeout(60)
    assert len(seen) > 3
    form.press("flicker.pause")
    still = read_bars(form)
    form.page.wait_for_timeout(300)
    assert read_bars(form) == still
    form.press("flicker.resume")
    expect(form.button("flicker.pause")).to_be_visible()
    form.page.get_by_label(form.text("tan.size")).fill("300")
    box = form.page.get_by_role("img", name=form.text("flicker.label"))
    assert box.evaluate("one => one.offsetWidth") == 300
    form.page.get_by_label(form.text("flicker.speed")).fill("10")
    form.page.reload()
    expect(form.page.get_by_label(form.text("tan.size"))).to_have_value("300")
    expect(form.page.get_by_label(form.text("flicker.speed"))).to_have_value("10")


def test_the_flicker_graphic_waits_where_less_motion_is_wanted(form):
    form.page.emulate_media(reduced_motion="reduce")
    form.open().to_credentials().log_in(new_login("test_chiptan")).at("tan")
    expect(form.page.get_by_text(form.text("flicker.reduced"))).to_be_visible()
    still = read_bars(form)
    form.page.wait_for_timeout(300)
    assert read_bars(form) == still
    form.press("flicker.resume")
    expect(form.button("flicker.pause")).to_be_visible()


def test_the_tan_page_counts_down_and_its_picture_can_be_sized(form):
    form.open().to_credentials().log_in(new_login("test_phototan")).at("tan")
    countdown = form.page.locator("#countdown")
    expect(countdown).to_have_text(re.compile(r"Noch \d+:\d\d Minuten"))
    before = countdown.text_content()
    expect(countdown).not_to_have_text(before)
    picture = form.page.get_by_role("img", name=form.text("tan.photo_alt"))
    assert picture.get_attribute("src").startswith("data:image/png;base64,")
    form.page.get_by_label(form.text("tan.size")).fill("300")
    assert picture.evaluate("one => one.offsetWidth") == 300


def test_a_challenge_that_ran_out_is_told_and_can_be_repeated(form, owner):
    form.open().to_credentials().log_in(new_login("test_phototan")).at("tan")
    owner.execute(
        "update dialogues set expires_at = now() + interval '2 seconds' where access_id = %s", [form.access_id]
    )
    form.page.reload()
    expect(form.at("failed")).to_contain_text(form.text("failed.too_late.title"))
    form.press("failed.retry")
    form.enter(TANS["photoTAN"]).confirm_accounts().expect_return("ACCOUNT_CREATED")


@pytest.mark.parametrize(
    "data", [b"<svg onload='alert(1)'/>", b"<html><script>alert(1)</script>", b"%PDF-1.4", b"", b"\x89PNG" * (1 << 20)]
)
def test_a_photo_is_shown_only_as_an_image(data):
    assert embed_picture(data) is None


# Accounts


def test_only_chosen_accounts_are_kept(form):
    form.to_accounts(new_login("demo1"))
    boxes = form.page.get_by_role("checkbox").all()
    for box in boxes[1:]:
        box.uncheck()
    form.press("accounts.submit")
    form.expect_return("ACCOUNT_CREATED")
    assert len(form.customer.products(form.access_id)) == 1
    form.customer.wait_until_complete(form.access_id)
    assert len(form.customer.products(form.access_id)) == 1 < len(boxes)


def test_no_account_chosen_is_told(form):
    form.to_accounts(new_login("leer"))
    form.page.get_by_role("checkbox").uncheck()
    form.press("accounts.submit")
    expect(form.page.get_by_role("alert")).to_have_text(form.text("accounts.missing"))
    form.page.get_by_role("checkbox").check()
    form.confirm_accounts().expect_return("ACCOUNT_CREATED")


# Legal acceptance


def test_legal_acceptance_is_asked_for_once_per_user_and_again_for_a_new_version(new_form, set_branding, branded):
    set_branding(legal_text="Erste Fassung.\n\nZweiter Absatz.", legal_version="2026-1")
    form = new_form(tenant=branded)
    form.open().at("legal")
    expect(form.page.get_by_text("Zweiter Absatz.")).to_be_visible()
    expect(form.page.get_by_text(form.text("legal.version", version="2026-1"))).to_be_visible()
    form.accept().at("provider")
    again = Form(form.page, form.customer, form.site)
    again.open().at("provider")
    set_branding(legal_text="Neue Fassung.", legal_version="2026-2")
    renewed = Form(form.page, form.customer, form.site)
    renewed.open().at("legal")
    expect(form.page.get_by_text("Neue Fassung.")).to_be_visible()
    renewed.accept().at("provider")


def test_a_declined_consent_is_asked_for_again(form):
    form.open().at("legal")
    form.press("legal.decline")
    form.expect_return("LEGAL_NOT_ACCEPTED")
    Form(form.page, form.customer, form.site).open().at("legal")


# Language


def test_the_language_can_be_switched_on_every_page_and_stays(form):
    form.open().at("legal")
    expect(form.heading()).to_have_text(f"Konto mit {form.customer.tenant.name} verbinden")
    form.page.get_by_role("link", name="EN", exact=True).click()
    expect(form.heading()).to_have_text(f"Connect an account with {form.customer.tenant.name}")
    assert form.page.evaluate("document.documentElement.lang") == "en"
    form.language = "en"
    form.to_credentials().at("credentials")
    form.page.get_by_role("link", name="DE", exact=True).click()
    expect(form.heading()).to_have_text("Bei Demo-Bank anmelden")
    Form(form.page, form.customer, form.site).open()
    expect(form.heading()).to_have_text("Bei welcher Bank ist Ihr Konto?")


def test_an_unknown_language_gets_german(new_form):
    form = new_form(locale="nl-NL")
    form.open()
    expect(form.heading()).to_contain_text("Konto mit")


# White label


def test_a_tenants_name_logo_colours_and_text_without_code(new_form, set_branding, branded):
    set_branding(
        display_name="Haushaltsbuch Müller",
        logo=LOGO,
        colours='{"primary": "#7a1fa2"}',
        legal_text="Unser eigener Text.",
        legal_version="7",
    )
    form = new_form(tenant=branded)
    form.open().at("legal")
    expect(form.heading()).to_have_text("Konto mit Haushaltsbuch Müller verbinden")
    assert form.page.title().endswith("Haushaltsbuch Müller")
    logo = form.page.get_by_role("img", name="Haushaltsbuch Müller")
    assert logo.evaluate("one => one.complete && one.naturalWidth") == 120
    assert form.button("legal.accept").evaluate("one => getComputedStyle(one).backgroundColor") == "rgb(122, 31, 162)"
    expect(form.page.get_by_text("Unser eigener Text.")).to_be_visible()
    assert form.page.evaluate("window.hacked") is None
    form.to_credentials().log_in(new_login("leer")).at("accounts")
    expect(form.page.get_by_text("Haushaltsbuch Müller erhält nur")).to_be_visible()


def test_an_icon_of_one_pixel_and_a_png_are_logos_too(new_form, set_branding, branded):
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    set_branding(display_name="Punkt", logo=base64.b64decode(pixel))
    form = new_form(tenant=branded)
    form.open().at("legal")
    assert form.page.get_by_role("img", name="Punkt").evaluate("one => one.naturalWidth") == 1
