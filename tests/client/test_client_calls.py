"""The low level against the real service: logins, answers, errors, addresses, and what is never shown."""

import traceback
from uuid import uuid4

import httpx
import pytest

from banking import ACCESSES, login
from kontor_client import ApiError, AsyncKontor, ForeignAddressError, Kontor, KontorClientError
from kontor_client.plans import Call


def password_of(customer) -> str:
    return f"password of {customer.username}"


async def test_an_answer_has_status_headers_of_any_case_and_json(server, shared):
    async with AsyncKontor(server, shared.user_token()) as client:
        answer = await client.request("get", "/customer/v2")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == answer.headers["content-type"] == "application/json"
    assert answer.json()["relations"][0]["rel"] == "self"
    assert answer.next_url is None


async def test_an_empty_answer_is_none(own):
    assert (await own.request("DELETE", ACCESSES)).json() is None


async def test_a_refusal_is_an_api_error_that_can_be_read(own):
    with pytest.raises(ApiError) as caught:
        await own.request("GET", f"{ACCESSES}/nowhere", headers={"X-Correlation-ID": "my-own-id"})
    error = caught.value
    assert (error.status, error.messages, error.correlation_id) == (404, [], "my-own-id")
    assert str(error) == "404: There is no such object. (correlation id my-own-id)"


async def test_codes_for_the_user_are_in_the_error(own):
    with pytest.raises(ApiError) as caught:
        await own.request(
            "POST",
            "/customer/v2/payment/single-transfer",
            params={"callbackUrl": "https://example.com/back"},
            json={"instant": False},
            headers={"Customer-IP-Address": "8.8.8.8"},
        )
    assert caught.value.codes == ["BA1100"]
    assert "[BA1100]" in str(caught.value)


async def test_an_href_of_the_service_can_be_called(reading, own):
    with Kontor(own.base_url, reading.session.token) as client:
        href = client.read_customer().href("self")
        assert client.request("GET", href).status == 200


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/customer/v2", "//evil.example/x", "http://127.0.0.1:1/customer/v2", "customer/v2", ""],
)
async def test_an_address_elsewhere_never_gets_the_token(server, address):
    def refuse(request):
        raise AssertionError(f"called {request.url}")

    async with AsyncKontor(server, "a token", transport=httpx.MockTransport(refuse)) as client:
        with pytest.raises(ForeignAddressError):
            await client.request("GET", address)


@pytest.mark.parametrize("address", ["@evil.example/x", "/\\evil.example", "/@evil.example"])
async def test_a_disguised_address_stays_with_the_service(server, address):
    hosts = []

    def note(request):
        hosts.append((request.url.host, request.url.port))
        return httpx.Response(200)

    async with AsyncKontor(server, "a token", transport=httpx.MockTransport(note)) as client:
        try:
            await client.request("GET", address)
        except KontorClientError:
            return
    assert hosts == [(httpx.URL(server).host, httpx.URL(server).port)]


async def test_redirects_are_not_followed():
    def answer(request):
        return httpx.Response(302, headers={"Location": "https://evil.example/"})

    async with AsyncKontor("https://kontor.example", "t", transport=httpx.MockTransport(answer)) as client:
        assert (await client.request("GET", "/customer/v2")).status == 302


async def test_451_is_an_answer(server, redirect_tenant):
    async with await AsyncKontor.login(server, *redirect_tenant.app, "anna", "annas password") as client:
        answer = await client.request("POST", ACCESSES, json={str(uuid4()): {}})
    assert answer.status == 451
    assert answer.headers["location"].startswith(f"{server}/customer/v2/webform?")


async def test_parameters_are_written_as_the_interface_wants_them():
    seen = []

    def note(request):
        seen.append(str(request.url))
        return httpx.Response(200)

    async with AsyncKontor("https://kontor.example/base/", transport=httpx.MockTransport(note)) as client:
        await client.request("GET", "/a?x=1", params={"flag": True, "off": False, "none": None, "many": ["b", "c"]})
    assert seen == ["https://kontor.example/base/a?x=1&flag=true&off=false&many=b&many=c"]


# Logins


async def test_a_user_logs_in(server, shared, new_user):
    async with await AsyncKontor.login(server, *shared.app, new_user.username, password_of(new_user)) as client:
        assert await client.list_accesses() == {}


def test_a_client_logs_in_and_creates_a_user(administrating, shared):
    name = f"made-{uuid4().hex[:8]}"
    made = administrating.create_user(shared.name, name, "a password")
    assert made.username == name
    assert made in administrating.list_users(shared.name)


async def test_an_api_key_logs_in(server, shared, new_user, standing_services):
    key = await standing_services.tokens.create_api_key(shared.name, "app", new_user.username, None)
    async with await AsyncKontor.login_with_key(server, key.reveal()) as client:
        assert await client.list_accesses() == {}


def test_a_wrong_password_is_an_api_error(server, shared, new_user):
    with pytest.raises(ApiError) as caught:
        Kontor.login(server, *shared.app, new_user.username, "wrong")
    assert caught.value.status == 401
    assert str(caught.value).startswith("401: invalid_grant: ")


def test_a_token_that_was_revoked_is_renewed(server, shared, new_user):
    with Kontor.login(server, *shared.app, new_user.username, password_of(new_user)) as client:
        before = client.session.token
        shared.http.post("/auth/oauth2/revoke", data={"token": before}, auth=shared.app)
        assert client.list_accesses() == {}
        assert client.session.token != before


def test_a_token_is_renewed_before_it_runs_out(server, shared, new_user):
    with Kontor.login(server, *shared.app, new_user.username, password_of(new_user)) as client:
        before = client.session.token
        client.session.renew_at = 0.0
        client.list_accesses()
        assert client.session.token != before


def test_without_credentials_a_token_is_not_renewed(server, shared, new_user):
    token = login(shared, new_user.username, password_of(new_user))
    shared.http.post("/auth/oauth2/revoke", data={"token": token}, auth=shared.app)
    with Kontor(server, token) as client, pytest.raises(ApiError) as caught:
        client.list_accesses()
    assert caught.value.status == 403


def test_a_missing_scope_is_not_answered_with_another_login(server, shared, new_user):
    scope = "http://service/provider/read"
    with Kontor.login(server, *shared.app, new_user.username, password_of(new_user), scope=scope) as client:
        before = client.session.token
        with pytest.raises(ApiError) as caught:
            client.list_accesses()
        assert (caught.value.status, client.session.token) == (403, before)


# What is never shown


async def test_neither_token_nor_password_is_ever_shown(server, shared, new_user):
    password = password_of(new_user)
    client = await AsyncKontor.login(server, *shared.app, new_user.username, password)
    call = Call("POST", "/x", {"a": password}, {"b": password}, password.encode(), {"c": password})
    shown = [repr(client), str(client), repr(client.session), repr(client.session.login), repr(call), f"{client}"]
    async with client:
        try:
            await client.request("GET", f"{ACCESSES}/nowhere")
        except ApiError as error:
            shown += [str(error), repr(error), "".join(traceback.format_exception(error))]
    try:
        await AsyncKontor("http://127.0.0.1:9", client.session.token, retries=0).list_accesses()
    except KontorClientError as error:
        shown += [str(error), repr(error), "".join(traceback.format_exception(error))]
    assert len(shown) == 12
    secrets = (client.session.token, password, shared.app[1])
    assert [text for text in shown for secret in secrets if secret in text] == []


async def test_health_needs_no_token(server):
    async with AsyncKontor(server) as client:
        assert (await client.read_health()).status == "ready"
