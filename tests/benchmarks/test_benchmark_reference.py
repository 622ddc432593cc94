"""The implementations that Kontor is measured against answer as Kontor does; else the comparison would mean nothing."""

import json
from uuid import uuid4

import pytest
from benchmarks.endpoints import Request
from benchmarks.servers import CONVENTIONAL, LIMIT, ServerProcess

from kontor.domain.scopes import TENANTS_READ
from kontor.domain.secrets import Secret
from kontor.services.identity.users import NewUser
from plain_http import plain_client

pytestmark = pytest.mark.bench

COMPARED_HEADERS = ("content-type", "content-length", "www-authenticate", "x-correlation-id")


@pytest.fixture(scope="module")
def reference(settings, data_dir):
    with ServerProcess(CONVENTIONAL, settings, "single-read", data_dir / "conventional.log", set()) as server:
        yield server


@pytest.fixture(scope="module")
def limit(settings, data_dir):
    with ServerProcess(LIMIT, settings, "single-read", data_dir / "limit.log", set()) as server:
        yield server


@pytest.fixture
def compare(reference, tenant):
    """Sends one request to both, and wants the same status, the same bytes and the same headers."""
    reference.wait_for(Request(path_of(tenant), tenant.client_token()))
    client = plain_client(base_url=f"http://127.0.0.1:{reference.port}", timeout=30)

    def send(path, status, headers):
        headers = {"X-Correlation-Id": f"test-{uuid4()}", **headers}
        ours = tenant.http.get(path, headers=headers)
        theirs = client.get(path, headers=headers)
        assert ours.status_code == status, ours.text
        assert theirs.status_code == status, theirs.text
        assert theirs.content == ours.content
        for name in COMPARED_HEADERS:
            assert theirs.headers.get(name) == ours.headers.get(name), name
        return ours

    with client:
        yield send


def path_of(tenant, reference=None):
    return f"{tenant.url}/users/{reference or tenant.user_reference}"


def test_a_user_is_read(compare, tenant):
    answer = compare(path_of(tenant), 200, tenant.as_admin)
    assert answer.json() == {"userReference": tenant.user_reference, "username": "anna"}


async def test_a_name_beyond_ascii_is_read(compare, tenant, services):
    new = NewUser('jörg "ß" 漢字 😀 \\ </script>', Secret("a password"))
    user = await services.users.create_user_by_operator(tenant.name, new)
    assert compare(path_of(tenant, user.id), 200, tenant.as_admin).json()["username"] == new.username


def test_a_reference_in_capitals_is_read(compare, tenant):
    compare(path_of(tenant, tenant.user_reference.upper()), 200, tenant.as_admin)


@pytest.mark.parametrize("header", [None, "Basic YTpi", "kontor", ""])
def test_without_a_bearer_token_it_is_401(compare, tenant, header):
    compare(path_of(tenant), 401, {} if header is None else {"Authorization": header})


def test_an_unknown_token_is_403(compare, tenant):
    compare(path_of(tenant), 403, {"Authorization": "Bearer kontor_at_unknown"})


def test_an_expired_token_is_403(compare, tenant, owner):
    token = tenant.client_token()
    owner.execute("update access_tokens set expires_at = now() where hash = sha256(%s)", [token.encode()])
    compare(path_of(tenant), 403, {"Authorization": f"Bearer {token}"})


def test_a_token_without_the_scope_is_403(compare, tenant):
    compare(path_of(tenant), 403, {"Authorization": f"Bearer {tenant.client_token(scope=TENANTS_READ)}"})


def test_a_users_token_is_403(compare, tenant):
    compare(path_of(tenant), 403, tenant.as_user)


def test_a_deactivated_users_token_is_403(compare, tenant, owner):
    headers = tenant.as_user
    owner.execute("update users set is_active = false where id = %s", [tenant.user_reference])
    compare(path_of(tenant), 403, headers)


def test_a_wrong_path_with_a_wrong_token_is_403(compare, tenant):
    compare(path_of(tenant, "nobody"), 403, {"Authorization": "Bearer kontor_at_unknown"})


@pytest.mark.parametrize("user", ["nobody", "00000000-0000-0000-0000-000000000000"])
def test_an_unknown_user_is_404(compare, tenant, user):
    compare(path_of(tenant, user), 404, tenant.as_admin)


def test_another_tenants_user_is_404(compare, tenant, other_tenant):
    compare(path_of(other_tenant), 404, tenant.as_admin)
    compare(path_of(tenant, other_tenant.user_reference), 404, tenant.as_admin)


def test_an_unknown_tenant_is_404(compare, tenant):
    path = path_of(tenant).replace(tenant.name, "nobody")
    compare(path, 404, tenant.as_admin)


def test_a_deactivated_user_is_404(compare, tenant, owner):
    owner.execute("update users set is_active = false where id = %s", [tenant.user_reference])
    compare(path_of(tenant), 404, tenant.as_admin)


def test_without_a_correlation_id_a_new_one_is_made(compare, reference, tenant):
    with plain_client(base_url=f"http://127.0.0.1:{reference.port}") as client:
        answer = client.get(path_of(tenant))
    assert answer.json()["correlationId"] == answer.headers["x-correlation-id"]


def test_the_limit_reads_the_same_object(limit, tenant):
    token = tenant.client_token()
    body = limit.wait_for(Request(path_of(tenant), token))
    ours = tenant.http.get(path_of(tenant), headers={"Authorization": f"Bearer {token}"})
    assert json.loads(body) == ours.json()
