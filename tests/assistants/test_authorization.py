"""Users let assistants read: authorization code with PKCE, refresh tokens, and taking it back."""

import base64
import hashlib
import time
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import psycopg
import pytest

from assistants.granting import AUTHORIZE, BACK, FIELD, LOOPBACK, Assistant, Token
from banking import BankCustomer
from kontor.domain.errors import InvalidError
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS, CUSTOMER_TRANSFER
from kontor.services.bundle import Services
from tenants import TenantUnderTest


@pytest.fixture
async def assistant(standing_services: Services, server: str, shared: TenantUnderTest, customer: BankCustomer):
    name = f"assistant-{uuid4().hex[:8]}"
    administration = standing_services.tenant_administration
    made = await administration.create_assistant(shared.name, name, [BACK, LOOPBACK], "Helper <b>")
    return Assistant(made.username, customer, server)


def test_a_user_agrees_and_the_assistant_can_read(assistant: Assistant) -> None:
    answer = assistant.agree()
    assert answer["state"] == "s&1"
    assert answer["iss"] == assistant.address
    tokens = assistant.exchange(answer["code"]).json()
    assert tokens["scope"] == CUSTOMER_READ
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 7200)
    assert assistant.can_read(tokens)


def test_changing_categories_is_granted_only_where_the_user_ticks_it(assistant: Assistant) -> None:
    assert assistant.get_tokens(tags=True)["scope"] == f"{CUSTOMER_READ} {CUSTOMER_TAGS}"
    code = assistant.agree(tags=True, scope=CUSTOMER_READ)["code"]
    assert assistant.exchange(code).json()["scope"] == CUSTOMER_READ


def test_the_user_is_told_who_may_do_what_and_until_when(assistant: Assistant) -> None:
    with assistant.browser() as browser:
        page = assistant.sign_in(browser, assistant.query()).text
    for words in (
        "Helper &lt;b&gt;",
        assistant.customer.username,
        "assistant.example",
        "read accounts, balances, transactions",
        "Payments, new accesses to banks and reading credentials are never possible",
        "provider of its language model",
        "ends after 180 days, or when it is not used for 30 days",
    ):
        assert words in page, words


def test_a_user_who_has_agreed_is_asked_again(assistant: Assistant) -> None:
    assistant.get_tokens()
    with assistant.browser() as browser:
        page = browser.get(AUTHORIZE, params=assistant.query(), follow_redirects=False)
        assert (page.status_code, 'name="password"' in page.text) == (200, True)
        consent = assistant.sign_in(browser, assistant.query()).text
    assert 'value="agree"' in consent


def test_an_assistant_has_no_password_grant(assistant: Assistant) -> None:
    username = assistant.customer.username
    form = {"grant_type": "password", "username": username, "password": f"password of {username}"}
    for changes, auth in (({"client_id": assistant.client_id}, None), ({}, (assistant.client_id, ""))):
        answer = assistant.customer.http.post("/auth/oauth2/token", data=form | changes, auth=auth)
        assert answer.status_code == 401, answer.text


def test_declining_tells_the_assistant(assistant: Assistant) -> None:
    answer = assistant.agree(action="decline")
    assert (answer["error"], answer["state"]) == ("access_denied", "s&1")
    assert "code" not in answer


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "t/none"},
        {"client_id": ""},
        {"redirect_uri": "https://assistant.example/callback"},
        {"redirect_uri": BACK + "&more=1"},
        {"redirect_uri": BACK + "/"},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": "http://127.0.0.2/callback"},
        {"redirect_uri": "http://127.0.0.1:81/other"},
        {"redirect_uri": "http://127.0.0.1.evil.example/callback"},
        {"redirect_uri": "http://x@127.0.0.1:81/callback"},
        {"redirect_uri": None},
    ],
)
def test_an_unknown_client_or_address_is_never_sent_anywhere(assistant: Assistant, changes: dict[str, str]) -> None:
    with assistant.browser() as browser:
        answer = browser.get(AUTHORIZE, params=assistant.query(**changes))
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert "http-equiv" not in answer.text


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": CUSTOMER_TRANSFER}, "invalid_scope"),
        ({"scope": f"{CUSTOMER_READ} {CUSTOMER_TRANSFER}"}, "invalid_scope"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
    ],
)
def test_a_wrong_request_is_sent_back_with_its_error(assistant: Assistant, changes: dict[str, str], error: str) -> None:
    with assistant.browser() as browser:
        answer = browser.get(AUTHORIZE, params=assistant.query(**changes), follow_redirects=False)
    assert answer.status_code == 303
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert (query["error"], query["state"], query["iss"]) == ([error], ["s&1"], [assistant.address])


def test_a_loopback_address_may_have_any_port(assistant: Assistant) -> None:
    address = "http://127.0.0.1:49152/callback"
    code = assistant.agree(redirect_uri=address)["code"]
    assert assistant.exchange(code).status_code == 400  # another address than the code was sent to
    assert assistant.exchange(code, redirect_uri=address).status_code == 200


