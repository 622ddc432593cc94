"""The operators' pages: what they show is what /ops/v1 says, to whom it says it."""

import re
from html import unescape
from uuid import uuid4

import httpx
import pytest

from banking import new_customer
from console_site import read_token
from kontor.connectors.base import FailureKind
from kontor.console.rendering import load_texts
from kontor.console.service_checks import read_checks
from kontor.console.views import VIEWS
from kontor.domain.operator_details import AccessReason
from kontor.domain.refreshes import SkipReason
from kontor.egress import Purpose

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


@pytest.mark.parametrize("language", ["de", "en"])
def test_connections_of_each_purpose_are_shown_in_words(console_site, owner, language):
    hosts = {purpose: f"{uuid4().hex}.example" for purpose in Purpose}
    for purpose, host in hosts.items():
        owner.execute("insert into egress_days values (current_date, %s, %s, 1, 0, 0, 0, 0)", [host, purpose])
    try:
        with console_site.operate() as visitor:
            page = visitor.get("/console/ops/egress", headers={"Accept-Language": language}).text
    finally:
        owner.execute("delete from egress_days where host = any(%s)", [list(hosts.values())])
    rows = {host: page.partition(host)[2].partition("</tr>")[0] for host in hosts.values()}
    for purpose, host in hosts.items():
        name = load_texts()[language](f"ops_egress.{purpose.replace('-', '_')}")
        assert f"<td>{name}</td>" in rows[host]


@pytest.mark.parametrize(("language", "said"), [("de", "verspätet: "), ("en", "late: ")])
def test_every_check_is_told_in_the_language_of_the_page(console_site, language, said):
    with console_site.operate() as visitor:
        page = visitor.get("/console/ops", headers={"Accept-Language": language}).text
    checks = page.partition('class="checks"')[2].partition("</ul>")[0]
    assert said in checks
    assert "lang=" not in checks


@pytest.mark.parametrize("language", ["de", "en"])
def test_checks_that_fail_are_told_in_words_and_what_nobody_knows_stays_english(language):
    said = [
        "does not answer", "none is at work", "2 at work, 1 gone without a word within the last hour", "3 late",
        "4 of 9 failed at the last fetch, 2 with a refused login", "1 discarded within 24 hours", "1 down",
        "2 failed and held", "something else",
    ]  # fmt: skip
    checks = [{"name": "workers", "well": False, "detail": detail} for detail in said]
    *known, other = read_checks({"checks": checks}, load_texts()[language])
    assert all(check.is_translated and re.findall(r"\d+", check.detail) for check in known[2:])
    assert sorted(re.findall(r"\d+", known[4].detail)) == ["2", "4", "9"]
    assert (other.detail, other.is_translated) == ("something else", False)


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


# One access, one job


@pytest.fixture
def access(console_site):
    """An access that tests may pause: its page, and its user."""
    customer = new_customer(console_site.regulated)
    number = customer.add_complete("leer")
    return f"/console/ops/accesses/{customer.reference}/{number}", customer


def act(visitor, address, action, **fields):
    token = read_token(visitor.get(address).text)
    return visitor.post(address, data=fields | {"action": action, "token": token})


def test_an_operator_pauses_and_resumes_an_access_after_a_question_and_sees_that_it_is_done(console_site, access):
    address, customer = access
    with console_site.operate() as visitor:
        page = visitor.get(address).text
        assert customer.username in page
        assert "Alles in Ordnung" in page
        assert 'id="confirmation"' not in page
        assert 'id="confirmation"' in visitor.get(f"{address}?do=pause").text
        answer = act(visitor, address, "act", do="pause")
        assert answer.headers["location"] == f"{address}?notice=access_pause"
        page = visitor.get(answer.headers["location"]).text
        assert "Der Zugang ist pausiert." in page
        assert "Von einem Betreiber pausiert" in page
        assert "?do=resume" in page
        assert 'id="confirmation"' not in visitor.get(f"{address}?do=pause").text  # it is paused already
        act(visitor, address, "act", do="resume")
        assert "Alles in Ordnung" in visitor.get(address).text
        trail = visitor.get("/console/ops/audit", params={"tenant": console_site.regulated.name}).text
    assert f"user {customer.username} access" in trail
    assert "access.pause" in trail


