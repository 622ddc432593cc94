"""Reload, back button, second tab and double submit at every step."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from browser.form_driver import TANS, WRONG_TAN, Form, post_twice
from consenting import new_login

pytestmark = pytest.mark.long


def fill_credentials(form: Form) -> None:
    fields = form.page.locator("#credentials-form input:not([type=hidden])")
    fields.nth(0).fill(new_login("test_sca_method_media"))
    fields.nth(1).fill("demo")


def fill_tan(form: Form) -> None:
    form.page.get_by_label("TAN", exact=True).fill(TANS["mockTAN"])


def nothing(form: Form) -> None:
    pass


# Page, what is filled in, what is pressed to go on.
STEPS: list[tuple[str, Callable[[Form], None], Callable[[Form], None]]] = [
    ("legal", nothing, lambda form: form.press("legal.accept")),
    ("provider", nothing, lambda form: form.choose_bank()),
    ("credentials", fill_credentials, lambda form: form.press("credentials.submit")),
    ("method", nothing, lambda form: form.press("common.next")),
    ("medium", nothing, lambda form: form.press("common.next")),
    ("tan", fill_tan, lambda form: form.press("tan.submit")),
    ("accounts", nothing, lambda form: form.press("accounts.submit")),
]


def walk(form: Form, at_every_step: Callable[[str], None]) -> None:
    form.open()
    for name, fill, go_on in STEPS:
        form.at(name)
        at_every_step(name)
        fill(form)
        go_on(form)
    form.expect_return("ACCOUNT_CREATED")


def test_every_page_survives_a_reload(form):
    def reload(name):
        step = form.page.locator("body").get_attribute("data-step")
        form.page.reload()
        assert form.at(name).is_visible()
        assert form.page.locator("body").get_attribute("data-step") == step

    walk(form, reload)


def test_the_back_button_never_shows_a_page_that_is_over(form):
    form.page.goto(form.callback("/start"))

    def go_back(name):
        form.page.go_back()
        if not form.page.url.startswith(form.site.origin):
            form.at(name)
        form.page.go_forward()
        form.at(name)

    walk(form, go_back)
    form.page.go_back()
    form.page.wait_for_url(f"{form.site.origin}/**")


def test_a_second_tab_shows_the_same_page_and_both_may_go_on(form, second_tab):
    other = second_tab(form)

    def look_there(name):
        other.page.goto(form.page.url)
        other.at(name)

    walk(form, look_there)


def test_a_page_in_another_tab_that_is_over_changes_nothing(form, second_tab):
    form.open().at("legal")
    old = second_tab(form)
    old.page.goto(form.page.url)
    old.at("legal")
    form.to_credentials().at("credentials")
    old.press("legal.decline")
    old.at("credentials")
    old.log_in(new_login("test_phototan")).at("tan")
    form.press("credentials.other_bank")
    form.at("tan")
    form.enter(TANS["photoTAN"]).at("accounts")
    old.enter(WRONG_TAN).at("accounts")
    old.confirm_accounts().expect_return("ACCOUNT_CREATED")
    form.page.reload()
    form.expect_return("ACCOUNT_CREATED")


def test_a_form_that_is_sent_twice_counts_once(form):
    """At every step whose form can be sent as it stands; the bank is chosen by a click of its own."""
    form.open()
    for name, fill, go_on in STEPS[:-1]:
        form.at(name)
        fill(form)
        if name == "provider":
            go_on(form)
            continue
        assert set(post_twice(form)) == {200}
        form.page.goto(form.page.url)
    form.confirm_accounts().expect_return("ACCOUNT_CREATED")


def test_a_double_click_on_the_last_button_returns_once(form):
    form.to_accounts(new_login("leer"))
    form.button("accounts.submit").dblclick()
    form.expect_return("ACCOUNT_CREATED")
    assert len(form.site.visits_to("/back")) == 1


def test_a_wrong_tan_that_is_sent_twice_is_counted_once(form):
    form.open().to_credentials().log_in(new_login("test_phototan")).at("tan")
    form.page.get_by_label("TAN", exact=True).fill(WRONG_TAN)
    assert set(post_twice(form)) == {200}
    form.page.goto(form.page.url)
    expect(form.page.get_by_role("alert")).to_contain_text(form.text("tan.attempts", count=2))


def test_a_wrong_pin_that_is_sent_twice_reaches_the_bank_once(form, owner):
    login = new_login("demo1")
    form.open().to_credentials().at("credentials")
    fields = form.page.locator("#credentials-form input:not([type=hidden])")
    fields.nth(0).fill(login)
    fields.nth(1).fill("wrong")
    assert set(post_twice(form)) == {200}
    form.page.goto(form.page.url)
    expect(form.page.get_by_role("alert")).to_contain_text(form.text("credentials.attempts", count=2))
    query = "select wrong_pins from demo_bank_logins where login like %s"
    assert owner.execute(query, [f"%{login}"]).fetchall() == [(1,)]


def test_the_bank_page_that_was_left_by_the_back_button_can_be_entered_again(form):
    form.open().to_credentials().log_in(new_login("test_redirect")).at("redirect")
    form.page.get_by_role("link", name=form.text("redirect.go")).click()
    expect(form.page.get_by_role("button", name="Freigeben")).to_be_visible()
    form.page.go_back()
    form.confirm_at_bank().confirm_accounts().expect_return("ACCOUNT_CREATED")


def test_the_form_goes_to_the_bank_by_itself_once(form):
    form.open().to_credentials().log_in(new_login("test_redirect")).at("redirect")
    expect(form.page.get_by_text(form.text("redirect.soon"))).to_be_visible()
    expect(form.page.get_by_role("button", name="Freigeben")).to_be_visible()
    form.page.go_back()
    form.at("redirect")
    form.page.wait_for_timeout(2700)
    form.at("redirect")
