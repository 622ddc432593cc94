"""What protects a session: its cookie, the link that works once, tokens in forms, and that nothing secret gets out."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from browser.form_driver import Form, hidden_fields, post_form
from consenting import new_login
from kontor.domain.secrets import Secret
from kontor.pages.browser import Cookies

pytestmark = pytest.mark.long

NASTY = """<script>window.hacked=1</script>"'><img src=x onerror="window.hacked=1">{{7*7}}"""


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(form):
    form.open().at("legal")
    [cookie] = [cookie for cookie in form.page.context.cookies() if cookie["name"] == "kontor-form"]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"], cookie["expires"]) == (True, "Lax", "/", -1)
    assert cookie["domain"] == "127.0.0.1"
    assert form.page.evaluate("document.cookie") == ""


@pytest.mark.parametrize(
    ("is_framed", "flags"), [(False, "; SameSite=Lax"), (True, "; SameSite=None; Partitioned")], ids=["page", "frame"]
)
def test_on_https_the_cookie_is_bound_to_the_host_and_never_sent_in_the_clear(is_framed, flags):
    cookie = Cookies("kontor-form", is_https=True).write(Secret("value"), is_framed=is_framed)
    assert cookie == f"__Host-kontor-form=value; Path=/; HttpOnly; Secure{flags}"


def test_the_link_is_useless_after_its_first_opening_but_to_its_own_browser(form, new_context):
    form.open().accept().at("provider")
    assert urlsplit(form.page.url).query == ""
    stranger = new_context()
    page = stranger.new_page()
    assert page.goto(form.location).status == 410
    assert stranger.cookies() == []
    assert page.goto(form.page.url).status == 410
    form.page.goto(form.location)
    form.at("provider")


def test_a_browser_that_looks_ahead_does_not_use_the_link_up(form, new_context):
    form.start()
    early = new_context().request.get(form.location, headers={"Sec-Purpose": "prefetch;prerender"}, max_redirects=0)
    assert early.status == 204
    assert "set-cookie" not in early.headers
    form.open().at("legal")


def test_a_forms_post_needs_its_token_and_its_own_origin(form):
    form.open().at("legal")
    context, url, fields = form.page.context, form.page.url, hidden_fields(form.page)
    send = fields | {"action": "decline"}
    assert post_form(context, url, {"action": "decline", "step": fields["step"]}) == 403
    assert post_form(context, url, send | {"token": "0" * 64}) == 403
    assert post_form(context, url, send | {"step": "provider"}) == 403
    assert post_form(context, url, send, {"Origin": "https://evil.example"}) == 403
    assert post_form(context, url, send, {"Sec-Fetch-Site": "cross-site"}) == 403
    assert post_form(context, url, send, {"Sec-Fetch-Site": "same-site"}) == 403
    form.page.reload()
    form.at("legal")
    assert post_form(context, url, send | {"action": "accept"}) == 303
    form.page.reload()
    form.at("provider")


def test_a_token_of_another_session_is_worth_nothing(form, new_form):
    form.open().at("legal")
    other = new_form()
    other.open().at("legal")
    stolen = hidden_fields(other.page) | {"action": "decline"}
    assert post_form(form.page.context, form.page.url, stolen) == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-site", "cross-site"])
def test_another_page_cannot_send_the_form_in_the_users_name(form, second_tab, host):
    """One of the same site has the cookie sent along, one of another site not even that."""
    form.open().at("legal")
    fields = hidden_fields(form.page) | {"action": "decline"}
    attacker = second_tab(form).page
    attacker.goto(f"http://{host}:{form.site.port}/attack")
    attacker.evaluate(
        """([url, fields]) => {
            const form = document.createElement("form");
            form.method = "post"; form.action = url;
            for (const [name, value] of Object.entries(fields)) {
                const input = document.createElement("input");
                input.name = name; input.value = value; form.append(input);
            }
            document.body.append(form);
            HTMLFormElement.prototype.submit.call(form);
        }""",
        [form.page.url, fields],
    )
    attacker.wait_for_url("**/step")
    expect(attacker.locator('main[data-page="notice"]')).to_be_visible()
    form.page.reload()
    form.at("legal")
    assert form.site.visits_to("/back") == []


def test_nothing_secret_stands_in_addresses_or_logs(form, watch, server_log: Path, worker_log: Path):
    login, pin, tan = new_login("test_phototan"), f"geheim-{uuid4().hex}", f"{uuid4().int % 10**9}1"
    form.open().to_credentials().log_in(login, pin).at("credentials")
    form.log_in(login).enter(tan).enter("8534842").confirm_accounts().expect_return("ACCOUNT_CREATED")
    [handle] = parse_qs(urlsplit(form.location).query)["session"]
    [cookie] = [cookie["value"] for cookie in form.page.context.cookies() if cookie["name"] == "kontor-form"]
    addresses = " ".join(watch.urls)
    assert addresses.count(handle) == 1
    for secret in (login, pin, tan, cookie):
        assert secret not in addresses
    logs = server_log.read_text() + worker_log.read_text()
    assert "webform" in logs
    for secret in (login, pin, tan, cookie, handle):
        assert secret not in logs


def test_whatever_a_tenant_calls_itself_is_only_text(new_form, set_branding, branded):
    set_branding(display_name=NASTY, legal_text=f"Absatz {NASTY}\n\nZweiter", legal_version=NASTY)
    form = new_form(tenant=branded)
    form.open().at("legal")
    expect(form.heading()).to_have_text(f"Konto mit {NASTY} verbinden")
    form.to_credentials().log_in(new_login("leer")).at("accounts")
    assert form.page.evaluate("window.hacked") is None
    assert form.page.locator("img[src=x]").count() == 0
    form.confirm_accounts().expect_return("ACCOUNT_CREATED")


def test_a_search_for_markup_finds_text(form):
    form.open().accept()
    form.search(NASTY)
    expect(form.page.get_by_role("status")).to_contain_text("<script>")
    form.page.goto(f"{form.page.url}?q=%3Cscript%3Ewindow.hacked%3D1%3C%2Fscript%3E")
    expect(form.page.get_by_role("status")).to_contain_text("<script>")
    assert form.page.evaluate("window.hacked") is None


def test_a_search_is_no_oracle_for_strangers(form, new_context):
    form.open()
    answer = new_context().request.get(form.page.url.replace("/step", "/providers?q=demo"))
    assert answer.status == 410


def test_deleted_sessions_are_over_at_once(form):
    form.open().accept().at("provider")
    answer = form.customer.delete("/customer/v2/regprotect/sessions")
    assert answer.status_code == 200
    form.page.reload()
    expect(form.page.locator('main[data-page="notice"]')).to_have_attribute("data-reentry", "SESSION_EXPIRED")


def test_a_session_can_be_finished_once(form):
    form.to_accounts(new_login("leer"))
    form.press("accounts.submit")
    form.expect_return("ACCOUNT_CREATED")
    late = Form(form.page, form.customer, form.site, access_id=form.access_id)
    late.page.goto(form.location)
    late.expect_return("ACCOUNT_CREATED")
