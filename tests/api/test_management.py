"""Management: every row of the interface's table, its scope, and the shapes of tenants, clients and roles."""

from uuid import UUID, uuid4

import pytest

from kontor.domain.scopes import MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.tenants import ClientKind
from kontor.services.identity.tenants import new_role

TENANTS_READ = "auth/tenants/read"
CLIENTS_READ = "auth/tenants/clients/read"
ROLES_ASSIGN = "auth/tenants/clients/roles/assign"
USERS_READ = "auth/tenants/users/read"
USERS_CREATE = "auth/tenants/users/create"

BODY = {"username": "{name}", "password": "a password"}
# method, path below the tenant, scope, body, status when all is well
ENDPOINTS = [
    ("GET", "", TENANTS_READ, None, 200),
    ("GET", "/clients", CLIENTS_READ, None, 200),
    ("GET", "/clients/app", CLIENTS_READ, None, 200),
    ("GET", "/clients/app/roles", CLIENTS_READ, None, 200),
    ("GET", "/clients/app/roles/customer", CLIENTS_READ, None, 200),
    ("GET", "/clients/app/roles/customer/users", CLIENTS_READ, None, 200),
    ("POST", "/clients/app/roles/customer/users", ROLES_ASSIGN, "{user}", 201),
    ("GET", "/clients/app/roles/customer/users/{user}", CLIENTS_READ, None, 200),
    ("GET", "/users", USERS_READ, None, 200),
    ("GET", "/users/{user}", USERS_READ, None, 200),
    ("POST", "/users", USERS_CREATE, BODY, 201),
    ("PUT", "/users/{user}", USERS_CREATE, {"username": "{name}"}, 200),
    ("PUT", "/users/{user}/deactivate", USERS_CREATE, None, 200),
    ("POST", "/users/{inactive}/reactivate", USERS_CREATE, {**BODY, "username": "{inactive name}"}, 200),
    ("DELETE", "/users/{inactive}", USERS_CREATE, None, 200),
]
IDS = [f"{method} {path or '/'}" for method, path, *_ in ENDPOINTS]
each_endpoint = pytest.mark.parametrize(("method", "path", "scope", "body", "status"), ENDPOINTS, ids=IDS)


@pytest.fixture
def call(shared, new_user):
    """Call an endpoint with a user of its own, and a deactivated one where the path asks for it."""
    people = {}

    def find(kind):
        if kind not in people:
            people[kind] = new_user()
            if kind == "inactive":
                shared.http.put(f"{people[kind].url}/deactivate", headers=shared.as_admin).raise_for_status()
        return people[kind]

    def fill(text):
        for name, make in {
            "{user}": lambda: find("user").reference,
            "{inactive}": lambda: find("inactive").reference,
            "{inactive name}": lambda: find("inactive").username,
            "{name}": lambda: f"user-{uuid4().hex[:12]}",
        }.items():
            if name in text:
                text = text.replace(name, make())
        return text

    def do(method, path, body=None, headers=None, base=None):
        filled = {key: fill(value) for key, value in body.items()} if isinstance(body, dict) else body and fill(body)
        arguments = {} if body is None else {"json": filled}
        return shared.http.request(method, (base or shared.url) + fill(path), headers=headers, **arguments)

    return do


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def without_id(answer):
    return {name: value for name, value in answer.json().items() if name != "correlationId"}


# Scopes and tokens, for every endpoint


@each_endpoint
def test_endpoint_works_with_its_scope_alone(shared, call, method, path, scope, body, status):
    answer = call(method, path, body, bearer(shared.client_token(scope=scope)))
    assert answer.status_code == status, answer.text


@each_endpoint
def test_endpoint_without_its_scope_is_403_and_names_it(shared, call, method, path, scope, body, status):
    others = " ".join(other for other in MANAGEMENT_SCOPES if other != scope)
    answer = call(method, path, body, bearer(shared.client_token(scope=others)))
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert f'scope="{scope}"' in answer.headers["www-authenticate"]
    assert answer.json()["code"] == "403"


@each_endpoint
def test_endpoint_without_a_token_is_401(call, method, path, scope, body, status):
    answer = call(method, path, body)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="kontor"'


