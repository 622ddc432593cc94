"""The endpoint `/mcp`: who may call, what is refused, and what that looks like on the wire."""

from typing import Any

import httpx
import pytest

from banking import BankCustomer, narrow
from kontor.domain.scopes import CUSTOMER_MODIFY
from tenants import TenantUnderTest

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def post(http: httpx.Client, headers: dict[str, str], body: Any = LIST) -> httpx.Response:
    return http.post("/mcp", json=body, headers=ACCEPT | headers)


def test_metadata_of_the_resource_lead_to_the_token_endpoint(http: httpx.Client, server: str) -> None:
    """RFC 9728, 3.1: also where the path of the resource is inserted."""
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        found = http.get(path).json()
        assert found["resource"] == f"{server}/mcp"
        assert found["scopes_supported"] == ["http://service/customer/read", "http://service/customer/tags"]
        [authority] = found["authorization_servers"]
        assert http.get(f"{authority}/.well-known/oauth-authorization-server").json()["issuer"] == authority


def test_without_a_token_the_answer_says_where_to_get_one(http: httpx.Client, server: str) -> None:
    answer = post(http, {})
    assert answer.status_code == 401
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert f'resource_metadata="{server}/.well-known/oauth-protected-resource/mcp"' in challenge
    assert "error=" not in challenge
    assert answer.headers["cache-control"] == "no-store"


def test_an_invalid_token_is_401_so_that_clients_renew_it(http: httpx.Client) -> None:
    answer = post(http, {"Authorization": "Bearer kontor_at_unknown"})
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_a_revoked_token_is_refused_with_the_next_request(customer: BankCustomer, shared: TenantUnderTest) -> None:
    assert post(customer.http, customer.headers).status_code == 200
    customer.http.post("/auth/oauth2/revoke", data={"token": customer.token}, auth=shared.app)
    assert post(customer.http, customer.headers).status_code == 401


def test_a_token_that_may_not_read_is_403(customer: BankCustomer) -> None:
    answer = post(customer.http, narrow(customer, CUSTOMER_MODIFY).headers)
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


def test_a_clients_token_is_403(http: httpx.Client, shared: TenantUnderTest) -> None:
    assert post(http, shared.as_admin).status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:1", "null"])
def test_pages_of_other_sites_are_refused(customer: BankCustomer, origin: str) -> None:
    """Also when their name has been pointed to this machine (DNS rebinding): the browser sends their origin."""
    assert post(customer.http, customer.headers | {"Origin": origin}).status_code == 403


def test_the_own_origin_is_served(customer: BankCustomer, server: str) -> None:
    assert post(customer.http, customer.headers | {"Origin": server}).status_code == 200


def test_a_large_body_is_413(customer: BankCustomer) -> None:
    assert post(customer.http, customer.headers, LIST | {"params": {"x": "y" * 70_000}}).status_code == 413


def test_another_type_is_415(customer: BankCustomer) -> None:
    headers = customer.headers | ACCEPT | {"Content-Type": "text/plain"}
    assert customer.http.post("/mcp", content=b"{}", headers=headers).status_code == 415


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_stream_and_no_session(customer: BankCustomer, method: str) -> None:
    answer = customer.http.request(method, "/mcp", headers=customer.headers | {"Accept": "text/event-stream"})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "body", [[], [LIST], "x", {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": 1, "method": "no/such"}]
)
def test_what_is_no_call_is_an_error_of_json_rpc(customer: BankCustomer, body: Any) -> None:
    answer = post(customer.http, customer.headers, body)
    assert answer.status_code in (200, 400, 404)
    assert "error" in answer.json()
    assert "Traceback" not in answer.text


def test_an_answer_is_plain_json_that_nobody_keeps(customer: BankCustomer) -> None:
    answer = post(customer.http, customer.headers)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert "mcp-session-id" not in answer.headers
    assert answer.json()["result"]["tools"]
