"""Who may look: operators at everything, a tenant's client at its own, users at nothing."""

import pytest

from kontor.api.app import OPERATIONS
from kontor.api.operations import Security
from kontor.domain.errors import ConflictError, InvalidError, NotFoundError
from kontor.domain.scopes import CLIENTS_READ, TENANTS_READ, USERS_READ
from kontor.logs import mask_text
from kontor.services.identity.operators import TOKEN_PREFIX

READS = [one for one in OPERATIONS if one.path.startswith("/ops/v1/") and one.method == "GET" and not one.path_names]
ALONE = [one for one in READS if one.security is Security.OPERATOR_TOKEN]
SHARED = [one for one in READS if one.security is Security.OPERATOR_OR_CLIENT_TOKEN]
NEEDED = {"state": "due"}

each_read = pytest.mark.parametrize("operation", READS, ids=lambda one: one.id)


def query_of(operation):
    return NEEDED if operation.id == "list_refreshes" else {}


def test_every_endpoint_for_operators_asks_for_their_token():
    ours = [one for one in OPERATIONS if one.path.startswith("/ops/v1/")]
    assert len(READS) > 12
    assert all(one.security in (Security.OPERATOR_TOKEN, Security.OPERATOR_OR_CLIENT_TOKEN) for one in ours)
    assert all(one.scope is not None for one in ours if one.security is Security.OPERATOR_OR_CLIENT_TOKEN)
    assert [one.id for one in OPERATIONS if one.security.admits_operators and one not in ours] == []


@each_read
async def test_an_operator_may_read_everything(desk, operation):
    answer = await desk.call("operator", operation.path.removeprefix("/ops/v1/"), **query_of(operation))
    assert answer.status_code == 200, answer.text


@each_read
async def test_a_user_may_read_nothing(desk, operation):
    answer = await desk.call("north user", operation.path.removeprefix("/ops/v1/"), **query_of(operation))
    assert answer.status_code == 403
    assert "insufficient_scope" in answer.headers["www-authenticate"]


@each_read
async def test_nobody_reads_without_a_valid_token(desk, operation):
    path = operation.path.removeprefix("/ops/v1/")
    assert (await desk.http.get(operation.path)).status_code == 401
    for token in (TOKEN_PREFIX + "x" * 43, TOKEN_PREFIX, "x", desk.tokens["operator"][:-1]):
        answer = await desk.call(token, path)
        assert (answer.status_code, "invalid_token" in answer.headers["www-authenticate"]) == (403, True)


@pytest.mark.parametrize("operation", SHARED, ids=lambda one: one.id)
async def test_a_client_needs_the_scope_that_the_same_takes_elsewhere(desk, operation):
    path = operation.path.removeprefix("/ops/v1/")
    assert (await desk.call("north", path, **query_of(operation))).status_code == 200
    assert (await desk.call(f"north {operation.scope}", path, **query_of(operation))).status_code == 200
    for other in {TENANTS_READ, CLIENTS_READ, USERS_READ} - {operation.scope}:
        assert (await desk.call(f"north {other}", path, **query_of(operation))).status_code == 403


@pytest.mark.parametrize("operation", ALONE, ids=lambda one: one.id)
async def test_what_belongs_to_no_tenant_is_for_operators_alone(desk, operation):
    assert (await desk.call("north", operation.path.removeprefix("/ops/v1/"))).status_code == 403


@pytest.mark.parametrize(
    "operation",
    [one for one in SHARED if one.query and "tenant" in one.query.__struct_fields__],
    ids=lambda one: one.id,
)
async def test_another_tenant_does_not_exist_for_a_client(desk, operation):
    path, query = operation.path.removeprefix("/ops/v1/"), query_of(operation)
    assert (await desk.call("north", path, tenant="north", **query)).status_code == 200
    strange = await desk.call("north", path, tenant="south", **query)
    unknown = await desk.call("north", path, tenant="nobody", **query)
    assert strange.status_code == unknown.status_code == 404
    assert strange.json()["message"] == unknown.json()["message"]
    assert (await desk.call("operator", path, tenant="south", **query)).status_code == 200
    assert (await desk.call("operator", path, tenant="nobody", **query)).status_code == 404


async def test_an_operators_token_opens_nothing_else(desk):
    headers = {"Authorization": f"Bearer {desk.tokens['operator']}"}
    for path in ("/auth/mgmt/v1/tenants", "/customer/v2/bankzugaenge", "/providers/v2"):
        assert (await desk.http.get(path, headers=headers)).status_code == 403


async def test_a_token_is_stored_as_a_hash_ends_in_time_and_when_deleted(desk):
    operators = desk.services.operators
    made, token = await operators.create_operator("oskar", 3)
    assert token.reveal().startswith(TOKEN_PREFIX)
    assert (made.expires_at - made.created_at).days == 3
    dump = str(desk.owner.execute("select * from operators").fetchall())
    assert token.reveal() not in dump
    assert token.reveal().removeprefix(TOKEN_PREFIX) not in dump
    assert (await desk.call(token.reveal(), "tenants")).status_code == 200
    desk.owner.execute("update operators set expires_at = now() - interval '1 second' where name = 'oskar'")
    assert (await desk.call(token.reveal(), "tenants")).status_code == 403
    desk.owner.execute("update operators set expires_at = now() + interval '1 day' where name = 'oskar'")
    await operators.delete_operator("oskar")
    assert (await desk.call(token.reveal(), "tenants")).status_code == 403
    assert "oskar" not in [one.name for one in await operators.list_operators()]


async def test_operators_have_names_of_their_own_and_a_sensible_time(desk):
    operators = desk.services.operators
    with pytest.raises(ConflictError):
        await operators.create_operator("olga", 1)
    for days in (0, -1, 100_000):
        with pytest.raises(InvalidError):
            await operators.create_operator("otto", days)
    with pytest.raises(InvalidError):
        await operators.create_operator("no such/name", 1)
    with pytest.raises(NotFoundError):
        await operators.delete_operator("otto")


async def test_making_and_deleting_operators_is_in_the_audit_trail(desk):
    await desk.services.operators.create_operator("ophelia", 1)
    await desk.services.operators.delete_operator("ophelia")
    entries = await desk.read("audit", limit=2)
    assert [(one["actor"], one["action"], one["object"]) for one in entries] == [
        ("operator", "operator.delete", "operator ophelia"),
        ("operator", "operator.create", "operator ophelia"),
    ]


def test_a_leaked_token_is_masked_in_the_log():
    assert mask_text(f"sent {TOKEN_PREFIX}abcdefgh") == f"sent {TOKEN_PREFIX}***"
