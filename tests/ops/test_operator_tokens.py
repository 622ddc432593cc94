"""Who may look: operators at everything, a tenant's client at its own, users at nothing."""

import pytest

from kontor.api.app import OPERATIONS
from kontor.api.operations import Security
from kontor.domain.errors import ConflictError, InvalidError, NotFoundError
from kontor.domain.scopes import CLIENTS_READ, TENANTS_READ, USERS_READ
from kontor.logs import mask_text
from kontor.services.identity.operators import TOKEN_PREFIX

READS = [
    operation
    for operation in OPERATIONS
    if operation.path.startswith("/ops/v1/") and operation.method == "GET" and not operation.path_names
]
ALONE = [operation for operation in READS if operation.security is Security.OPERATOR_TOKEN]
SHARED = [operation for operation in READS if operation.security is Security.OPERATOR_OR_CLIENT_TOKEN]
NEEDED = {"state": "due"}

each_read = pytest.mark.parametrize("operation", READS, ids=lambda operation: operation.id)


def query_of(operation):
    return NEEDED if operation.id == "list_refreshes" else {}


def test_every_endpoint_for_operators_asks_for_their_token():
    ours = [operation for operation in OPERATIONS if operation.path.startswith("/ops/v1/")]
    assert len(READS) > 12
    assert all(operation.security in (Security.OPERATOR_TOKEN, Security.OPERATOR_OR_CLIENT_TOKEN) for operation in ours)
    assert all(
        operation.scope is not None for operation in ours if operation.security is Security.OPERATOR_OR_CLIENT_TOKEN
    )
    assert [
        operation.id for operation in OPERATIONS if operation.security.admits_operators and operation not in ours
    ] == []


@each_read
async def test_an_operator_may_read_everything(operator, operation):
    answer = await operator.call("operator", operation.path.removeprefix("/ops/v1/"), **query_of(operation))
    assert answer.status_code == 200, answer.text


@each_read
async def test_a_user_may_read_nothing(operator, operation):
    answer = await operator.call("north user", operation.path.removeprefix("/ops/v1/"), **query_of(operation))
    assert answer.status_code == 403
    assert "insufficient_scope" in answer.headers["www-authenticate"]


@each_read
async def test_nobody_reads_without_a_valid_token(operator, operation):
    path = operation.path.removeprefix("/ops/v1/")
    assert (await operator.http.get(operation.path)).status_code == 401
    for token in (TOKEN_PREFIX + "x" * 43, TOKEN_PREFIX, "x", operator.tokens["operator"][:-1]):
        answer = await operator.call(token, path)
        assert (answer.status_code, "invalid_token" in answer.headers["www-authenticate"]) == (403, True)


@pytest.mark.parametrize("operation", SHARED, ids=lambda operation: operation.id)
async def test_a_client_needs_the_scope_that_the_same_takes_elsewhere(operator, operation):
    path = operation.path.removeprefix("/ops/v1/")
    assert (await operator.call("north", path, **query_of(operation))).status_code == 200
    assert (await operator.call(f"north {operation.scope}", path, **query_of(operation))).status_code == 200
    for other in {TENANTS_READ, CLIENTS_READ, USERS_READ} - {operation.scope}:
        assert (await operator.call(f"north {other}", path, **query_of(operation))).status_code == 403


@pytest.mark.parametrize("operation", ALONE, ids=lambda operation: operation.id)
async def test_what_belongs_to_no_tenant_is_for_operators_alone(operator, operation):
    assert (await operator.call("north", operation.path.removeprefix("/ops/v1/"))).status_code == 403


@pytest.mark.parametrize(
    "operation",
    [operation for operation in SHARED if operation.query and "tenant" in operation.query.__struct_fields__],
    ids=lambda operation: operation.id,
)
async def test_another_tenant_does_not_exist_for_a_client(operator, operation):
    path, query = operation.path.removeprefix("/ops/v1/"), query_of(operation)
    assert (await operator.call("north", path, tenant="north", **query)).status_code == 200
    strange = await operator.call("north", path, tenant="south", **query)
    unknown = await operator.call("north", path, tenant="nobody", **query)
    assert strange.status_code == unknown.status_code == 404
    assert strange.json()["message"] == unknown.json()["message"]
    assert (await operator.call("operator", path, tenant="south", **query)).status_code == 200
    assert (await operator.call("operator", path, tenant="nobody", **query)).status_code == 404


async def test_an_operators_token_opens_nothing_else(operator):
    headers = {"Authorization": f"Bearer {operator.tokens['operator']}"}
    for path in ("/auth/mgmt/v1/tenants", "/customer/v2/bankzugaenge", "/providers/v2"):
        assert (await operator.http.get(path, headers=headers)).status_code == 403


async def test_a_token_is_stored_as_a_hash_ends_in_time_and_when_deleted(operator):
    operators = operator.services.operators
    made, token = await operators.create_operator("oskar", 3)
    assert token.reveal().startswith(TOKEN_PREFIX)
    assert (made.expires_at - made.created_at).days == 3
    dump = str(operator.owner.execute("select * from operators").fetchall())
    assert token.reveal() not in dump
    assert token.reveal().removeprefix(TOKEN_PREFIX) not in dump
    assert (await operator.call(token.reveal(), "tenants")).status_code == 200
    operator.owner.execute("update operators set expires_at = now() - interval '1 second' where name = 'oskar'")
    assert (await operator.call(token.reveal(), "tenants")).status_code == 403
    operator.owner.execute("update operators set expires_at = now() + interval '1 day' where name = 'oskar'")
    await operators.delete_operator("oskar")
    assert (await operator.call(token.reveal(), "tenants")).status_code == 403
    assert "oskar" not in [listed.name for listed in await operators.list_operators()]


async def test_operators_have_names_of_their_own_and_a_sensible_time(operator):
    operators = operator.services.operators
    with pytest.raises(ConflictError):
        await operators.create_operator("olga", 1)
    for days in (0, -1, 100_000):
        with pytest.raises(InvalidError):
            await operators.create_operator("otto", days)
    with pytest.raises(InvalidError):
        await operators.create_operator("no such/name", 1)
    with pytest.raises(NotFoundError):
        await operators.delete_operator("otto")


async def test_making_and_deleting_operators_is_in_the_audit_trail(operator):
    await operator.services.operators.create_operator("ophelia", 1)
    await operator.services.operators.delete_operator("ophelia")
    entries = await operator.read("audit", limit=2)
    assert [(entry["actor"], entry["action"], entry["object"]) for entry in entries] == [
        ("operator", "operator.delete", "operator ophelia"),
        ("operator", "operator.create", "operator ophelia"),
    ]


def test_a_leaked_token_is_masked_in_the_log():
    assert mask_text(f"sent {TOKEN_PREFIX}abcdefgh") == f"sent {TOKEN_PREFIX}***"
