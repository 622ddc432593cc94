"""Every value of `baReentry`, and what becomes of the callback URL.

ACCOUNT_CREATED and FINISHED are reached by every login in test_browser_flows.py. PAYMENT_FAILED is reached by
payments alone and is proven with them.
"""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from banking import ACCESSES, new_id
from browser.form_driver import WRONG_TAN, Form
from consenting import new_login

pytestmark = pytest.mark.long


def is_stored(form):
    return form.customer.get(f"{ACCESSES}/{form.access_id}").status_code == 200


def test_legal_not_accepted(form):
    form.open().at("legal")
    form.press("legal.decline")
    form.expect_return("LEGAL_NOT_ACCEPTED")
    assert not is_stored(form)


def go_to_provider(form):
    form.at("provider")


def go_to_credentials(form):
    form.to_credentials().at("credentials")


def go_to_method(form):
    form.to_credentials().log_in(new_login("test_sca_method")).at("method")


def go_to_tan(form):
    form.to_credentials().log_in(new_login("test_phototan")).at("tan")


def go_to_confirmation(form):
    form.to_credentials().log_in(new_login("test_decoupled")).at("confirmation")


def go_to_redirect(form):
    form.to_credentials().log_in(new_login("test_redirect")).at("redirect")


def go_to_accounts(form):
    form.to_credentials().log_in(new_login("leer")).at("accounts")


WAYS = [
    go_to_provider,
    go_to_credentials,
    go_to_method,
    go_to_tan,
    go_to_confirmation,
    go_to_redirect,
    go_to_accounts,
]


def test_user_cancelled_from_every_page_leaves_nothing_behind(form):
    form.open().accept().at("provider")
    for go in WAYS:
        again = Form(form.page, form.customer, form.site)
        again.open()
        go(again)
        again.press("common.cancel", tenant=form.customer.tenant.name)
        again.expect_return("USER_CANCELLED")
        assert not is_stored(again)


def test_user_cancelled_at_the_bank_can_try_again_or_leave(form):
    form.open().to_credentials().log_in(new_login("test_redirect")).confirm_at_bank("cancel")
    expect(form.at("failed")).to_contain_text(form.text("failed.refused.title"))
    form.press("failed.retry")
    form.confirm_at_bank("cancel").at("failed")
    form.press("failed.leave", tenant=form.customer.tenant.name)
    form.expect_return("USER_CANCELLED")
    assert not is_stored(form)


def test_backend_error_after_the_bank_did_not_answer_twice(form):
    form.open().to_credentials().log_in(new_login("test_unreachable"))
    expect(form.at("failed")).to_contain_text(form.text("failed.unreachable.title"))
    form.press("failed.retry")
    expect(form.at("failed")).to_contain_text(form.text("failed.unreachable.title"))
    form.press("failed.leave", tenant=form.customer.tenant.name)
    form.expect_return("BACKEND_ERROR")
    assert not is_stored(form)


def test_after_a_failure_another_bank_can_be_chosen(form):
    form.open().to_credentials().log_in(new_login("test_unreachable")).at("failed")
    form.press("failed.other_bank")
    form.choose_bank().log_in(new_login("leer")).confirm_accounts().expect_return("ACCOUNT_CREATED")
    assert is_stored(form)


def test_invalid_credentials_after_three_wrong_pins(form):
    login = new_login("demo1")
    form.open().to_credentials().log_in(login, "wrong-one")
    main = form.at("credentials")
    expect(main.get_by_role("alert")).to_contain_text(form.text("credentials.attempts", count=2))
    form.log_in(login, "wrong-two")
    expect(form.page.get_by_role("alert")).to_contain_text(form.text("credentials.attempts_one"))
    form.log_in(login, "wrong-three").at("failed")
    form.press("failed.leave", tenant=form.customer.tenant.name)
    form.expect_return("INVALID_CREDENTIALS")
    assert not is_stored(form)


def test_invalid_credentials_when_the_bank_has_locked_the_login(form):
    form.open().to_credentials().log_in(new_login("test_locked"))
    expect(form.at("failed")).to_contain_text(form.text("failed.locked.title"))
    expect(form.button("failed.retry")).to_have_count(0)
    form.press("failed.leave", tenant=form.customer.tenant.name)
    form.expect_return("INVALID_CREDENTIALS")


def test_a_right_pin_after_a_wrong_one_goes_on(form):
    login = new_login("leer")
    form.open().to_credentials().log_in(login, "wrong").at("credentials")
    form.log_in(login, "leer").confirm_accounts().expect_return("ACCOUNT_CREATED")


