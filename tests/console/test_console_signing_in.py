"""Signing in and out of the console, and what is refused there."""

import base64
import json
import re

import httpx
import pytest

from banking import new_customer
from console_site import password_of, sign_in_form
from kontor.config import SettingError
from kontor.console.clients import read_clients, read_sample
from kontor.console.rendering import load_texts
from kontor.console.views import VIEWS
from kontor.domain.secrets import Secret
from plain_http import plain_client


def test_clients_are_read_by_tenant():
    found = read_clients(Secret("acme/console:s3:cret  other/web:x"))
    assert {name: (client.username, client.secret.reveal()) for name, client in found.items()} == {
        "acme": ("acme/console", "s3:cret"),
        "other": ("other/web", "x"),
    }
    assert read_clients(None) == {}


@pytest.mark.parametrize("text", ["acme", "acme/console", "acme/:x", "/console:x", "acme/console:x acme/web:y"])
def test_a_setting_that_names_no_client_stops_the_start_without_showing_the_secret(text):
    with pytest.raises(SettingError) as refused:
        read_clients(Secret(text))
    assert "x" not in str(refused.value).removeprefix("KONTOR_CONSOLE_CLIENTS: expected")


def test_a_sample_is_a_user_with_a_password():
    assert read_sample(None) is None
    with pytest.raises(SettingError):
        read_sample(Secret("erika:x"))


def test_both_languages_have_the_same_texts():
    german, english = load_texts()["de"].texts, load_texts()["en"].texts
    assert set(german) == set(english)
    assert not [key for key, text in (german | english).items() if not text]


def test_every_view_has_a_title_and_every_view_of_the_navigation_a_name():
    texts = load_texts()["de"].texts
    assert [view.name for view in VIEWS if f"{view.name}.title" not in texts] == []
    assert [view.name for view in VIEWS if view.group and f"nav.{view.name}" not in texts] == []
    assert len({view.url for view in VIEWS}) == len(VIEWS)


def test_every_page_asks_a_stranger_to_sign_in(console_site):
    with plain_client(base_url=console_site.address) as stranger:
        for view in VIEWS:
            path = view.url.replace("{", "").replace("}", "").replace(":str", "").replace(":uuid", "")
            answer = stranger.get(path)
            assert answer.status_code == 303, path
            where = "/console/ops/sign-in" if view.is_operator else "/console/sign-in"
            assert answer.headers["location"].startswith(where), path


@pytest.mark.parametrize("following", ["https://evil.example/", "//evil.example", "/console//evil.example", "/docs"])
def test_after_signing_in_only_pages_of_the_console_are_gone_to(console_site, following):
    form = sign_in_form(console_site.rich, next=following)
    answer = httpx.post(f"{console_site.url}/sign-in", data=form)
    assert answer.headers["location"] == "/console"


