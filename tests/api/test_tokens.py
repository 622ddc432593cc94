"""The token endpoints: every row of the table of exact answers in the notes on reliability."""

import base64
import hashlib
import json
import re
import time
from datetime import datetime
from urllib.parse import quote, quote_plus, unquote_plus
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest

from kontor.domain.scopes import MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.services.identity import tokens
from kontor.services.identity.tokens import ClientLogin, GrantError, TokenRequest
from kontor.services.identity.users import NewUser
from kontor.services.security import passwords
from kontor.storage import login_failures

TOKEN = "/auth/oauth2/token"
REVOKE = "/auth/oauth2/revoke"
INTROSPECT = "/auth/oauth2/introspect"
CLIENT = {"grant_type": "client_credentials"}
BASIC = 'Basic realm="kontor", charset="UTF-8"'
DESCRIPTION = re.compile(r"[\x20-\x21\x23-\x5B\x5D-\x7E]+")


def assert_oauth_error(answer, status, error):
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert (set(body), body["error"]) == ({"error", "error_description"}, error)
    assert DESCRIPTION.fullmatch(body["error_description"])
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    assert answer.headers["content-type"] == "application/json"


def basic(username, secret):
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{secret}".encode()).decode()}


def is_alive(tenant, token):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream+base64"}
    answer = tenant.http.put("/encrypt", content=b"eA==", headers=headers)
    assert answer.status_code in (200, 403)
    if answer.status_code == 403:
        assert answer.headers["www-authenticate"] == 'Bearer realm="kontor", error="invalid_token"'
    return answer.status_code == 200


# Token OK


def check_common_fields(tenant, answer, before):
    assert answer.status_code == 200, answer.text
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    assert answer.headers["content-type"] == "application/json"
    token = answer.json()
    assert (token["tenant"], token["token_type"], token["active"]) == (tenant.name, "Bearer", True)
    UUID(token["tenantId"])
    assert (token["expires_in"], token["expiresAt"] - token["issuedAt"]) == (7200, 7200)
    assert before - 5 <= token["issuedAt"] <= time.time() + 5  # a machine's clock may be set back a little
    berlin = datetime.fromtimestamp(token["expiresAt"], ZoneInfo("Europe/Berlin"))
    assert token["validTo"] == berlin.strftime("%Y-%m-%d %H:%M:%S")
    return token


FIELDS = {"scope", "tenant", "tenantId", "client", "additionalData", "validTo", "active", "issuedAt", "expiresAt",
          "access_token", "token_type", "expires_in"}  # fmt: skip


def test_client_token_has_every_field_but_no_user(shared, login):
    token = check_common_fields(shared, login(shared.admin, **CLIENT), time.time())
    assert token.keys() == FIELDS
    assert (token["client"], token["additionalData"]) == ("admin", {})
    assert token["scope"].split(" ") == list(MANAGEMENT_SCOPES)


def test_user_token_has_the_user_and_its_name_too(shared, password_login):
    token = check_common_fields(shared, password_login(shared.username, shared.password), time.time())
    assert token.keys() == FIELDS | {"user"}
    assert (token["user"], token["additionalData"]) == (shared.user_reference, {"username": "anna"})
    assert (token["client"], token["scope"].split(" ")) == ("app", list(USER_SCOPES))


def test_tokens_are_256_random_bits_with_a_prefix_and_never_repeat(shared):
    tokens = {shared.client_token() for _ in range(5)}
    assert len(tokens) == 5
    for token in tokens:
        assert re.fullmatch(r"kontor_at_[A-Za-z0-9_-]{43}", token)


def test_database_knows_only_the_hash_of_a_token(shared, owner):
    token = shared.client_token()
    found = owner.execute(
        "select k::text from access_tokens k where hash = %s", [hashlib.sha256(token.encode()).digest()]
    )
    row = found.fetchone()
    assert row is not None
    assert token not in row[0]
    assert token.removeprefix("kontor_at_") not in row[0]


