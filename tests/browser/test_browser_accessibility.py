"""axe-core finds nothing on any page and in any state: WCAG 2.2 AA, light and dark, desktop and phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import DECLARED, LOOKED_AT, find_violations, shows
from browser.accessibility import check as look_at
from browser.form_driver import WRONG_TAN, Form, keep_bank_waiting, let_bank_answer
from consenting import new_login

pytestmark = pytest.mark.long

OPTIONS = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
}


def check(page: Page) -> None:
    look_at(page, OPTIONS)


def test_colours_that_nobody_can_read_are_found_in_a_late_row_too(new_context):
    rows = (
        "<tr><td>readable</td></tr>" * 20 + '<tr><td class="pale">too pale to read</td></tr>' + "<tr><td>last</td></tr>"
    )
    page = new_context().new_page()
    page.set_content(
        "<html lang=de><title>x</title><style>.pale { color: #ccc }</style>"
        f"<main><h1>x</h1><table>{rows}</table></main>"
    )
    assert [violation.partition(" ")[0] for violation in find_violations(page, OPTIONS)] == ["color-contrast"]


@pytest.mark.parametrize("language", ["de", "en"])
@shows("form/legal", "form/provider")
def test_legal_and_bank_search(new_form, language):
    form = new_form(language=language)
    form.open().at("legal")
    check(form.page)
    form.accept().at("provider")
    check(form.page)
    expect(form.search("Sparkasse")).to_have_count(8)
    form.page.keyboard.press("ArrowDown")
    check(form.page)
    form.search("xyzxyz")
    expect(form.page.get_by_role("status")).to_contain_text("xyzxyz")
    check(form.page)
    form.search("Commerzbank Berlin").first.click()
    expect(form.page.get_by_role("alert")).to_have_text(form.text("provider.unavailable"))
    check(form.page)


@shows("form/credentials")
def test_credentials_in_every_state(form):
    form.open().to_credentials().at("credentials")
    check(form.page)
    form.page.locator("#credentials-form").evaluate("one => one.noValidate = true")
    form.press("credentials.submit")
    expect(form.page.get_by_role("alert")).to_be_focused()
    check(form.page)
    form.log_in(new_login("demo1"), "wrong")
    expect(form.page.get_by_role("alert")).to_contain_text(form.text("credentials.wrong_title"))
    check(form.page)


@shows("form/method", "form/medium", "form/tan", "form/failed")
def show_method_and_medium(form: Form) -> None:
    form.log_in(new_login("test_sca_method_media")).at("method")
    check(form.page)
    form.choose("method", "mockTAN").at("medium")
    check(form.page)
    form.choose("medium", "Mein Handy").at("tan")
    check(form.page)
    form.enter(WRONG_TAN)
    expect(form.page.get_by_role("alert")).to_be_visible()
    check(form.page)
    form.enter(WRONG_TAN)
    expect(form.page.get_by_role("alert")).to_contain_text(form.text("tan.attempts_one"))
    form.enter(WRONG_TAN).at("failed")
    check(form.page)


@shows("form/tan")
def show_photo(form: Form) -> None:
    form.log_in(new_login("test_phototan")).at("tan")
    check(form.page)


@shows("form/tan")
def show_chip(form: Form) -> None:
    form.log_in(new_login("test_chiptan")).at("tan")
    check(form.page)


@shows("form/confirmation")
def show_confirmation(form: Form) -> None:
    """The page that waits goes on by itself, so it is held where it is."""
    form.page.route("**/progress", lambda route: route.abort())
    form.log_in(new_login("test_decoupled")).at("confirmation")
    check(form.page)


@shows("form/demobank", "form/failed", "form/demobank-gone")
def show_redirect_and_bank(form: Form) -> None:
    form.log_in(new_login("test_redirect")).at("redirect")
    form.page.get_by_role("link", name=form.text("redirect.go")).click()
    expect(form.page.get_by_role("button", name="Freigeben")).to_be_visible()
    check(form.page)
    address = form.page.url
    form.page.get_by_role("button", name="Ablehnen").click()
    form.at("failed")
    check(form.page)
    form.page.goto(address)
    expect(form.page.get_by_role("heading", name="Dieser Vorgang ist beendet")).to_be_visible()
    check(form.page)


@shows("form/redirect")
def show_redirect(form: Form) -> None:
    """It leaves by itself after a moment unless it did so before; it is looked at when one has come back."""
    form.log_in(new_login("test_redirect")).at("redirect")
    form.page.get_by_role("link", name=form.text("redirect.go")).click()
    expect(form.page.get_by_role("button", name="Freigeben")).to_be_visible()
    form.page.go_back()
    form.at("redirect")
    check(form.page)


@shows("form/accounts")
def show_accounts(form: Form) -> None:
    form.log_in(new_login("demo1")).at("accounts")
    check(form.page)
    for checkbox in form.page.get_by_role("checkbox").all():
        checkbox.uncheck()
    form.press("accounts.submit")
    expect(form.page.get_by_role("alert")).to_be_focused()
    check(form.page)


@shows("form/failed")
def show_unreachable(form: Form) -> None:
    form.log_in(new_login("test_unreachable")).at("failed")
    check(form.page)


@shows("form/failed")
def show_locked(form: Form) -> None:
    form.log_in(new_login("test_locked")).at("failed")
    check(form.page)


SCENES: list[Callable[[Form], None]] = [
    show_method_and_medium,
    show_photo,
    show_chip,
    show_confirmation,
    show_redirect_and_bank,
    show_redirect,
    show_accounts,
    show_unreachable,
    show_locked,
]


@pytest.mark.parametrize("show", SCENES, ids=lambda scene: scene.__name__.removeprefix("show_"))
def test_from_the_login_on(form, watch, show):
    form.open().to_credentials()
    show(form)
    assert DECLARED[show.__name__] - LOOKED_AT == frozenset()
    watch.complaints[:] = [
        complaint for complaint in watch.complaints if "net::ERR_FAILED" not in complaint
    ]  # requests that were held


@shows("form/end", "form/notice", "form/returned")
def test_pages_without_a_session(form, new_context):
    form.page.goto(form.start())
    form.at("end")
    check(form.page)
    page = new_context().new_page()
    for address in (
        form.location,
        form.page.url,
        f"{form.location}&a=1&a=2",
        form.page.url.replace("/step", "/return"),
    ):
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        check(page)


@shows("form/info")
def test_imprint_and_privacy_notice(form):
    form.open().at("legal")
    for kind in ("imprint", "privacy"):
        with form.page.expect_popup() as opened:
            form.page.click(f"#foot-{kind}")
        check(opened.value)


@shows("form/connecting")
def test_connecting(form, owner):
    form.open().to_credentials().log_in(new_login("test_sca_method")).at("method")
    methods = keep_bank_waiting(owner, form)
    form.page.reload()
    form.at("connecting")
    check(form.page)
    let_bank_answer(owner, form, methods)
    form.at("method")


@shows("form/fetching")
def test_fetching(form, owner):
    """Seen only while a bank is slow; the session is put there by hand."""
    form.to_accounts(new_login("leer"))
    owner.execute("update redirect_sessions set step = 'FETCHING' where access_id = %s", [form.access_id])
    owner.execute("update accesses set status = 'STARTED' where id = %s", [form.access_id])
    form.page.reload()
    form.at("fetching")
    check(form.page)


def test_a_tenants_colours_can_be_read_whatever_it_chose(new_form, set_branding, branded):
    """Yellow on white would fail; the form moves the colour until it can be read."""
    set_branding(display_name="Sonnenbank", colours='{"primary": "#ffe600", "background": "#fffbe6"}')
    form = new_form(tenant=branded)
    form.open().at("legal")
    check(form.page)
    form.accept().at("provider")
    check(form.page)
    form.choose_bank().log_in(new_login("leer")).at("accounts")
    check(form.page)


def test_zoomed_text_loses_nothing(form):
    """400 % of 1280 pixels is 320 (WCAG 1.4.10)."""
    form.page.set_viewport_size({"width": 320, "height": 256})
    form.open()
    for go in (
        lambda: form.accept(),
        lambda: form.choose_bank(),
        lambda: form.log_in(new_login("test_chiptan")),
        lambda: form.enter("936086"),
        lambda: form.at("accounts"),
    ):
        go()
        assert form.page.evaluate("document.documentElement.scrollWidth <= 320")
