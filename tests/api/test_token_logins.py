"""Who asks for a token: logins of clients and users, and how wrong ones are slowed down."""

import base64
import hashlib
import re
import time
from urllib.parse import quote, quote_plus, unquote_plus
from uuid import uuid4

import pytest
from oauth_calls import (
    BASIC,
    CLIENT,
    INTROSPECT,
    REVOKE,
    TOKEN,
    assert_oauth_error,
    basic,
    fail,
)

from kontor.domain.secrets import Secret
from kontor.services.identity import tokens
from kontor.services.identity.tokens import ClientLogin, GrantError, TokenRequest
from kontor.services.identity.users import NewUser
from kontor.services.security import passwords
from kontor.storage import login_failures

# Client login


BROKEN_BASIC = [
    None,
    "Basic",
    "Basic !!!",
    "Basic eA",
    "Basic " + base64.b64encode(b"no colon").decode(),
    "Basic " + base64.b64encode(b"\xff\xfe:\xfd").decode(),
    "Basic " + base64.b64encode("ümlaut:ü".encode("latin-1")).decode(),
    "Basic " + base64.b64encode(b":").decode(),
    "Basic " + base64.b64encode(b"\x00:\x00").decode(),
    "Basic " + base64.b64encode(b"a\x00b/c:x").decode(),
    "Basic " + base64.b64encode(b"%00/%00:%00").decode(),
    "Basic " + base64.b64encode(b"%FF%FE:x").decode(),
    "Basic " + base64.b64encode(b"lone %ED%A0%80 surrogate/x:x").decode(),
    "Basic " + base64.b64encode(b"x" * 20_000 + b":y").decode(),
    "Basic " + base64.b64encode("täst/ädmin:geheim".encode()).decode(),
    "Basic " + base64.b64encode(b"a/b/c:d:e:f").decode(),
    "Bearer something",
    "Digest username=x",
    "nonsense",
]


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT])
@pytest.mark.parametrize("header", BROKEN_BASIC, ids=range(len(BROKEN_BASIC)))
def test_missing_or_broken_basic_login_is_401_with_a_challenge(http, path, header, forget_login_failures):
    headers = {} if header is None else {"Authorization": header}
    answer = http.post(path, data={**CLIENT, "token": "x"}, headers=headers)
    assert_oauth_error(answer, 401, "invalid_client")
    assert answer.headers["www-authenticate"] == BASIC


def test_unknown_client_and_wrong_secret_answer_alike(http, shared, admin_client):
    answers = [
        http.post(TOKEN, data=CLIENT, auth=login)
        for login in [
            (admin_client[0], "wrong"),
            (admin_client[0], ""),
            (f"{shared.name}/nobody", admin_client[1]),
            ("no-tenant/admin", "wrong"),
            (shared.name, "wrong"),
        ]
    ]
    for answer in answers:
        assert_oauth_error(answer, 401, "invalid_client")
        assert answer.headers["www-authenticate"] == BASIC
    assert len({answer.content for answer in answers}) == 1


def test_secret_of_one_tenant_opens_nothing_in_another(http, shared, neighbour, admin_client):
    name = admin_client[0].partition("/")[2]
    assert http.post(TOKEN, data=CLIENT, auth=(f"{neighbour.name}/{name}", admin_client[1])).status_code == 401


ODD_SECRETS = [
    "a:b", ":", "::a", "100%", "%41", "%", "%zz", "%25", "a+b", "+", "a b", " lead", "trail ", "ümläut", "€", "пароль",
    "日本語", "😀", "a/b", "a=b&c=d", "a?b#c", '"quoted"', "back\\slash", "tab\there", "new\nline", "\u00a0", "{}",
    "x" * 500, "'; drop table clients; --", "é vs e\u0301",
]  # fmt: skip


@pytest.mark.parametrize("secret", ODD_SECRETS)
def test_odd_secret_works_in_form_encoded_basic(http, admin_client, owner, secret):
    tenant, _, client = admin_client[0].partition("/")
    owner.execute(
        "update clients c set secret_hash = %s from tenants t where t.id = tenant_id and t.name = %s and c.name = %s",
        [hashlib.sha256(secret.encode()).digest(), tenant, client],
    )
    username = quote_plus(admin_client[0])
    forms = [(username, quote_plus(secret)), (username, quote(secret, safe="")), (admin_client[0], quote_plus(secret))]
    if unquote_plus(secret) == secret:  # what encoding does not touch may come as it is, too
        forms.append((admin_client[0], secret))
    for name, encoded in forms:
        assert http.post(TOKEN, data=CLIENT, headers=basic(name, encoded)).status_code == 200
    assert http.post(TOKEN, data=CLIENT, headers=basic(username, quote_plus(secret + "x"))).status_code == 401


