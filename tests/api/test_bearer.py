"""The bearer token: where it is read from, what is refused, and what each kind of token may do."""

import base64
from urllib.parse import quote

import pytest

from kontor.api.answers import empty_answer
from kontor.api.operations import Security
from kontor.pages.browser import find_address

ENCRYPT = {"content": base64.b64encode(b"x"), "headers": {"Content-Type": "application/octet-stream+base64"}}
NO_TOKEN = 'Bearer realm="kontor"'
INVALID = 'Bearer realm="kontor", error="invalid_token"'


def test_missing_header_is_401_without_an_error_code(shared):
    answer = shared.http.get(shared.url)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, NO_TOKEN)


@pytest.mark.parametrize("header", ["Basic dTpw", "Digest x", "nonsense", "Token x", "BearerX y", ""])
def test_other_scheme_counts_as_missing(shared, header):
    answer = shared.http.get(shared.url, headers={"Authorization": header})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, NO_TOKEN)


@pytest.mark.parametrize(
    "token",
    ["", "x", "kontor_at_" + "x" * 43, "kontor_at_", "a b c", "%00", "'; drop table tenants; --", "x" * 30_000, "ü"],
)
def test_invalid_token_is_403_with_the_error_code(shared, token):
    headers = [(b"Authorization", f"Bearer {token}".strip().encode())]
    answer = shared.http.get(shared.url, headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (403, INVALID)
    assert answer.json()["code"] == "403"


def test_token_with_one_letter_changed_is_invalid(shared):
    token = shared.client_token()
    for changed in (
        token[:-1],
        token + "A",
        token.swapcase(),
        token[:20] + ("A" if token[20] != "A" else "B") + token[21:],
    ):
        assert shared.http.get(shared.url, headers={"Authorization": f"Bearer {changed}"}).status_code == 403


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_scheme_is_read_in_any_case(shared, scheme):
    answer = shared.http.get(shared.url, headers={"Authorization": f"{scheme} {shared.client_token()}"})
    assert answer.status_code == 200


@pytest.mark.parametrize("name", ["access_token", quote("access_token"), "access%5Ftoken", "%61ccess_token"])
@pytest.mark.parametrize("has_header", [True, False])
def test_token_in_the_query_is_400_and_never_read(shared, name, has_header):
    token = shared.client_token()
    headers = {"Authorization": f"Bearer {token}"} if has_header else {}
    answer = shared.http.get(f"{shared.url}?{name}={token}", headers=headers)
    assert answer.status_code == 400
    assert token not in answer.text


def test_token_in_the_body_is_never_read(shared):
    token = shared.client_token()
    answer = shared.http.post(f"{shared.url}/users", data={"access_token": token})
    assert answer.status_code == 401


def test_two_authorization_headers_are_400(shared):
    header = shared.as_admin["Authorization"]
    answer = shared.http.get(shared.url, headers=[("Authorization", header), ("Authorization", header)])
    assert answer.status_code == 400


def test_token_comes_before_scope_before_object_before_body(shared):
    url = "/auth/mgmt/v1/tenants/nope/users"
    narrow = {"Authorization": f"Bearer {shared.client_token(scope='auth/tenants/read')}"}
    assert shared.http.post(url, content=b"{").status_code == 401
    assert shared.http.post(url, content=b"{", headers={"Authorization": "Bearer x"}).status_code == 403
    assert "insufficient_scope" in shared.http.post(url, content=b"{", headers=narrow).headers["www-authenticate"]
    assert shared.http.post(url, content=b"{", headers=shared.as_admin).status_code == 404


@pytest.mark.parametrize("kind", ["admin", "user"])
def test_encrypt_takes_any_valid_token(shared, kind):
    headers = ENCRYPT["headers"] | (shared.as_admin if kind == "admin" else shared.as_user)
    assert shared.http.put("/encrypt", content=ENCRYPT["content"], headers=headers).status_code == 200
    assert shared.http.put("/encrypt", **ENCRYPT).status_code == 401


def test_encrypt_takes_a_token_without_any_scope(shared, user_client, new_user, password_login):
    person = new_user()
    token = password_login(person.username, person.password, user_client).json()
    assert token["scope"] == ""
    headers = ENCRYPT["headers"] | {"Authorization": f"Bearer {token['access_token']}"}
    assert shared.http.put("/encrypt", content=ENCRYPT["content"], headers=headers).status_code == 200


async def test_client_token_never_acts_as_a_user_even_with_the_scope(shared, start_app, small_operation):
    scope = "http://service/customer/read"

    async def handle(call):
        assert call.principal.is_user
        return empty_answer()

    operation = small_operation(handle, security=Security.USER_TOKEN, scope=scope)
    client = shared.client_token(shared.app, scope)
    narrow = shared.user_token("http://service/provider/read")
    async with start_app(operation) as http:
        for token, status in [(client, 403), (narrow, 403), (shared.user_token(scope), 200)]:
            answer = await http.get("/small", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == status
            if status == 403:
                expected = f'Bearer realm="kontor", error="insufficient_scope", scope="{scope}"'
                assert answer.headers["www-authenticate"] == expected


async def test_revoked_token_is_dead_in_another_process_at_once(shared, start_app, small_operation):
    async def handle(call):
        return empty_answer()

    token = shared.client_token()
    headers = {"Authorization": f"Bearer {token}"}
    async with start_app(small_operation(handle, security=Security.ANY_TOKEN)) as http:
        assert (await http.get("/small", headers=headers)).status_code == 200
        shared.http.post("/auth/oauth2/revoke", data={"token": token}, auth=shared.admin)
        assert (await http.get("/small", headers=headers)).status_code == 403


# The caller's address


class Caller:
    def __init__(self, address, forwarded):
        self.scope = {"client": (address, 1) if address else None}
        self.headers = {"x-forwarded-for": forwarded} if forwarded is not None else {}


@pytest.mark.parametrize(
    ("address", "forwarded", "found"),
    [
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "1.2.3.4", "1.2.3.4"),
        ("10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "1.2.3.4, nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("9.9.9.9", "1.2.3.4", "9.9.9.9"),
        (None, "1.2.3.4", "unknown"),
    ],
)
def test_forwarded_address_is_believed_only_from_a_trusted_proxy(address, forwarded, found):
    assert find_address(Caller(address, forwarded), ("10.0.0.1", "10.0.0.2")) == found


def test_forged_forwarding_does_not_escape_the_slowing_down(new_user, http, shared):
    person = new_user()
    form = {"grant_type": "password", "username": person.username, "password": "wrong"}
    statuses = [
        http.post(
            "/auth/oauth2/token", data=form, auth=shared.app, headers={"X-Forwarded-For": f"1.2.3.{n}"}
        ).status_code
        for n in range(6)
    ]
    assert statuses == [401] * 5 + [429]