def test_narrower_scope_is_granted_as_asked_in_a_fixed_order(shared, login):
    asked = f"{USER_SCOPES[1]}  {USER_SCOPES[0]} {USER_SCOPES[1]}"
    form = {"grant_type": "password", "username": shared.username, "password": shared.password}
    assert login(**form, scope=asked).json()["scope"] == f"{USER_SCOPES[0]} {USER_SCOPES[1]}"
    assert login(shared.admin, **CLIENT, scope="auth/tenants/read").json()["scope"] == "auth/tenants/read"


def test_users_scope_is_the_union_of_its_roles_at_that_client(shared, user_client, new_user, password_login):
    person = new_user()
    assert password_login(person.username, person.password, user_client).json()["scope"] == ""
    role = f"{shared.url}/clients/{user_client[0].partition('/')[2]}/roles/all/users"
    shared.http.post(role, json=person.reference, headers=shared.as_admin).raise_for_status()
    scope = password_login(person.username, person.password, user_client).json()["scope"]
    assert scope.split(" ") == list(USER_SCOPES + MANAGEMENT_SCOPES)
    assert password_login(person.username, person.password).json()["scope"].split(" ") == list(USER_SCOPES)


def test_parameter_sent_empty_counts_as_omitted(shared, login):
    assert login(shared.admin, **CLIENT, scope="").json()["scope"].split(" ") == list(MANAGEMENT_SCOPES)
    assert_oauth_error(login(shared.admin, grant_type=""), 400, "invalid_request")
    assert_oauth_error(login(grant_type="password", username="anna", password=""), 400, "invalid_request")
    assert_oauth_error(login(grant_type="password", username="", password="x"), 400, "invalid_request")


def test_unknown_parameters_are_ignored(shared, login):
    assert login(shared.admin, **CLIENT, audience="x", resource="y").status_code == 200


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


# Grants, scopes, the form


@pytest.mark.parametrize(
    "grant", ["authorization_code", "refresh_token", "implicit", "PASSWORD", "x" * 1000, "\x00", "ü"]
)
def test_unknown_grant_is_unsupported(shared, login, grant):
    assert_oauth_error(login(shared.admin, grant_type=grant), 400, "unsupported_grant_type")


def test_admin_client_may_not_use_the_password_grant(shared, password_login):
    answer = password_login(shared.username, shared.password, shared.admin)
    assert_oauth_error(answer, 400, "unauthorized_client")


@pytest.mark.parametrize(
    "scope",
    ["nonsense", "auth/tenants/read nonsense", "http://service/customer/read", "\x00", "ü", " ", "auth/tenants/read\n"],
)
def test_scope_outside_the_clients_is_invalid(shared, login, scope):
    assert_oauth_error(login(shared.admin, **CLIENT, scope=scope), 400, "invalid_scope")


def test_scope_outside_the_users_roles_is_invalid_though_the_client_has_it(user_client, new_user, password_login):
    person = new_user()
    answer = password_login(person.username, person.password, user_client, scope=USER_SCOPES[0])
    assert_oauth_error(answer, 400, "invalid_scope")


@pytest.mark.parametrize(
    "form",
    [
        "",
        "scope=auth/tenants/read",
        "grant_type=client_credentials&grant_type=client_credentials",
        "grant_type=client_credentials&scope=a&scope=a",
        "grant_type=password&username=anna&username=bob&password=x",
        "grant_type=password&password=x",
        "grant_type=password&username=anna",
        "grant_type=client_credentials&x=%FF",
        "grant_type=client_credentials&x=%ED%A0%80",
        "&".join(f"a{number}=1" for number in range(200)),
    ],
)
def test_missing_repeated_or_undecodable_parameter_is_an_invalid_request(http, shared, form):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert_oauth_error(http.post(TOKEN, content=form, headers=headers, auth=shared.app), 400, "invalid_request")


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (json.dumps(CLIENT).encode(), "application/json"),
        (b"grant_type=client_credentials", "text/plain"),
        (b"grant_type=client_credentials", None),
        ("grant_type=client_credentials&x=ü".encode(), "application/x-www-form-urlencoded"),
        (b"\xff\xfe", "application/x-www-form-urlencoded"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
    ],
)
@pytest.mark.parametrize("path", [TOKEN, INTROSPECT])
def test_body_that_is_no_form_is_an_invalid_request(http, shared, content, media_type, path):
    headers = {"Content-Type": media_type} if media_type else {}
    assert_oauth_error(http.post(path, content=content, headers=headers, auth=shared.admin), 400, "invalid_request")


