"""The classic token: a user's token for an API key."""

import time
from uuid import uuid4

import pytest
from oauth_calls import FIELDS, assert_oauth_error, check_common_fields, fail, is_alive

from kontor.domain.scopes import USER_SCOPES


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
