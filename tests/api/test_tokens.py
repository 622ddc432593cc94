"""The token endpoints: every row of the table of exact answers in the notes on reliability."""

import hashlib
import json
import re
import time

import pytest
from oauth_calls import CLIENT, FIELDS, INTROSPECT, REVOKE, TOKEN, assert_oauth_error, check_common_fields

from kontor.domain.scopes import MANAGEMENT_SCOPES, USER_SCOPES


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


def test_a_password_that_is_ten_years_old_is_accepted(new_user, password_login, owner):
    person = new_user()
    owner.execute("update users set created_at = now() - interval '10 years' where id = %s", [person.reference])
    assert password_login(person.username, person.password).status_code == 200


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