def test_invalid_tan_after_three_wrong_tans(form):
    form.open().to_credentials().log_in(new_login("test_phototan")).enter(WRONG_TAN)
    expect(form.page.get_by_role("alert")).to_contain_text(form.text("tan.attempts", count=2))
    form.enter(WRONG_TAN)
    expect(form.page.get_by_role("alert")).to_contain_text(form.text("tan.attempts_one"))
    form.enter(WRONG_TAN)
    expect(form.at("failed")).to_contain_text(form.text("failed.wrong_tan.title"))
    form.press("failed.leave", tenant=form.customer.tenant.name)
    form.expect_return("INVALID_TAN")
    assert not is_stored(form)


def test_error_for_a_second_browser_with_the_same_link(form, new_context):
    """It has no session, so it is sent nowhere; the first browser goes on undisturbed."""
    form.open()
    stranger = new_context().new_page()
    answer = stranger.goto(form.location)
    assert answer.status == 410
    main = stranger.locator('main[data-page="notice"]')
    expect(main).to_have_attribute("data-reentry", "ERROR")
    expect(main.get_by_role("heading")).to_have_text(form.text("notice.used"))
    form.accept().at("provider")


def test_error_when_the_access_was_added_by_another_session_meanwhile(form, new_context):
    """A guard: the second session must not replace the credentials of the first one's access."""
    form.start()
    rival = Form(new_context().new_page(), form.customer, form.site, access_id=form.access_id)
    rival.start()
    form.open().to_credentials().at("credentials")
    rival.open().choose_bank().log_in(new_login("leer")).confirm_accounts().expect_return("ACCOUNT_CREATED")
    form.log_in(new_login("demo1")).expect_return("ERROR")
    assert len(form.customer.products(form.access_id)) == 1


def test_no_callback_url_ends_on_the_forms_own_page(form):
    form.page.goto(form.start())
    form.expect_own_page("NO_CALLBACK_URL")
    form.page.reload()
    form.expect_own_page("NO_CALLBACK_URL")


FOREIGN = [
    "https://evil.example/back",
    "https://example.com.evil.example/",
    "https://example.com@evil.example/",
    "https://example.com\\@evil.example/",
    "//example.com/back",
    "javascript:alert(1)",
    "http://example.com/back",
    "",
]


def test_invalid_callback_url_ends_on_the_forms_own_page(form):
    for callback in FOREIGN:
        tried = Form(form.page, form.customer, form.site)
        tried.start(callback=form.callback("/stored"))
        tried.open(callback)
        tried.expect_own_page("INVALID_CALLBACK_URL")
    assert form.site.visits == []


@pytest.mark.parametrize("go", [go_to_tan, go_to_accounts])
def test_session_expired_sends_the_user_back_on_reload(form, expire, go):
    form.open()
    go(form)
    expire(form)
    form.page.reload()
    form.expect_return("SESSION_EXPIRED")
    unfinished = form.customer.get(f"{ACCESSES}/{form.access_id}").json()
    assert unfinished["status"] == "GESTARTET"
    assert not {"providerId", "bankprodukte"} & set(unfinished)


def test_session_expired_when_the_form_is_sent_too_late(form, expire):
    form.open().at("legal")
    expire(form)
    form.press("legal.accept")
    form.expect_return("SESSION_EXPIRED")


def test_session_expired_before_it_was_opened(form, expire):
    form.start()
    expire(form)
    form.open().expect_return("SESSION_EXPIRED")


# The callback URL


def test_the_stored_callback_is_used_where_none_is_appended(form):
    form.page.goto(form.start(callback=form.callback("/stored", "?order=9")))
    form.at("legal")
    form.press("legal.decline")
    assert form.expect_return("LEGAL_NOT_ACCEPTED", "/stored") == {"order": "9"}


def test_the_appended_callback_wins_over_the_stored_one(form):
    form.start(callback=form.callback("/stored"))
    form.open(form.callback("/back", "?from=appended")).at("legal")
    form.press("legal.decline")
    assert form.expect_return("LEGAL_NOT_ACCEPTED") == {"from": "appended"}
    assert form.site.visits_to("/stored") == []


def test_the_callbacks_own_query_is_kept_letter_by_letter(form):
    own = "a=1&a=2&name=J%C3%BCrgen+M%26M&empty=&flag"
    form.access_id = f"{new_id()}.~"
    form.open(form.callback("/back", f"?{own}&baReentry=ACCOUNT_CREATED&accessId=stolen")).at("legal")
    form.press("legal.decline")
    form.expect_return("LEGAL_NOT_ACCEPTED")
    query = urlsplit(form.site.visits_to("/back")[0].url).query
    assert query == f"{own}&baReentry=LEGAL_NOT_ACCEPTED&accessId={form.access_id}"


def test_a_callback_that_leads_on_to_another_origin_works(form):
    """Tenants often send users on, say from an API host to the app; no policy of ours may stop that."""
    form.site.onward = f"http://localhost:{form.site.port}"
    form.open(form.callback("/moved/there")).at("legal")
    form.press("legal.decline")
    form.page.wait_for_url(f"http://localhost:{form.site.port}/there?*")
    assert "baReentry=LEGAL_NOT_ACCEPTED" in form.page.url
