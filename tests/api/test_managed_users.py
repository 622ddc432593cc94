"""The life of a user in the management: created, listed, deactivated, reactivated, renamed, erased."""

from uuid import UUID, uuid4

import pytest

from kontor.domain.scopes import MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.tenants import ClientKind
from kontor.services.identity.tenants import new_role


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


# Creating users


def test_created_user_is_at_its_location_with_exactly_two_fields(shared, server, new_user):
    person = new_user(firstname="Änne", lastname="Groß")
    assert person.location == f"{server}{person.url}"
    UUID(person.reference)
    answer = shared.http.get(person.location, headers=shared.as_admin)
    assert answer.json() == {"userReference": person.reference, "username": person.username}
    assert answer.json() in shared.http.get(f"{shared.url}/users", headers=shared.as_admin).json()


def test_creating_a_user_answers_201_without_a_body(shared):
    body = {"username": uuid4().hex, "password": "x"}
    answer = shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin)
    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (201, b"", "0")
    assert "content-type" not in answer.headers


def test_location_starts_with_the_configured_address_whatever_the_host_header_says(shared, server):
    body = {"username": uuid4().hex, "password": "x"}
    forged = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    answer = shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin | forged)
    assert answer.headers["location"].startswith(f"{server}/auth/mgmt/v1/tenants/{shared.name}/users/")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"password": "x"}, "username"),
        ({"username": "x"}, "password"),
        ({"username": 1, "password": "x"}, "username"),
        ({"username": "x", "password": ["x"]}, "password"),
        ({"username": None, "password": "x"}, "username"),
        ({"username": "", "password": "x"}, "username"),
        ({"username": " x", "password": "x"}, "username"),
        ({"username": "x\n", "password": "x"}, "username"),
        ({"username": "x" * 256, "password": "x"}, "username"),
        ({"username": "x", "password": ""}, "password"),
        ({"username": "x", "password": "x" * 1025}, "password"),
        ({"username": "x", "password": "x\x00"}, "password"),
        ({"username": "x", "password": "x", "firstname": 1}, "firstname"),
        ({"username": "x", "password": "x", "lastname": {}}, "lastname"),
        ({"username": "x", "password": "x", "lastname": "x\x00"}, "lastname"),
        ({"username": "x", "password": "x", "firstname": "x" * 256}, "firstname"),
        ([], "body"),
        ("x", "body"),
    ],
)
def test_wrong_user_is_400_with_the_path_of_the_field(shared, body, field):
    answer = shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(f"{field}: ")


def test_unknown_fields_of_a_user_are_ignored(new_user):
    assert new_user(email="anna@example.com", nested="x")


@pytest.mark.parametrize("length", [1, 1024])
def test_passwords_of_1_to_1024_characters_work(shared, password_login, length):
    name, password = uuid4().hex, "ü" * length
    body = {"username": name, "password": password}
    assert shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin).status_code == 201
    assert password_login(name, password).status_code == 200


async def test_tenant_can_set_a_longer_minimum_for_passwords(tenant, services):
    await services.tenant_administration.change_tenant(tenant.name, min_password_length=12)
    users = f"{tenant.url}/users"
    short, long = ({"username": uuid4().hex, "password": "x" * length} for length in (11, 12))
    refused = tenant.http.post(users, json=short, headers=tenant.as_admin)
    assert (refused.status_code, refused.json()["message"][:9]) == (400, "password:")
    assert tenant.http.post(users, json=long, headers=tenant.as_admin).status_code == 201


def test_taken_username_is_409_also_when_its_user_is_deactivated(shared, new_user):
    person = new_user()
    body = {"username": person.username, "password": "x"}
    for _ in range(2):
        answer = shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin)
        assert (answer.status_code, answer.json()["code"]) == (409, "409")
        shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()


def test_another_tenant_may_have_the_same_username(shared, neighbour, new_user):
    body = {"username": new_user().username, "password": "x"}
    assert neighbour.http.post(f"{neighbour.url}/users", json=body, headers=neighbour.as_admin).status_code == 201