@pytest.fixture(scope="session")
async def managing_user(shared, standing_services):
    """The token of a user whose role has every management scope."""
    administration = standing_services.tenant_administration
    _, secret = await administration.create_client(shared.name, "managing", ClientKind.USER, MANAGEMENT_SCOPES)
    await administration.create_role(shared.name, "managing", new_role("all", MANAGEMENT_SCOPES, is_default=False))
    users = f"{shared.url}/clients/managing/roles/all/users"
    shared.http.post(users, json=shared.user_reference, headers=shared.as_admin).raise_for_status()
    form = {"grant_type": "password", "username": shared.username, "password": shared.password}
    return shared.http.post("/auth/oauth2/token", data=form, auth=(f"{shared.name}/managing", secret)).json()


@each_endpoint
def test_user_token_never_manages_even_with_the_scope(call, managing_user, method, path, scope, body, status):
    assert scope in managing_user["scope"].split()
    answer = call(method, path, body, bearer(managing_user["access_token"]))
    assert answer.status_code == 403
    assert "insufficient_scope" in answer.headers["www-authenticate"]


@each_endpoint
def test_foreign_tenant_answers_as_an_unknown_one(shared, neighbour, call, method, path, scope, body, status):
    foreign = call(method, path, body, shared.as_admin, neighbour.url)
    unknown = call(method, path, body, shared.as_admin, "/auth/mgmt/v1/tenants/no-such-tenant")
    assert foreign.status_code == unknown.status_code == 404
    assert without_id(foreign) == without_id(unknown)
    # Whether the connection stays open depends on how much of the body had arrived, not on the tenant.
    assert foreign.headers.keys() - {"connection"} == unknown.headers.keys() - {"connection"}


@pytest.mark.parametrize(
    ("method", "path"), [(method, path) for method, path, *_ in ENDPOINTS if "{user}" in path or "{inactive}" in path]
)
def test_foreign_user_answers_as_an_unknown_one(shared, neighbour, call, method, path):
    body = {"username": "anna", "password": "annas password"}
    path = path.replace("{inactive}", "{user}")
    foreign = call(method, path.replace("{user}", neighbour.user_reference), body, shared.as_admin)
    unknown = call(method, path.replace("{user}", str(uuid4())), body, shared.as_admin)
    malformed = call(method, path.replace("{user}", "no-uuid"), body, shared.as_admin)
    assert foreign.status_code == unknown.status_code == malformed.status_code == 404
    assert without_id(foreign) == without_id(unknown) == without_id(malformed)
    assert neighbour.http.get(
        f"{neighbour.url}/users/{neighbour.user_reference}", headers=neighbour.as_admin
    ).is_success


@pytest.mark.parametrize("path", ["/clients/nope", "/clients/nope/roles", "/clients/app/roles/nope"])
def test_unknown_client_or_role_is_404(shared, path):
    answer = shared.http.get(shared.url + path, headers=shared.as_admin)
    assert (answer.status_code, answer.json()["message"]) == (404, "There is no such object.")


def test_object_is_looked_for_before_the_body_is_read(shared):
    wrong = {"content": b"not json", "headers": shared.as_admin | {"content-type": "text/plain"}}
    users = f"{shared.url}/users"
    for method, url in [
        ("POST", "/auth/mgmt/v1/tenants/nope/users"),
        ("POST", f"{shared.url}/clients/app/roles/nope/users"),
        ("PUT", f"{users}/{uuid4()}"),
        ("POST", f"{users}/{uuid4()}/reactivate"),
    ]:
        assert shared.http.request(method, url, **wrong).status_code == 404


@each_endpoint
def test_trailing_slash_makes_no_difference(shared, call, method, path, scope, body, status):
    assert call(method, f"{path}/", body, shared.as_admin).status_code == status


# Tenant, client, role: their fields


def test_list_of_tenants_is_the_own_one(shared):
    answer = shared.http.get("/auth/mgmt/v1/tenants", headers=bearer(shared.client_token(scope=TENANTS_READ)))
    assert answer.status_code == 200
    assert answer.json() == [{"name": shared.name}]
    others = " ".join(scope for scope in MANAGEMENT_SCOPES if scope != TENANTS_READ)
    refused = shared.http.get("/auth/mgmt/v1/tenants", headers=bearer(shared.client_token(scope=others)))
    assert refused.status_code == 403
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]


async def test_tenant_has_its_description_only_when_there_is_one(tenant, services):
    assert tenant.http.get(tenant.url, headers=tenant.as_admin).json() == {"name": tenant.name}
    await services.tenant_administration.change_tenant(tenant.name, description="A bank in Köln")
    expected = {"name": tenant.name, "description": "A bank in Köln"}
    assert tenant.http.get(tenant.url, headers=tenant.as_admin).json() == expected
    assert tenant.http.get("/auth/mgmt/v1/tenants", headers=tenant.as_admin).json() == [expected]