def test_pages_cannot_be_framed_and_show_names_as_text(assistant: Assistant) -> None:
    with assistant.browser() as browser:
        page = browser.get(AUTHORIZE, params=assistant.query())
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["cache-control"] == "no-store"
    assert "Helper &lt;b&gt;" in page.text
    assert "httponly" in page.headers["set-cookie"].lower()


@pytest.mark.parametrize("forgery", ["no cookie", "no token", "other request", "other site"])
def test_forged_forms_are_refused(assistant: Assistant, forgery: str) -> None:
    query = assistant.query()
    with assistant.browser() as browser:
        page = browser.get(AUTHORIZE, params=query)
        form = dict(FIELD.findall(page.text)) | {
            "action": "sign_in", "username": assistant.customer.username,
            "password": f"password of {assistant.customer.username}",
        }  # fmt: skip
        headers = {}
        if forgery == "no cookie":
            browser.cookies.clear()
        elif forgery == "no token":
            form["token"] = ""
        elif forgery == "other request":
            query["state"] = "another"
        else:
            headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        answer = browser.post(AUTHORIZE, params=query, data=form, headers=headers)
    assert answer.status_code in (400, 403)
    assert "ticket" not in answer.text


def test_a_ticket_counts_in_its_browser_for_its_request(assistant: Assistant) -> None:
    query, other = assistant.query(), assistant.query(state="other")
    with assistant.browser() as browser, assistant.browser() as second:
        ticket = dict(FIELD.findall(assistant.sign_in(browser, query).text))["ticket"]
        for client, asked in ((second, query), (browser, other)):
            token = dict(FIELD.findall(client.get(AUTHORIZE, params=asked).text))["token"]
            form = {"token": token, "ticket": ticket, "action": "agree"}
            answer = client.post(AUTHORIZE, params=asked, data=form)
            assert answer.status_code == 422
            assert "expired" in answer.text


def test_wrong_passwords_are_counted_as_at_other_logins(assistant: Assistant) -> None:
    with assistant.browser() as browser:
        shown = [assistant.sign_in(browser, assistant.query(), "wrong").text for _ in range(7)]
    assert "password is wrong" in shown[0]
    assert "Too many attempts" in shown[-1]


def test_a_code_is_used_once_and_reuse_ends_what_it_gave(assistant: Assistant) -> None:
    code = assistant.agree()["code"]
    tokens = assistant.exchange(code).json()
    assert assistant.can_read(tokens)
    again = assistant.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert not assistant.can_read(tokens)
    assert assistant.refresh(tokens["refresh_token"]).status_code == 400


def test_a_code_is_bound_to_challenge_client_and_time(
    assistant: Assistant, owner: psycopg.Connection, shared: TenantUnderTest
) -> None:
    code = assistant.agree()["code"]
    other = base64.urlsafe_b64encode(hashlib.sha256(b"x").digest()).rstrip(b"=").decode()
    for changes in ({"code_verifier": other}, {"code_verifier": "x"}, {"redirect_uri": LOOPBACK}):
        assert assistant.exchange(code, **changes).json()["error"] == "invalid_grant"
    assert assistant.exchange(code, client_id=f"{shared.name}/none").status_code == 401
    assert assistant.exchange(code, client_id=shared.app[0]).status_code == 401  # it has a secret
    owner.execute("update assistant_grants set code_expires_at = now() where code_hash = sha256(%s)", [code.encode()])
    owner.commit()
    assert assistant.exchange(code).json()["error"] == "invalid_grant"


def test_codes_and_tokens_are_kept_as_hashes(assistant: Assistant, owner: psycopg.Connection) -> None:
    tokens = assistant.get_tokens()
    rows = owner.execute("select t::text from refresh_tokens t union all select g::text from assistant_grants g")
    stored = " ".join(row[0] for row in rows)
    assert tokens["refresh_token"] not in stored
    assert tokens["access_token"] not in stored
    expiry = owner.execute(
        "select expires_at - now() from assistant_grants where user_id = %s", [assistant.customer.reference]
    ).fetchone()
    assert 29 <= expiry[0].total_seconds() / 86400 <= 30


