"""The operators' pages: what they show is what /ops/v1 says, to whom it says it."""

from uuid import uuid4

import httpx
import pytest

from console_site import read_token
from kontor.console.views import VIEWS

PAGES = [view.url for view in VIEWS if view.is_operator and "{" not in view.url]


@pytest.fixture
def webhook(console_site):
    tenant = console_site.regulated
    address = f"{console_site.address}{tenant.url}/webhooks"
    body = {"url": "http://127.0.0.1:9/hook", "events": ["transactions.new"], "description": "<b>bold</b>"}
    answer = httpx.post(address, json=body, headers=tenant.as_admin, timeout=30)
    assert answer.status_code == 201, answer.text
    webhook_id = answer.headers["location"].rpartition("/")[2]
    yield webhook_id
    httpx.delete(f"{address}/{webhook_id}", headers=tenant.as_admin, timeout=30)


def admin_form(tenant):
    return {"action": "client", "client": tenant.admin[0], "secret": tenant.admin[1]}


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("language", ["de", "en"])
def test_every_page_opens_for_an_operator_and_for_a_tenants_admin_client(console_site, path, language):
    for form in (None, admin_form(console_site.redirecting)):
        with console_site.operate(form) as visitor:
            answer = visitor.get(path, headers={"Accept-Language": language})
            assert answer.status_code == 200, answer.text
            assert f'<html lang="{language}">' in answer.text


def test_an_operator_sees_all_tenants_and_an_admin_client_its_own(console_site):
    names = {console_site.regulated.name, console_site.redirecting.name}
    with console_site.operate() as visitor:
        assert all(name in visitor.get("/console/ops/tenants").text for name in names)
    with console_site.operate(admin_form(console_site.redirecting)) as visitor:
        text = visitor.get("/console/ops/tenants").text
        assert console_site.redirecting.name in text
        assert console_site.regulated.name not in text
        answer = visitor.get("/console/ops/users", params={"tenant": console_site.regulated.name})
        assert answer.status_code == 404
        assert console_site.rich.username not in answer.text


def test_accesses_are_found_by_their_state(console_site):
    with console_site.operate() as visitor:
        complete = visitor.get(
            "/console/ops/accesses", params={"status": "COMPLETE", "tenant": console_site.regulated.name}
        )
        assert console_site.access_id in complete.text
        failing = visitor.get(
            "/console/ops/accesses", params={"refresh": "failing", "tenant": console_site.regulated.name}
        )
        assert console_site.access_id not in failing.text
        assert visitor.get("/console/ops/accesses", params={"status": "X"}).status_code == 400
        assert visitor.get("/console/ops/refreshes", params={"state": "X"}).status_code == 400


def test_a_webhook_is_listed_as_text_and_its_deliveries_are_shown(console_site, webhook):
    with console_site.operate() as visitor:
        page = visitor.get("/console/ops/webhooks").text
        assert "http://127.0.0.1:9/hook" in page
        assert "&lt;b&gt;bold&lt;/b&gt;" in page
        assert visitor.get(f"/console/ops/webhooks/{webhook}").status_code == 200
        assert visitor.get(f"/console/ops/webhooks/{uuid4()}").status_code == 404


def test_a_replay_of_what_never_was_is_refused_in_words_and_without_a_token_not_even_tried(console_site, webhook):
    address = f"/console/ops/webhooks/{webhook}"
    with console_site.operate() as visitor:
        assert visitor.post(address, data={"action": "replay", "serial": "1"}).status_code == 403
        token = read_token(visitor.get(address).text)
        answer = visitor.post(address, data={"action": "replay", "serial": "1", "token": token})
        assert answer.status_code == 404
        assert "Nicht gefunden" in answer.text
        assert visitor.post(address, data={"action": "other", "token": token}).status_code == 400


def test_the_audit_trail_is_shown_and_its_chain_verified(console_site):
    with console_site.operate() as visitor:
        answer = visitor.get("/console/ops/audit", params={"tenant": console_site.regulated.name, "verify": "yes"})
    assert "Die Kette ist lückenlos." in answer.text
    assert "token.issue" in answer.text


@pytest.mark.parametrize(
    "form",
    [
        {"action": "operator", "operator_token": "kontor_op_wrong"},
        {"action": "operator", "operator_token": ""},
        {"action": "client", "client": "nobody/admin", "secret": "x"},
    ],
)
def test_a_wrong_login_opens_nothing(console_site, form):
    answer = httpx.post(f"{console_site.url}/ops/sign-in", data=form, timeout=30)
    assert answer.status_code == 422
    assert "set-cookie" not in answer.headers


def test_a_users_client_is_no_admin(console_site):
    name, secret = console_site.regulated.app
    form = {"action": "client", "client": name, "secret": secret}
    assert httpx.post(f"{console_site.url}/ops/sign-in", data=form, timeout=30).status_code == 422