@pytest.mark.parametrize(
    "username",
    ["a:b", "100%", "%41", "a+b", "a b", "ümläut", "日本語", "😀", "a/b", "a=b&c=d", '"x"', "back\\slash", "x" * 255,
     "o'neill; --", "anna@example.com", "é", "e\u0301"],
)  # fmt: skip
def test_odd_username_and_password_log_in(shared, password_login, username):
    body = {"username": f"{username}{uuid4().hex[:6]}"[-255:], "password": f"{username}:+%41 \t"}
    answer = shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin)
    assert answer.status_code == 201
    token = password_login(body["username"], body["password"])
    assert token.status_code == 200
    assert token.json()["additionalData"] == {"username": body["username"]}


async def test_renewed_client_secret_replaces_the_old_one_at_once(http, standing_services, admin_client, secrets_used):
    new = await standing_services.tenant_administration.renew_client_secret(*admin_client[0].split("/"))
    secrets_used.add(new)
    assert http.post(TOKEN, data=CLIENT, auth=admin_client).status_code == 401
    assert http.post(TOKEN, data=CLIENT, auth=(admin_client[0], new)).status_code == 200


def test_two_authorization_headers_are_400(http, shared):
    header = basic(*shared.admin)["Authorization"]
    for path in (TOKEN, INTROSPECT):
        headers = [("Authorization", header), ("Authorization", header)]
        answer = http.post(path, data={**CLIENT, "token": "x"}, headers=headers)
        assert_oauth_error(answer, 400, "invalid_request")


# User login


def test_unknown_inactive_and_wrong_password_get_the_same_401(shared, new_user, password_login):
    active, inactive = new_user(), new_user()
    shared.http.put(f"{inactive.url}/deactivate", headers=shared.as_admin).raise_for_status()
    answers = [
        password_login(active.username, "wrong"),
        password_login(inactive.username, inactive.password),
        password_login(inactive.username, "wrong"),
        password_login(f"nobody-{uuid4().hex}", "wrong"),
        password_login("nul\x00byte", "wrong"),
        password_login(active.username.upper(), active.password),
        password_login(f"{active.username} ", active.password),
    ]
    for answer in answers:
        assert_oauth_error(answer, 401, "invalid_grant")
        assert answer.headers["www-authenticate"] == BASIC
    assert len({answer.content for answer in answers}) == 1
    names = [set(answer.headers) for answer in answers]
    assert all(header_names == names[0] for header_names in names)


def test_user_of_another_tenant_cannot_log_in(shared, neighbour, new_user, password_login):
    person = new_user()
    assert_oauth_error(password_login(person.username, person.password, neighbour.app), 401, "invalid_grant")


async def test_unknown_inactive_and_wrong_password_do_the_same_work(services, shared, owner, monkeypatch):
    """Time is not measured: what costs time is counted. Passwords are hashed here, with production's parameters."""
    right = Secret("the right password")
    active, inactive = [
        await services.users.create_user_by_operator(shared.name, NewUser(f"user-{uuid4().hex[:12]}", right))
        for _ in range(2)
    ]
    deactivate = f"{shared.url}/users/{inactive.id}/deactivate"
    shared.http.put(deactivate, headers=shared.as_admin).raise_for_status()
    hashed, counted = [], []
    verify, count_failure = passwords._verify, login_failures.count_failure
    monkeypatch.setattr(passwords, "_verify", lambda stored, given: hashed.append(stored) or verify(stored, given))
    monkeypatch.setattr(login_failures, "count_failure", lambda *what: counted.append(what) or count_failure(*what))
    work = []
    for username, password in [
        (active.username, "wrong"),
        (inactive.username, right.reveal()),
        (inactive.username, "wrong"),
        (f"nobody-{uuid4().hex}", "wrong"),
    ]:
        hashed.clear()
        counted.clear()
        entries = "select count(*) from audit_entries"
        (before,) = owner.execute(entries).fetchone()
        login = ClientLogin(shared.app[0], Secret(shared.app[1]), "10.1.2.3")
        with pytest.raises(GrantError, match="unknown or the password is wrong"):
            await services.tokens.issue_token(login, TokenRequest("password", None, username, Secret(password)))
        (after,) = owner.execute(entries).fetchone()
        costs = [re.match(r"\$argon2id\$v=\d+\$m=\d+,t=\d+,p=\d+\$", password_hash)[0] for password_hash in hashed]
        work.append((costs, len(counted), after - before))
    assert work == [work[0]] * 4
    assert (len(work[0][0]), work[0][1:]) == (1, (2, 1))  # counted for the address, and for all addresses