def test_repeated_query_parameter_is_refused_at_the_token_endpoints(http, shared):
    for path in (TOKEN, INTROSPECT):
        answer = http.post(f"{path}?a=1&a=2", data={**CLIENT, "token": "x"}, auth=shared.admin)
        assert_oauth_error(answer, 400, "invalid_request")
    assert_oauth_error(http.post("/one/bc-token?a=1&a=2"), 400, "invalid_request")


def test_credentials_in_the_query_are_never_read(http, shared):
    query = {**CLIENT, "client_id": shared.admin[0], "client_secret": shared.admin[1]}
    assert_oauth_error(http.post(TOKEN, params=query, data=CLIENT), 400, "invalid_request")
    assert_oauth_error(http.post(TOKEN, params=CLIENT, data={"x": "1"}, auth=shared.admin), 400, "invalid_request")


@pytest.mark.parametrize("path", [TOKEN, REVOKE, INTROSPECT, "/one/bc-token"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_post_is_known(http, path, method):
    answer = http.request(method, path)
    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"POST", "OPTIONS"})


def test_form_beyond_the_limit_is_413(http, shared):
    answer = http.post(TOKEN, data={**CLIENT, "x": "x" * 2**20}, auth=shared.admin)
    assert_oauth_error(answer, 413, "invalid_request")


# Slowing down


def fail(ask, times):
    for number in range(times):
        assert ask().status_code == 401, number


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


# Revoke


def test_revoked_token_is_dead_with_the_next_request(shared, http):
    token = shared.client_token()
    assert is_alive(shared, token)
    answer = http.post(REVOKE, data={"token": token}, auth=shared.admin)
    assert (answer.status_code, answer.content) == (200, b"")
    assert "content-type" not in answer.headers
    assert not is_alive(shared, token)


def test_client_revokes_tokens_of_other_clients_of_its_tenant(shared, http):
    token = shared.user_token()
    assert http.post(REVOKE, data={"token": token}, auth=shared.admin).status_code == 200
    assert not is_alive(shared, token)


def test_client_revokes_nothing_of_another_tenant(shared, neighbour, http):
    token = shared.client_token()
    assert http.post(REVOKE, data={"token": token}, auth=neighbour.admin).status_code == 200
    assert is_alive(shared, token)


def test_token_type_hint_is_ignored(shared, http):
    token = shared.client_token()
    form = {"token": token, "token_type_hint": "nonsense"}
    assert http.post(REVOKE, data=form, auth=shared.admin).status_code == 200
    assert not is_alive(shared, token)