def test_refresh_tokens_rotate_and_reuse_ends_the_family(assistant: Assistant) -> None:
    first = assistant.get_tokens()
    second = assistant.refresh(first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert not assistant.can_read(first)
    assert assistant.can_read(second)
    assert assistant.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert not assistant.can_read(second)
    assert assistant.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_grant_ends_180_days_after_the_user_agreed_however_often_it_is_used(
    assistant: Assistant, owner: psycopg.Connection
) -> None:
    tokens = assistant.get_tokens()
    of_the_user = " where user_id = %s"
    agreed = "update assistant_grants set created_at = now() - make_interval(days => %s), expires_at = now() + %s"
    owner.execute(agreed + of_the_user, [179, timedelta(hours=1), assistant.customer.reference])
    second = assistant.refresh(tokens["refresh_token"]).json()
    query = "select expires_at - now() from assistant_grants" + of_the_user
    [left] = owner.execute(query, [assistant.customer.reference]).fetchone()
    assert timedelta(hours=23) < left <= timedelta(days=1)
    owner.execute(agreed + of_the_user, [180, timedelta(0), assistant.customer.reference])
    assert assistant.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_refresh_cannot_widen_what_was_granted(assistant: Assistant) -> None:
    tokens = assistant.get_tokens()
    answer = assistant.refresh(tokens["refresh_token"], scope=f"{CUSTOMER_READ} {CUSTOMER_TAGS}")
    assert answer.json()["error"] == "invalid_scope"
    assert assistant.refresh(tokens["refresh_token"]).status_code == 200


def change_password(assistant: Assistant, _: Token) -> None:
    password = f"password of {assistant.customer.username}"
    body = {"password": password, "newPassword": "another long password"}
    answer = assistant.customer.http.put("/customer/v2/password", json=body, headers=assistant.customer.headers)
    assert answer.status_code == 200, answer.text


def deactivate(assistant: Assistant, _: Token) -> None:
    tenant = assistant.customer.tenant
    url = f"{tenant.url}/users/{assistant.customer.reference}/deactivate"
    assert tenant.http.put(url, headers=tenant.as_admin).status_code == 200


def revoke_in_the_list(assistant: Assistant, _: Token) -> None:
    listed = [entry for entry in assistant.customer.read("/customer/v2/tokens") if entry.get("grant")]
    assert [entry["client"] for entry in listed] == [assistant.client_id.partition("/")[2]]
    assert [entry["scope"] for entry in listed] == [CUSTOMER_READ]
    body = {"password": f"password of {assistant.customer.username}", "ids": [listed[0]["id"]]}
    assert assistant.customer.post("/customer/v2/tokens/revoke", body).status_code == 200
    assert not [entry for entry in assistant.customer.read("/customer/v2/tokens") if entry.get("grant")]


def revoke_as_client(assistant: Assistant, tokens: Token) -> None:
    form = {"client_id": assistant.client_id, "token": tokens["refresh_token"]}
    assert assistant.customer.http.post("/auth/oauth2/revoke", data=form).status_code == 200


@pytest.mark.parametrize("end", [change_password, deactivate, revoke_in_the_list, revoke_as_client])
def test_a_grant_ends_with_its_tokens(assistant: Assistant, end: Callable[[Assistant, Token], None]) -> None:
    tokens = assistant.get_tokens()
    assert assistant.can_read(tokens)
    end(assistant, tokens)
    assert not assistant.can_read(tokens)
    assert assistant.refresh(tokens["refresh_token"]).status_code == 400


def test_a_grant_is_erased_with_its_user(assistant: Assistant, owner: psycopg.Connection) -> None:
    tokens = assistant.get_tokens()
    deactivate(assistant, tokens)
    tenant = assistant.customer.tenant
    url = f"{tenant.url}/users/{assistant.customer.reference}"
    assert tenant.http.delete(url, headers=tenant.as_admin).status_code == 200
    [count] = owner.execute(
        "select count(*) from assistant_grants where user_id = %s", [assistant.customer.reference]
    ).fetchone()
    assert count == 0


def test_grants_are_in_the_audit_trail(assistant: Assistant, owner: psycopg.Connection) -> None:
    code = assistant.agree()["code"]
    assistant.exchange(code)
    assistant.exchange(code)
    rows = owner.execute("select action from audit_entries where actor = %s", [f"client {assistant.client_id}"])
    assert {"assistant.grant", "token.issue", "assistant.code-reuse"} <= {row[0] for row in rows}


async def test_expired_grants_are_removed(assistant: Assistant, services: Services, owner: psycopg.Connection) -> None:
    assistant.get_tokens()
    owner.execute(
        "update assistant_grants set expires_at = now() - interval '1 second' where user_id = %s",
        [assistant.customer.reference],
    )
    owner.commit()
    await services.housekeeping.clean()
    [count] = owner.execute(
        "select count(*) from assistant_grants where user_id = %s", [assistant.customer.reference]
    ).fetchone()
    assert count == 0


@pytest.mark.parametrize(
    "address",
    [
        "http://example.com/",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://a.example/#x",
        "cursor://x",
        "https:///x",
        "https://u:p@a.example/",
        "http://127.0.0.1.evil.example/",
        "https://a.example:99999/",
        "https://a.example/ x",
        "",
    ],
)  # fmt: skip
async def test_addresses_that_anybody_could_listen_at_are_not_registered(
    standing_services: Services, shared: TenantUnderTest, address: str
) -> None:
    with pytest.raises(InvalidError):
        await standing_services.tenant_administration.create_assistant(shared.name, f"a{time.time_ns()}", [address])


def test_a_token_of_a_grant_opens_the_endpoint_for_assistants(assistant: Assistant) -> None:
    token = assistant.get_tokens()["access_token"]
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    listed = assistant.customer.http.post("/mcp", json=body, headers=headers).json()["result"]["tools"]
    names = [tool["name"] for tool in listed]
    assert "list_accounts" in names
    assert "apply_change" not in names