async def test_client_shows_its_optional_fields_only_when_there_is_something(shared, new_client):
    full = await new_client(ClientKind.USER, USER_SCOPES, "The app")
    bare = await new_client(ClientKind.ADMIN, ())
    listed = {
        client["name"]: client for client in shared.http.get(f"{shared.url}/clients", headers=shared.as_admin).json()
    }
    for (username, _), more in [
        (full, {"description": "The app", "grantedScopes": list(USER_SCOPES)}),
        (bare, {}),
    ]:
        name = username.partition("/")[2]
        expected = {"name": name, "username": f"{shared.name}/{name}", **more}
        assert shared.http.get(f"{shared.url}/clients/{name}", headers=shared.as_admin).json() == expected
        assert listed[name] == expected
    assert {"admin", "app"} <= listed.keys()


async def test_role_shows_its_optional_fields_only_when_there_is_something(shared, standing_services, user_client):
    client = user_client[0].partition("/")[2]
    roles = [
        (new_role("full", USER_SCOPES[:2], is_default=True, description="Everything"),
         {"defaultRole": True, "description": "Everything", "grantedScopes": list(USER_SCOPES[:2])}),
        (new_role("bare", (), is_default=False), {"defaultRole": False}),
    ]  # fmt: skip
    url = f"{shared.url}/clients/{client}/roles"
    for role, facts in roles:
        await standing_services.tenant_administration.create_role(shared.name, client, role)
        expected = {"name": role.name, **facts}
        assert shared.http.get(f"{url}/{role.name}", headers=shared.as_admin).json() == expected
        assert expected in shared.http.get(url, headers=shared.as_admin).json()
    await standing_services.tenant_administration.delete_role(shared.name, client, "full")
    assert shared.http.get(f"{url}/full", headers=shared.as_admin).status_code == 404


# Users of a role


def test_role_user_is_an_object_with_only_the_reference(shared, new_user):
    person = new_user()
    url = f"{shared.url}/clients/app/roles/customer/users"
    assert shared.http.get(f"{url}/{person.reference}", headers=shared.as_admin).json() == {
        "userReference": person.reference
    }
    assert {"userReference": person.reference} in shared.http.get(url, headers=shared.as_admin).json()


@pytest.mark.parametrize("shape", ["string", "object"])
def test_assigning_a_role_answers_201_with_the_role_users_address(shared, server, user_client, new_user, shape):
    person = new_user()
    path = f"{shared.url}/clients/{user_client[0].partition('/')[2]}/roles/all/users"
    before = shared.http.get(f"{path}/{person.reference}", headers=shared.as_admin)
    body = person.reference if shape == "string" else {"userReference": person.reference}
    answer = shared.http.post(path, json=body, headers=shared.as_admin)
    assert (before.status_code, answer.status_code) == (404, 201)
    assert answer.headers["location"] == f"{server}{path}/{person.reference}"
    assert (answer.content, answer.headers.get("content-type")) == (b"", None)
    assert shared.http.get(answer.headers["location"], headers=shared.as_admin).status_code == 200


NOBODY = ['"not-a-uuid"', '""', f'"{UUID(int=1)}"', "17", "null", "[]", "{}", '{"userReference": 3}']


@pytest.mark.parametrize("body", NOBODY)
def test_assigning_a_role_to_nobody_is_400(shared, body):
    url = f"{shared.url}/clients/app/roles/customer/users"
    headers = shared.as_admin | {"content-type": "application/json"}
    assert shared.http.post(url, content=body, headers=headers).status_code == 400


def test_assigning_a_role_to_a_foreign_user_answers_as_to_an_unknown_one(shared, neighbour):
    url = f"{shared.url}/clients/app/roles/customer/users"
    foreign = shared.http.post(url, json=neighbour.user_reference, headers=shared.as_admin)
    unknown = shared.http.post(url, json=str(uuid4()), headers=shared.as_admin)
    assert foreign.status_code == 400
    assert without_id(foreign) == without_id(unknown)


def test_deactivated_user_leaves_the_roles_users(shared, new_user):
    person = new_user()
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    url = f"{shared.url}/clients/app/roles/customer/users"
    assert {"userReference": person.reference} not in shared.http.get(url, headers=shared.as_admin).json()
    assert shared.http.get(f"{url}/{person.reference}", headers=shared.as_admin).status_code == 404
    assert shared.http.post(url, json=person.reference, headers=shared.as_admin).status_code == 400
