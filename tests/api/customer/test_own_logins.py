"""Users change their own password, and see and revoke their tokens. Both need the password again."""

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest

from kontor.domain.secrets import Secret
from kontor.services.identity import ClientLogin, GrantError, TokenRequest
from kontor.storage import users

PASSWORD, TOKENS, REVOKE = "/customer/v2/password", "/customer/v2/tokens", "/customer/v2/tokens/revoke"
NEW = "an entirely new passphrase"
FIELDS = {"id", "client", "scope", "issuedAt", "expiresAt", "bound", "current"}
READ_ONLY = "http://service/customer/read"


class Caller:
    def __init__(self, tenant, username):
        self.tenant, self.username, self.password = tenant, username, f"password of {username}"
        body = {"username": username, "password": self.password}
        answer = tenant.http.post(f"{tenant.url}/users", json=body, headers=tenant.as_admin)
        assert answer.status_code == 201, answer.text

    def login(self, password=None, **form):
        sent = {"grant_type": "password", "username": self.username, "password": password or self.password} | form
        return self.tenant.http.post("/auth/oauth2/token", data=sent, auth=self.tenant.app)

    def token(self, **form):
        answer = self.login(**form)
        assert answer.status_code == 200, answer.text
        return answer.json()["access_token"]

    def call(self, method, path, token, json=None):
        return self.tenant.http.request(method, path, json=json, headers={"Authorization": f"Bearer {token}"})

    def change(self, token, password=None, new=NEW):
        return self.call("PUT", PASSWORD, token, {"password": password or self.password, "newPassword": new})

    def is_alive(self, token):
        status = self.call("GET", TOKENS, token).status_code
        assert status in (200, 403)
        return status == 200


@pytest.fixture
def caller(shared):
    return Caller(shared, f"own-{uuid4().hex[:12]}")


# The password


def test_a_changed_password_logs_in_and_the_old_one_does_not(caller):
    answer = caller.change(caller.token())
    assert (answer.status_code, answer.content) == (200, b"")
    assert caller.login().status_code == 401
    assert caller.login(NEW).status_code == 200


def test_a_change_ends_all_tokens_of_the_user_and_none_of_others(shared, caller):
    token, other, foreign = caller.token(), caller.token(), Caller(shared, f"own-{uuid4().hex[:12]}")
    of_another = foreign.token()
    assert caller.change(token).status_code == 200
    assert [caller.is_alive(token), caller.is_alive(other), foreign.is_alive(of_another)] == [False, False, True]


def test_a_wrong_password_changes_nothing_and_is_slowed_down(caller):
    token = caller.token()
    answers = [caller.change(token, "wrong") for _ in range(7)]
    assert [answer.status_code for answer in answers[:5]] == [400] * 5
    assert answers[0].json()["message"] == "password: is wrong"
    assert 429 in [answer.status_code for answer in answers[5:]]
    assert caller.login().status_code == 200, "the login itself is not slowed down"
    assert caller.is_alive(token)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "password: is required; newPassword: is required"),
        ({"password": 1, "newPassword": NEW}, "password: expected str, got int"),
        ({"password": "{own}", "newPassword": ""}, "newPassword: expected str of length >= 1"),
        ({"password": "{own}", "newPassword": "x" * 1025}, "newPassword: expected str of length <= 1024"),
        (
            {"password": "{own}", "newPassword": "a\x00b"},
            "newPassword: NUL characters and lone surrogates are not allowed",
        ),
    ],
)
def test_a_body_that_cannot_be_is_400_and_says_why(caller, body, message):
    body = {name: caller.password if value == "{own}" else value for name, value in body.items()}
    answer = caller.call("PUT", PASSWORD, caller.token(), body)
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert caller.login().status_code == 200


def test_of_two_changes_at_once_one_is_made(caller):
    token = caller.token()
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda new: (new, caller.change(token, new=new)), (NEW + " 1", NEW + " 2")))
    done = [new for new, answer in answers if answer.status_code == 200]
    assert len(done) == 1
    assert next(answer.status_code for new, answer in answers if new not in done) in (400, 403, 409)
    assert [caller.login(new).status_code for new, _ in answers] == [200 if new in done else 401 for new, _ in answers]


async def test_a_login_that_began_before_the_change_gives_no_token(caller, standing_services, monkeypatch):
    """The password was right when it was looked at, and is not when the token is issued."""
    token, held = caller.token(), users.hold_password

    async def change_first(*arguments, **options):
        if not options:  # of a login
            assert caller.change(token).status_code == 200
        return await held(*arguments, **options)

    monkeypatch.setattr(users, "hold_password", change_first)
    login = ClientLogin(caller.tenant.app[0], Secret(caller.tenant.app[1]), "127.0.0.1")
    request = TokenRequest("password", username=caller.username, password=Secret(caller.password))
    with pytest.raises(GrantError, match="password is wrong"):
        await standing_services.tokens.issue_token(login, request)