@pytest.mark.parametrize(
    "request_parts",
    [
        {"data": {"token": "unknown"}},
        {"data": {"token": ""}},
        {"data": {}},
        {"data": {"token": "{token}"}, "auth": "wrong"},
        {"data": {"token": "{token}"}, "auth": None},
        {"data": {"token": "{token}"}, "auth": None, "headers": {"Authorization": "Basic !"}},
        {"data": {"token": "{token}"}, "auth": None, "headers": {"Authorization": "Bearer {token}"}},
        {"data": {"token": "{token}"}, "auth": None, "headers": "twice"},
        {"json": {"token": "{token}"}},
        {"content": b"token={token}"},
        {"content": b"\xff", "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
        {"content": "token={token}&token={token}", "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
        {"content": b"x" * 2**21, "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
    ],
    ids=range(13),
)
def test_revoke_answers_200_whatever_is_sent_and_does_nothing(shared, http, admin_client, request_parts):
    token = shared.client_token()
    parts = dict(request_parts)
    if isinstance(parts.get("data"), dict):
        parts["data"] = {name: value.replace("{token}", token) for name, value in parts["data"].items()}
    if isinstance(parts.get("content"), str):
        parts["content"] = parts["content"].replace("{token}", token)
    if parts.get("headers") == "twice":
        header = basic(*admin_client)["Authorization"]
        parts["headers"] = [("Authorization", header), ("Authorization", header)]
    parts["auth"] = (
        {"wrong": (admin_client[0], "wrong"), None: None}[parts["auth"]] if "auth" in parts else admin_client
    )
    answer = http.post(REVOKE, **parts)
    assert (answer.status_code, answer.content) == (200, b"")
    assert is_alive(shared, token)


def test_revoke_works_for_a_caller_that_accepts_no_json(shared, http):
    token = shared.client_token()
    answer = http.post(REVOKE, data={"token": token}, auth=shared.admin, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    assert not is_alive(shared, token)


def test_revoking_with_a_wrong_login_is_audited(http, admin_client, owner):
    mark = f"revoke {uuid4()}"
    headers = {"X-Correlation-ID": mark}
    http.post(REVOKE, data={"token": "x"}, auth=(admin_client[0], "wrong"), headers=headers)
    http.post(REVOKE, data={"token": "x"}, headers=headers)
    found = owner.execute("select action, result from audit_entries where correlation_id = %s", [mark]).fetchall()
    assert found.count(("token.revoke", "refused")) == 2


# Death by deactivation and by time


def test_deactivated_users_token_is_dead_with_the_next_request(shared, new_user, password_login, http):
    person = new_user()
    token = password_login(person.username, person.password).json()["access_token"]
    assert is_alive(shared, token)
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    assert not is_alive(shared, token)
    assert http.post(INTROSPECT, data={"token": token}, auth=shared.admin).json() == {"active": False}


async def test_deleted_clients_tokens_are_dead(shared, admin_client, standing_services):
    token = shared.client_token(admin_client)
    assert is_alive(shared, token)
    await standing_services.tenant_administration.delete_client(*admin_client[0].split("/"))
    assert not is_alive(shared, token)


def test_expired_token_is_dead(shared, http, owner):
    token = shared.client_token()
    digest = hashlib.sha256(token.encode()).digest()
    owner.execute("update access_tokens set expires_at = now() - interval '1 second' where hash = %s", [digest])
    assert not is_alive(shared, token)
    assert http.post(INTROSPECT, data={"token": token}, auth=shared.admin).json() == {"active": False}
    assert http.post(REVOKE, data={"token": token}, auth=shared.admin).status_code == 200


# Introspection


def test_introspection_of_a_client_token(shared, login, http):
    token = login(shared.admin, **CLIENT, scope="auth/tenants/read").json()
    answer = http.post(INTROSPECT, data={"token": token["access_token"]}, auth=shared.app)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {
        "active": True,
        "scope": "auth/tenants/read",
        "client_id": shared.admin[0],
        "token_type": "Bearer",
        "exp": token["expiresAt"],
        "iat": token["issuedAt"],
        "sub": shared.admin[0],
        "tenant": shared.name,
    }


def test_introspection_of_a_user_token(shared, password_login, http):
    token = password_login(shared.username, shared.password).json()
    facts = http.post(INTROSPECT, data={"token": token["access_token"]}, auth=shared.admin).json()
    assert (facts["username"], facts["sub"], facts["client_id"]) == ("anna", shared.user_reference, shared.app[0])
    assert facts["scope"] == token["scope"]


def test_introspection_tells_nothing_about_what_is_not_valid_for_the_caller(shared, neighbour, http):
    token = shared.client_token()
    for login, asked in [
        (neighbour.admin, token),
        (shared.admin, "unknown"),
        (shared.admin, "\x00"),
        (shared.admin, "ü"),
    ]:
        answer = http.post(INTROSPECT, data={"token": asked}, auth=login)
        assert (answer.status_code, answer.json()) == (200, {"active": False})


def test_introspection_without_a_token_or_a_login_is_refused(shared, admin_client, http):
    assert_oauth_error(http.post(INTROSPECT, data={"x": "y"}, auth=shared.admin), 400, "invalid_request")
    wrong = http.post(INTROSPECT, data={"token": shared.client_token()}, auth=(admin_client[0], "wrong"))
    assert_oauth_error(wrong, 401, "invalid_client")


# The classic token


@pytest.fixture
async def api_key(standing_services, shared, new_user, secrets_used):
    person = new_user()
    key = await standing_services.tokens.create_api_key(shared.name, "app", person.username, None)
    secrets_used.add(key.reveal())
    return person, key.reveal()


def test_api_key_gives_a_users_token(shared, http, api_key):
    person, key = api_key
    token = check_common_fields(shared, http.post("/one/bc-token", headers={"X-API-KEY": key}), time.time())
    assert token.keys() == FIELDS | {"user"}
    assert (token["user"], token["additionalData"]) == (person.reference, {"username": person.username})
    assert (token["client"], token["scope"].split(" ")) == ("app", list(USER_SCOPES))
    assert is_alive(shared, token["access_token"])


@pytest.mark.parametrize("key", [None, "", "wrong", "kontor_key_" + "x" * 43, "ü", "x" * 10_000])
def test_missing_or_wrong_api_key_is_401_with_a_challenge(http, key, forget_login_failures):
    headers = [] if key is None else [(b"X-API-KEY", key.encode())]
    answer = http.post("/one/bc-token", headers=headers)
    assert_oauth_error(answer, 401, "invalid_client")
    assert answer.headers["www-authenticate"] == 'ApiKey realm="kontor", header="X-API-KEY"'


def test_wrong_api_keys_are_slowed_down_but_block_no_right_one(http, api_key, forget_login_failures):
    def ask(key="wrong"):
        return http.post("/one/bc-token", headers={"X-API-KEY": key})

    fail(ask, 5)
    assert ask().status_code == 429
    assert "retry-after" in ask().headers
    assert ask(api_key[1]).status_code == 200


def test_wrong_api_key_is_audited(http, owner, forget_login_failures):
    mark = f"key {uuid4()}"
    http.post("/one/bc-token", headers={"X-API-KEY": "wrong", "X-Correlation-ID": mark})
    found = owner.execute("select action, result from audit_entries where correlation_id = %s", [mark]).fetchall()
    assert found == [("token.issue-by-key", "refused")]


def test_two_api_keys_are_400(http, api_key):
    headers = [("X-API-KEY", api_key[1]), ("X-API-KEY", "other")]
    assert_oauth_error(http.post("/one/bc-token", headers=headers), 400, "invalid_request")


def test_api_key_of_a_deactivated_user_is_401(shared, http, api_key, forget_login_failures):
    person, key = api_key
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    assert_oauth_error(http.post("/one/bc-token", headers={"X-API-KEY": key}), 401, "invalid_client")


async def test_deleted_api_key_is_401(shared, http, api_key, standing_services, forget_login_failures):
    person, key = api_key
    (found,) = [
        listed
        for listed in await standing_services.tokens.list_api_keys(shared.name)
        if listed.username == person.username
    ]
    assert key not in str(found)
    await standing_services.tokens.delete_api_key(shared.name, found.id)
    assert http.post("/one/bc-token", headers={"X-API-KEY": key}).status_code == 401