def test_signing_in_again_ends_the_session_before(console_site):
    with console_site.visit() as visitor:
        before = json.loads(base64.urlsafe_b64decode(visitor.cookies["kontor-console"]))["token"]
        assert (
            visitor.post("/console/sign-in", data=sign_in_form(console_site.rich) | {"password": "x"}).status_code
            == 422
        )
        bearer = {"Authorization": f"Bearer {before}"}
        assert httpx.get(f"{console_site.address}/customer/v2", headers=bearer).status_code == 200
        assert visitor.post("/console/sign-in", data=sign_in_form(console_site.rich)).status_code == 303
        after = json.loads(base64.urlsafe_b64decode(visitor.cookies["kontor-console"]))["token"]
        assert after != before
        assert httpx.get(f"{console_site.address}/customer/v2", headers=bearer).status_code == 403
        assert visitor.get("/console").status_code == 200


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_a_form_of_another_site_signs_nobody_in(console_site, headers):
    answer = httpx.post(f"{console_site.url}/sign-in", data=sign_in_form(console_site.rich), headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_user_of_a_tenant_without_a_client_here_cannot_sign_in(console_site, shared):
    answer = httpx.post(f"{console_site.url}/sign-in", data=sign_in_form(new_customer(shared)))
    assert answer.status_code == 422
    assert "set-cookie" not in answer.headers


def test_a_user_is_refused_under_another_tenant(console_site):
    form = sign_in_form(console_site.rich, tenant=console_site.redirecting.name)
    answer = httpx.post(f"{console_site.url}/sign-in", data=form)
    assert answer.status_code == 422


def test_the_cookie_is_closed_to_scripts_and_the_password_comes_back_on_no_page(console_site):
    with console_site.visit() as visitor:
        page = visitor.get("/console")
        assert page.status_code == 200
        assert password_of(console_site.rich) not in page.text
        token = json.loads(base64.urlsafe_b64decode(visitor.cookies["kontor-console"]))["token"]
        assert token not in page.text


def test_a_deed_needs_the_token_of_its_own_session(console_site):
    with console_site.visit() as visitor:
        answer = visitor.post("/console/sign-out", data={"role": "user", "token": "0" * 64})
        assert answer.status_code == 403
        assert visitor.get("/console").status_code == 200


@pytest.mark.parametrize("cookie", ["x", "", "e30=", base64.urlsafe_b64encode(b'{"token":1}').decode()])
def test_a_cookie_that_means_nothing_is_no_session(console_site, cookie):
    answer = httpx.get(console_site.url, cookies={"kontor-console": cookie})
    assert answer.status_code == 303


def test_a_role_claimed_in_the_cookie_gives_no_rights(console_site):
    """The cookie says what to draw; what may be seen, the token says."""
    token = console_site.rich.token
    forged = json.dumps({"token": token, "role": "operator", "name": "x"}).encode()
    cookie = {"kontor-operator": base64.urlsafe_b64encode(forged).decode()}
    answer = httpx.get(f"{console_site.url}/ops/tenants", cookies=cookie)
    assert answer.status_code == 403
    assert console_site.regulated.name not in answer.text


def test_an_operators_token_opens_no_users_pages(console_site):
    forged = json.dumps({"token": console_site.operator_token, "role": "user", "name": "x"}).encode()
    answer = httpx.get(console_site.url, cookies={"kontor-console": base64.urlsafe_b64encode(forged).decode()})
    assert answer.status_code == 303  # to the page for signing in


@pytest.mark.parametrize("path", ["", "/auth/mgmt/v1/tenants", "https://evil.example/", "//evil.example/customer/v2"])
def test_only_reading_calls_of_a_users_own_api_are_opened_as_json(console_site, path):
    with console_site.visit() as visitor:
        assert visitor.get("/console/json", params={"path": path}).status_code == 400


def test_somebody_elses_object_is_opened_by_nobody(console_site):
    other = new_customer(console_site.regulated)
    path = f"/customer/v2/bankzugaenge/{console_site.access_id}"
    with console_site.visit(other) as visitor:
        assert visitor.get("/console/json", params={"path": path}).status_code == 404
    with console_site.visit() as owner:
        answer = owner.get("/console/json", params={"path": path})
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox; frame-ancestors 'none'"


def test_a_page_is_never_kept_and_allows_nothing_inline(console_site):
    with console_site.visit() as visitor:
        headers = visitor.get("/console").headers
    assert headers["cache-control"] == "no-store"
    assert "unsafe" not in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize("form", [{"language": "nl"}, {"language": "de", "back": "https://evil.example"}, {}])
def test_a_language_that_we_do_not_have_or_a_foreign_way_back_is_refused(console_site, form):
    assert httpx.post(f"{console_site.url}/language", data=form).status_code == 400


def test_assets_come_compressed_and_are_kept_for_ever(console_site):
    with plain_client(base_url=console_site.address) as browser:
        page = browser.get("/console/sign-in").text
        answer = browser.get(re.search(r'href="([^"]*/console\.css[^"]*)"', page)[1])
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