def test_a_token_that_may_only_read_changes_and_revokes_nothing(caller):
    token = caller.token(scope=READ_ONLY)
    assert caller.change(token).status_code == 403
    assert caller.call("POST", REVOKE, token, {"password": caller.password}).status_code == 403
    assert caller.call("GET", TOKENS, token).status_code == 200


@pytest.mark.parametrize(("method", "path"), [("PUT", PASSWORD), ("GET", TOKENS), ("POST", REVOKE)])
def test_clients_have_no_password_and_no_tokens_of_their_own_here(shared, method, path):
    body = None if method == "GET" else {"password": "a", "newPassword": "b"}
    assert shared.http.request(method, path, json=body, headers=shared.as_admin).status_code == 403
    assert shared.http.request(method, path, json=body).status_code == 401


def test_query_parameters_are_refused(caller):
    assert caller.call("GET", TOKENS + "?limit=1", caller.token()).status_code == 400


# Tokens


def test_the_list_has_every_valid_token_of_the_user_and_tells_the_callers(shared, caller):
    before = int(time.time())
    first, second = caller.token(), caller.token(scope=READ_ONLY)
    listed = caller.call("GET", TOKENS, second).json()
    assert [set(token) for token in listed] == [FIELDS] * 2
    assert sorted(token["current"] for token in listed) == [False, True]
    own = next(token for token in listed if token["current"])
    assert (own["client"], own["scope"], own["bound"]) == (shared.app[0].partition("/")[2], READ_ONLY, False)
    assert own["expiresAt"] - own["issuedAt"] == 7200
    assert before - 5 <= own["issuedAt"] <= time.time() + 5
    assert {UUID(token["id"]) for token in listed} == {
        UUID(token["id"]) for token in caller.call("GET", TOKENS, first).json()
    }
    assert not any(secret in str(listed) for secret in (first, second))


def test_named_tokens_are_revoked_and_others_stay(caller):
    kept, ended = caller.token(), caller.token()
    name = next(token["id"] for token in caller.call("GET", TOKENS, ended).json() if token["current"])
    answer = caller.call("POST", REVOKE, kept, {"password": caller.password, "ids": [name, str(uuid4())]})
    assert (answer.status_code, answer.content) == (200, b"")
    assert [caller.is_alive(kept), caller.is_alive(ended)] == [True, False]


def test_an_id_of_another_users_token_revokes_nothing(shared, caller):
    foreign = Caller(shared, f"own-{uuid4().hex[:12]}")
    token = foreign.token()
    (listed,) = foreign.call("GET", TOKENS, token).json()
    body = {"password": caller.password, "ids": [listed["id"]]}
    assert caller.call("POST", REVOKE, caller.token(), body).status_code == 200
    assert foreign.is_alive(token)


def test_without_ids_all_tokens_end_with_that_of_the_call(caller):
    tokens = [caller.token() for _ in range(3)]
    assert caller.call("POST", REVOKE, tokens[0], {"password": caller.password}).status_code == 200
    assert [caller.is_alive(token) for token in tokens] == [False] * 3
    assert caller.login().status_code == 200


def test_nothing_is_revoked_with_a_wrong_password(caller):
    tokens = [caller.token() for _ in range(2)]
    answer = caller.call("POST", REVOKE, tokens[0], {"password": "wrong"})
    assert (answer.status_code, answer.json()["message"]) == (400, "password: is wrong")
    assert all(caller.is_alive(token) for token in tokens)


@pytest.mark.parametrize("ids", ["x", ["x"], [1], {}])
def test_ids_that_are_none_are_400(caller, ids):
    answer = caller.call("POST", REVOKE, caller.token(), {"password": caller.password, "ids": ids})
    assert (answer.status_code, answer.json()["message"][:3]) == (400, "ids")


def test_changes_and_refusals_are_in_the_audit_trail(caller, owner):
    token, mark = caller.token(), uuid4().hex
    headers = {"Authorization": f"Bearer {token}", "X-Correlation-ID": mark}
    for password in ("wrong", caller.password):
        caller.tenant.http.post(REVOKE, json={"password": password, "ids": []}, headers=headers)
    caller.tenant.http.put(PASSWORD, json={"password": caller.password, "newPassword": NEW}, headers=headers)
    rows = owner.execute(
        "select action, result from audit_entries where correlation_id = %s order by serial", [mark]
    ).fetchall()
    assert rows == [
        ("user.check-password", "refused"), ("token.revoke-own", "done"), ("user.change-password", "done"),
    ]  # fmt: skip