def _roles_of(shared, person):
    clients = [client["name"] for client in shared.http.get(f"{shared.url}/clients", headers=shared.as_admin).json()]
    found = set()
    for client in clients:
        url = f"{shared.url}/clients/{client}/roles"
        for role in shared.http.get(url, headers=shared.as_admin).json():
            users = shared.http.get(f"{url}/{role['name']}/users", headers=shared.as_admin).json()
            if {"userReference": person.reference} in users:
                found.add((client, role["name"]))
    return found


async def test_default_roles_follow_the_client_that_creates_the_user(shared, standing_services, new_client, new_user):
    administration = standing_services.tenant_administration
    maker = await new_client(ClientKind.USER, USER_SCOPES + MANAGEMENT_SCOPES)
    client = maker[0].partition("/")[2]
    for name, is_default in (("first", True), ("second", True), ("other", False)):
        await administration.create_role(shared.name, client, new_role(name, USER_SCOPES, is_default=is_default))
    admin = await new_client(ClientKind.ADMIN, MANAGEMENT_SCOPES + USER_SCOPES)
    role = new_role("never", USER_SCOPES, is_default=True)
    await administration.create_role(shared.name, admin[0].partition("/")[2], role)

    through_admin = new_user(headers=bearer(shared.client_token(admin)))
    through_client = new_user(headers=bearer(shared.client_token(maker)))
    own = {(client, "first"), (client, "second")}
    await administration.delete_client(shared.name, admin[0].partition("/")[2])
    assert _roles_of(shared, through_client) == own
    assert _roles_of(shared, through_admin) == own | {("app", "customer")}
    await administration.delete_client(shared.name, client)


# Listing


def test_list_leaves_out_deactivated_users_unless_asked(shared, new_user):
    person = new_user()
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    shown = {"userReference": person.reference, "username": person.username}
    for query, is_listed in [("", False), ("?includeInactive=false", False), ("?includeInactive=true", True)]:
        listed = shared.http.get(f"{shared.url}/users{query}", headers=shared.as_admin).json()
        assert (shown in listed) is is_listed
    assert shared.http.get(person.url, headers=shared.as_admin).status_code == 404


@pytest.mark.parametrize(
    "query", ["includeInactive=maybe", "includeInactive=", "includeInactive=true&includeInactive=true"]
)
def test_unusable_include_inactive_is_400_and_names_it(shared, query):
    answer = shared.http.get(f"{shared.url}/users?{query}", headers=shared.as_admin)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("includeInactive: ")


# Deactivate, reactivate


def test_deactivating_answers_200_without_a_body_and_may_be_repeated(shared, new_user):
    person = new_user()
    for _ in range(2):
        answer = shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin)
        assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(("action", "allowed"), [("deactivate", "PUT"), ("reactivate", "POST")])
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PATCH"])
def test_no_other_method_changes_state(shared, new_user, password_login, action, allowed, method):
    person = new_user()
    answer = shared.http.request(method, f"{person.url}/{action}", headers=shared.as_admin)
    assert answer.status_code == 405
    assert allowed in answer.headers["allow"].split(", ")
    assert password_login(person.username, person.password).status_code == 200


def test_reactivated_user_has_the_new_password_and_no_old_token(shared, new_user, password_login):
    person = new_user()
    old = password_login(person.username, person.password).json()["access_token"]
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    assert password_login(person.username, person.password).status_code == 401
    body = {"username": person.username, "password": "quite another", "firstname": "Anna", "lastname": "Blume"}
    answer = shared.http.post(f"{person.url}/reactivate", json=body, headers=shared.as_admin)
    assert (answer.status_code, answer.content) == (200, b"")
    assert shared.http.get(person.url, headers=shared.as_admin).json()["username"] == person.username
    assert password_login(person.username, person.password).status_code == 401
    assert password_login(person.username, "quite another").status_code == 200
    encrypting = {"Authorization": f"Bearer {old}", "Content-Type": "application/octet-stream+base64"}
    assert shared.http.put("/encrypt", content=b"eA==", headers=encrypting).status_code == 403


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"username": "somebody else"}, "username"),
        ({"username": None}, "username"),
        ({"password": None}, "password"),
        ({"password": ""}, "password"),
        ({"firstname": 3}, "firstname"),
    ],
)
def test_reactivating_with_a_wrong_body_is_400_and_changes_nothing(shared, new_user, change, field):
    person = new_user()
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    body = {"username": person.username, "password": "x"} | change
    body = {name: value for name, value in body.items() if value is not None}
    answer = shared.http.post(f"{person.url}/reactivate", json=body, headers=shared.as_admin)
    assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (400, field)
    assert shared.http.get(person.url, headers=shared.as_admin).status_code == 404