async def test_unknown_client_and_wrong_secret_do_the_same_work(services, shared, admin_client, owner, monkeypatch):
    compared, counted = [], []
    is_same, count_failure = tokens.is_same_hash, login_failures.count_failure
    monkeypatch.setattr(tokens, "is_same_hash", lambda *two: compared.append(two) or is_same(*two))
    monkeypatch.setattr(login_failures, "count_failure", lambda *what: counted.append(what) or count_failure(*what))
    for username in (admin_client[0], f"{shared.name}/nobody", "no-tenant/nobody"):
        with pytest.raises(GrantError, match="unknown or its secret is wrong"):
            await services.tokens.authenticate_client(ClientLogin(username, Secret("wrong"), "10.1.2.4"))
    assert [len(left) for left, _ in compared] == [32] * 3
    assert len(counted) == 3


# Slowing down


def wait_out(answer):
    assert answer.status_code == 429
    assert_oauth_error(answer, 429, "temporarily_unavailable")
    seconds = int(answer.headers["retry-after"])
    assert 1 <= seconds <= 2
    time.sleep(seconds)


def test_repeated_wrong_passwords_slow_down_that_name_only_and_for_a_while(new_user, password_login):
    person, other = new_user(), new_user()
    fail(lambda: password_login(person.username, "wrong"), 5)
    assert password_login(other.username, other.password).status_code == 200
    wait_out(password_login(person.username, person.password))  # the right password does not help while it lasts
    assert password_login(person.username, person.password).status_code == 200


def test_unknown_name_is_slowed_down_like_a_known_one(password_login):
    name = f"nobody-{uuid4().hex}"
    fail(lambda: password_login(name, "wrong"), 5)
    assert password_login(name, "wrong").status_code == 429


def test_repeated_wrong_secrets_slow_down_that_client_only_and_for_a_while(http, shared, admin_client):
    def ask(secret="wrong"):
        return http.post(TOKEN, data=CLIENT, auth=(admin_client[0], secret))

    fail(ask, 5)
    assert http.post(TOKEN, data=CLIENT, auth=shared.admin).status_code == 200
    wait_out(ask())
    fail(ask, 1)
    assert http.post(INTROSPECT, data={"token": "x"}, auth=(admin_client[0], "wrong")).status_code == 429
    assert http.post(REVOKE, data={"token": "x"}, auth=(admin_client[0], "wrong")).status_code == 200
    assert ask(admin_client[1]).status_code == 200  # nobody guesses 256 bits, so the right secret does not wait


def test_right_login_forgets_the_wrong_ones_before(http, admin_client, new_user, password_login):
    person = new_user()
    for _ in range(3):
        fail(lambda: password_login(person.username, "wrong"), 4)
        assert password_login(person.username, person.password).status_code == 200
        fail(lambda: http.post(TOKEN, data=CLIENT, auth=(admin_client[0], "wrong")), 4)
        assert http.post(TOKEN, data=CLIENT, auth=admin_client).status_code == 200


def test_wait_grows_with_every_further_failure_and_never_beyond_a_minute(shared, owner, password_login):
    name = f"nobody-{uuid4().hex}"
    blocks = []
    for _ in range(14):
        owner.execute("update login_failures set blocked_until = now() - interval '1 hour'")
        assert password_login(name, "wrong").status_code == 401
        (seconds,) = owner.execute(
            "select extract(epoch from max(blocked_until) - now())::float from login_failures"
        ).fetchone()
        blocks.append(max(0, round(seconds)))
    assert blocks == [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


def test_login_failures_are_kept_as_hashes(owner, password_login):
    name = f"nobody-{uuid4().hex}"
    password_login(name, "wrong")
    assert not [row for (row,) in owner.execute("select f::text from login_failures f") if name in row]
