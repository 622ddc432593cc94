"""The end of tokens and what is told about them: revoking, deactivation, time, introspection."""

import hashlib
from uuid import uuid4

import pytest
from oauth_calls import (
    CLIENT,
    INTROSPECT,
    REVOKE,
    assert_oauth_error,
    basic,
    is_alive,
)

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