def test_reactivating_an_active_user_is_409_and_keeps_the_password(shared, new_user, password_login):
    person = new_user()
    body = {"username": person.username, "password": "taken over"}
    assert shared.http.post(f"{person.url}/reactivate", json=body, headers=shared.as_admin).status_code == 409
    assert password_login(person.username, person.password).status_code == 200


# Rename, erase


def test_renamed_user_logs_in_under_the_new_name_only(shared, new_user, password_login):
    person, name = new_user(), uuid4().hex
    answer = shared.http.put(person.url, json={"username": name, "firstname": "A"}, headers=shared.as_admin)
    assert (answer.status_code, answer.content) == (200, b"")
    assert shared.http.get(person.url, headers=shared.as_admin).json()["username"] == name
    assert password_login(name, person.password).status_code == 200
    assert password_login(person.username, person.password).status_code == 401


def test_renaming_to_a_taken_name_is_409_and_to_the_own_one_200(shared, new_user):
    person, other = new_user(), new_user()
    clash = shared.http.put(person.url, json={"username": other.username}, headers=shared.as_admin)
    same = shared.http.put(person.url, json={"username": person.username}, headers=shared.as_admin)
    assert (clash.status_code, same.status_code) == (409, 200)
    assert shared.http.get(person.url, headers=shared.as_admin).json()["username"] == person.username


@pytest.mark.parametrize(
    "body", [{}, {"username": ""}, {"username": "a\x00b"}, {"username": 5}, {"username": "x" * 256}]
)
def test_renaming_to_something_unusable_is_400(shared, new_user, body):
    answer = shared.http.put(new_user().url, json=body, headers=shared.as_admin)
    assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (400, "username")


def test_renaming_a_deactivated_user_is_404(shared, new_user):
    person = new_user()
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    assert shared.http.put(person.url, json={"username": "new"}, headers=shared.as_admin).status_code == 404


def test_erasing_an_active_user_is_405_and_leaves_it(shared, new_user):
    person = new_user()
    answer = shared.http.delete(person.url, headers=shared.as_admin)
    assert answer.status_code == 405
    assert "DELETE" not in answer.headers["allow"]
    assert shared.http.get(person.url, headers=shared.as_admin).status_code == 200


def test_erased_user_is_gone_with_everything_and_its_name_is_free(shared, new_user, owner):
    person = new_user(firstname="Erika")
    (pseudonym,) = owner.execute("select pseudonym from users where id = %s", [person.reference]).fetchone()
    shared.http.put(f"{person.url}/deactivate", headers=shared.as_admin).raise_for_status()
    answer = shared.http.delete(person.url, headers=shared.as_admin)
    assert (answer.status_code, answer.content) == (200, b"")
    assert shared.http.get(person.url, headers=shared.as_admin).status_code == 404
    assert shared.http.delete(person.url, headers=shared.as_admin).status_code == 404
    listed = shared.http.get(f"{shared.url}/users?includeInactive=true", headers=shared.as_admin).json()
    assert person.reference not in {user["userReference"] for user in listed}
    for table in ("users", "role_users", "access_tokens", "api_keys"):
        column = "id" if table == "users" else "user_id"
        assert owner.execute(f"select 1 from {table} where {column} = %s", [person.reference]).fetchone() is None
    trail = owner.execute(
        "select actor || object from audit_entries where object like %s", [f"%{pseudonym}%"]
    ).fetchall()
    assert len(trail) >= 3  # create, deactivate, erase: under the pseudonym, and with nothing that names the person
    assert not [
        entry for (entry,) in trail if person.reference in entry or person.username in entry or "Erika" in entry
    ]
    assert new_user(person.username).reference != person.reference
