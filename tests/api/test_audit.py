"""The audit trail of the management and token calls: complete, append-only, without secrets."""

import json
from uuid import uuid4

import psycopg
import pytest

from banking import wait_for
from kontor.services.security import auditing


@pytest.fixture
def entries_of(owner):
    def find(mark):
        query = "select action, result, actor, object from audit_entries where correlation_id = %s order by serial"
        return owner.execute(query, [mark]).fetchall()

    return find


def test_every_change_leaves_an_entry_with_its_correlation_id(shared, entries_of):
    mark, name = f"audit {uuid4()}", uuid4().hex
    headers = shared.as_admin | {"X-Correlation-ID": mark}
    body = {"username": name, "password": "a very secret password"}
    http = shared.http
    url = http.post(f"{shared.url}/users", json=body, headers=headers).headers["location"]
    http.put(url, json={"username": name}, headers=headers)
    http.post(f"{shared.url}/clients/app/roles/customer/users", json=url.rpartition("/")[2], headers=headers)
    form = {"grant_type": "password", "username": name, "password": "a very secret password"}
    token = http.post("/auth/oauth2/token", data=form, auth=shared.app, headers={"X-Correlation-ID": mark}).json()
    http.post("/auth/oauth2/token", data=form | {"password": "x"}, auth=shared.app, headers={"X-Correlation-ID": mark})
    revoke = {"token": token["access_token"]}
    http.post("/auth/oauth2/revoke", data=revoke, auth=shared.app, headers={"X-Correlation-ID": mark})
    http.put(f"{url}/deactivate", headers=headers)
    http.post(f"{url}/reactivate", json=body, headers=headers)
    http.put(f"{url}/deactivate", headers=headers)
    http.delete(url, headers=headers)
    found = entries_of(mark)
    assert [(action, result) for action, result, *_ in found] == [
        ("user.create", "done"),
        ("user.change", "done"),
        ("role.assign", "done"),
        ("token.issue", "done"),
        ("token.user-login", "refused"),
        ("token.revoke", "done"),
        ("user.deactivate", "done"),
        ("user.reactivate", "done"),
        ("user.deactivate", "done"),
        ("user.erase", "done"),
    ]
    text = str(found)
    for secret in ("a very secret password", token["access_token"], name, token["user"], shared.app[1]):
        assert secret not in text
    assert {actor for _, _, actor, _ in found} == {
        f"client {shared.name}/admin",
        f"client {shared.name}/app",
        "anonymous",
    }


def test_refused_call_leaves_no_trace_of_a_change(shared, entries_of):
    mark = f"audit {uuid4()}"
    body = {"username": "anna", "password": "x"}
    answer = shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin | {"X-Correlation-ID": mark})
    assert answer.status_code == 409
    assert entries_of(mark) == []


async def test_chain_of_the_tenant_is_whole(standing_services, shared):
    tenant = await standing_services.tenant_administration.find_tenant(shared.name)
    shared.client_token()
    findings = await auditing.verify_chains(standing_services.database)
    assert findings[tenant.id] is None


@pytest.mark.parametrize(
    "statement",
    [
        "update audit_entries set actor = 'nobody'",
        "delete from audit_entries",
        "truncate audit_entries",
        "create table intruder (id int)",
        "drop table users",
        "alter table users add column x int",
        "insert into schema_migrations (version, name, checksum) values (999, 'x', 'x')",
    ],
)
def test_application_may_neither_rewrite_the_trail_nor_change_tables(settings, statement):
    address = settings.database_url.reveal()
    with (
        psycopg.connect(address, autocommit=True) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    ["update audit_entries set actor = 'nobody'", "delete from audit_entries", "truncate audit_entries"],
)
def test_not_even_the_owner_rewrites_the_trail(owner, shared, statement):
    shared.client_token()
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        owner.execute(statement)


def test_a_call_without_its_scope_is_a_line_of_the_log(shared, http, server_log):
    mark = f"refused {uuid4()}"
    headers = {"Authorization": f"Bearer {shared.user_token()}", "X-Correlation-ID": mark}
    assert http.get(f"{shared.url}/users", headers=headers).status_code == 403
    text = wait_for(server_log.read_text, lambda text: mark in text)  # written after the answer is sent
    [line] = [json.loads(line) for line in text.splitlines() if mark in line]
    assert (line["status"], line["tenant"], line["client"]) == (403, shared.name, "app")
