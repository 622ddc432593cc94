"""The component on a tenant's page: popup and frame report the outcome, to listed origins alone."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from banking import new_customer
from browser.form_driver import Form
from consenting import new_login


def open_shop(form, site):
    """The tenant's page with the component, and the form's address for it."""
    address = f"{form.start()}&callbackUrl={quote(form.callback(), safe='')}"
    form.page.goto(f"{site.origin}/shop?url={quote(address, safe='')}")
    return form.page


def in_popup(form, shop):
    with form.page.context.expect_page() as opened:
        shop.get_by_role("button", name="Popup").click()
    return Form(opened.value, form.customer, form.site, form.language, form.access_id)


def in_frame(form, shop):
    shop.get_by_role("button", name="Frame").click()
    frame = shop.locator("iframe").element_handle().content_frame()
    return Form(frame, form.customer, form.site, form.language, form.access_id)


@pytest.fixture
def shop(new_form, set_branding, branded, site):
    """A form of a tenant that has listed its page, on that page."""
    set_branding(display_name="Laden", frame_origins=[site.origin])
    form = new_form(tenant=branded)
    return form, open_shop(form, site)


def expect_outcome(page, form, outcome):
    expected = [{"baReentry": outcome, "accessId": form.access_id}]
    page.wait_for_function("window.outcomes.length > 0")
    assert page.evaluate("window.outcomes") == expected
    assert page.evaluate("window.events") == expected


@pytest.mark.parametrize("show", [in_popup, in_frame], ids=["popup", "frame"])
def test_a_new_access_is_reported_by_event_and_callback(shop, show):
    form, page = shop
    inner = show(form, page)
    inner.to_credentials().log_in(new_login("test_sca_method")).choose("method", "mockTAN").enter("2")
    inner.confirm_accounts()
    expect_outcome(page, form, "ACCOUNT_CREATED")
    expect(page.locator("iframe")).to_have_count(0)
    assert len(page.context.pages) == 1
    assert form.site.visits_to("/back") == []


@pytest.mark.parametrize("show", [in_popup, in_frame], ids=["popup", "frame"])
def test_a_bank_redirect_out_of_it_comes_back(shop, show):
    """A popup goes to the bank itself; a frame opens a window for it, because banks refuse to be framed."""
    form, page = shop
    inner = show(form, page)
    inner.to_credentials().log_in(new_login("test_redirect"))
    if show is in_popup:
        inner.confirm_at_bank()
    else:
        inner.at("redirect")
        with page.context.expect_page() as opened:
            inner.page.get_by_role("link", name=inner.text("redirect.go")).click()
        opened.value.get_by_role("button", name="Freigeben").click()
    inner.confirm_accounts()
    expect_outcome(page, form, "ACCOUNT_CREATED")


def test_declining_in_a_popup_is_reported(shop):
    form, page = shop
    inner = in_popup(form, page)
    inner.at("legal")
    inner.press("legal.decline")
    expect_outcome(page, form, "LEGAL_NOT_ACCEPTED")


def test_an_outcome_without_a_safe_target_is_reported_too(new_form, set_branding, branded, site):
    set_branding(frame_origins=[site.origin])
    form = new_form(tenant=branded)
    form.page.goto(f"{site.origin}/shop?url={quote(form.start(), safe='')}")
    in_popup(form, form.page)
    expect_outcome(form.page, form, "NO_CALLBACK_URL")


def test_a_popup_that_is_closed_is_reported_without_a_value(shop):
    form, page = shop
    in_popup(form, page).page.close()
    page.wait_for_function("window.outcomes.length > 0")
    assert page.evaluate("window.outcomes") == [{"baReentry": None, "accessId": None}]


def test_an_unlisted_origin_cannot_frame_the_form(new_form, set_branding, branded, site, other_site, watch):
    set_branding(frame_origins=[site.origin])
    form = new_form(tenant=branded)
    page = open_shop(form, other_site)
    page.get_by_role("button", name="Frame").click()
    frame = page.locator("iframe").element_handle().content_frame()
    page.wait_for_timeout(1000)
    assert "webform" not in (frame.evaluate("document.body.innerText") if frame.url.startswith("http") else "")
    assert frame.locator("main").count() == 0
    assert any("frame-ancestors" in complaint for complaint in watch.complaints)
    assert page.evaluate("window.messages") == []
    watch.complaints.clear()


def test_an_unlisted_origin_is_told_nothing_by_a_popup(new_form, set_branding, branded, site, other_site, watch):
    set_branding(frame_origins=[site.origin])
    form = new_form(tenant=branded)
    page = open_shop(form, other_site)
    inner = in_popup(form, page)
    inner.at("legal")
    inner.press("legal.decline")
    inner.at("end")
    page.wait_for_timeout(500)
    assert page.evaluate("window.messages") == []
    assert page.evaluate("window.outcomes") == []
    assert all("postMessage" in complaint for complaint in watch.complaints)
    watch.complaints.clear()


def test_a_tenant_without_listed_origins_cannot_be_framed_and_returns_by_its_callback(new_form, site, watch):
    form = new_form()
    page = open_shop(form, site)
    inner = in_popup(form, page)
    inner.at("legal")
    inner.press("legal.decline")
    inner.expect_return("LEGAL_NOT_ACCEPTED")
    assert page.evaluate("window.messages") == []
    again = Form(page, new_customer(form.customer.tenant), site)
    open_shop(again, site)
    page.get_by_role("button", name="Frame").click()
    page.wait_for_timeout(800)
    assert page.locator("iframe").element_handle().content_frame().locator("main").count() == 0
    assert any("frame-ancestors" in complaint for complaint in watch.complaints)
    watch.complaints.clear()