def test_an_operator_fetches_an_access_and_sees_the_attempts_in_words(console_site, access):
    address, _ = access
    with console_site.operate() as visitor:
        assert visitor.post(address, data={"action": "act", "do": "retry"}).status_code == 403
        answer = act(visitor, address, "act", do="retry")
        assert answer.headers["location"] == f"{address}?notice=access_retry"
        page = visitor.get(address).text
        assert 'id="attempts"' in page
        assert act(visitor, address, "act", do="delete").status_code == 400
        assert visitor.get(f"{address}?do=delete").status_code == 400
        assert visitor.get(f"/console/ops/accesses/{uuid4()}/nothing").status_code == 404


def test_why_an_access_cannot_be_fetched_is_told_in_words(console_site, access, owner):
    address, customer = access
    owner.execute("update accesses set refresh_pause = 'CREDENTIALS' where user_id = %s", [customer.reference])
    with console_site.operate() as visitor:
        answer = act(visitor, address, "act", do="retry")
    assert answer.status_code == 409
    assert "Zuerst muss der Kunde etwas tun" in answer.text
    assert "Die Bank hat die Anmeldung abgelehnt" in answer.text


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_reason_state_and_failure_has_words(language):
    texts = load_texts()[language].texts
    failures = [str(kind).lower() for kind in (*FailureKind, *SkipReason)]
    assert [failure for failure in failures if f"ops_access.failure_{failure}" not in texts] == []
    reasons = [reason for reason in AccessReason if f"ops_access.reason_{reason}_more" not in texts]
    assert reasons == []


def test_a_held_job_is_opened_and_queued_again_after_a_question(console_site, owner):
    [job_id] = owner.execute(
        "insert into pgqueuer (priority, status, entrypoint, payload, attempts) values (0, 'failed', 'nothing', %s, 3)"
        " returning id",
        [uuid4().bytes],
    ).fetchone()
    owner.execute(
        "insert into pgqueuer_log (job_id, status, priority, entrypoint, traceback) values (%s, 'failed', 0, 'nothing',"
        """ '{"exception_type": "KeyError", "exception_message": "a secret"}')""",
        [job_id],
    )
    address = f"/console/ops/jobs/{job_id}"
    with console_site.operate() as visitor:
        assert address in visitor.get("/console/ops/jobs").text
        page = visitor.get(address).text
        assert "Angehalten nach einem Fehler" in page
        assert "KeyError" in page
        assert "a secret" not in page
        assert 'id="confirm"' in visitor.get(f"{address}?do=retry").text
        assert act(visitor, address, "retry").headers["location"] == f"{address}?notice=job_retry"
        assert "Der Job ist wieder in der Warteschlange." in visitor.get(f"{address}?notice=job_retry").text
        answer = act(visitor, address, "retry")
        assert answer.status_code == 409
        assert "nicht angehalten" in answer.text
    owner.execute("delete from pgqueuer where id = %s", [job_id])


def test_accesses_are_opened_by_operators_alone(console_site, access):
    address, _ = access
    tenant = console_site.regulated
    with console_site.operate(admin_form(tenant)) as visitor:
        assert "/console/ops/accesses/" not in visitor.get("/console/ops/accesses").text.partition("<main")[2]
        assert visitor.get(address).status_code in (303, 403)


def test_the_audit_trail_names_users_as_they_are_listed(console_site):
    tenant = console_site.regulated
    with console_site.operate() as visitor:
        trail = visitor.get("/console/ops/audit", params={"tenant": tenant.name}).text.partition('class="calls"')[0]
        listed = set()
        address = f"/console/ops/users?tenant={tenant.name}"
        while address:
            page = visitor.get(address).text.partition("<main")[2]
            listed |= set(re.findall(r'<th scope="row">(customer-[0-9a-f]+)</th>', page))
            following = re.search(r'rel="next" href="([^"]*)"', page)
            address = following and f"/console/ops/users{unescape(following[1])}"
    named = set(re.findall(r"user (customer-[0-9a-f]+)", trail))
    assert named
    assert named <= listed
