"""Bad input is named completely: every wrong field of a body, and every query parameter that an operation lacks."""

import re
from typing import Annotated
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from advising import create_office, make_adviser
from kontor.api.answers import HttpError
from kontor.api.app import OPERATIONS
from kontor.api.bodies import decode_json, decode_json_map
from kontor.api.field_errors import MAX_ERRORS, find_field_errors
from kontor.api.operations import Security
from kontor.domain.scopes import ADVISER_READ, RULES_MANAGE
from kontor.domain.tenants import ClientKind

PROBLEM = "application/problem+json"


class Part(msgspec.Struct):
    iban: Annotated[str, Meta(max_length=5)]
    amount: Annotated[int, Meta(ge=1)] | None = None


class Whole(msgspec.Struct):
    name: str
    parts: list[Part]
    main: Part | None = None
    by_key: dict[str, Part] = {}
    when: str | int = 0

    def __post_init__(self):
        if self.name == "nobody":
            raise ValueError("is nobody")


def find(body):
    return [str(error) for error in find_field_errors(body.encode(), Whole)]


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ('{"name": "a", "parts": []}', []),
        ("{}", ["name: is required", "parts: is required"]),
        ("[]", ["body: expected object, got array"]),
        ('{"name": 1, "parts": 2, "when": 1.5}',
         ["name: expected str, got int", "parts: expected array, got int", "when: expected int | str, got float"]),
        ('{"name": "a", "parts": [{}, {"iban": "123456", "amount": 0}, {"iban": "1"}]}',
         ["parts[0].iban: is required", "parts[1].iban: expected str of length <= 5",
          "parts[1].amount: expected int >= 1"]),
        ('{"name": "a", "parts": [], "main": {"amount": "x"}, "by_key": {"k": {}, "l": 1}}',
         ["main.iban: is required", "main.amount: expected int | null, got str", "by_key.k.iban: is required",
          "by_key.l: expected object, got int"]),
        ('{"name": "nobody", "parts": []}', ["body: is nobody"]),
    ],
)  # fmt: skip
def test_every_wrong_field_is_named_in_the_order_of_the_type(body, errors):
    assert find(body) == errors


def test_a_pointer_leads_to_the_field_also_through_odd_keys():
    (error,) = find_field_errors(b'{"name": "a", "parts": [], "by_key": {"a/b~c": {"iban": 1}}}', Whole)
    assert error.pointer == "/by_key/a~1b~0c/iban"


def test_no_more_than_the_first_errors_of_a_long_body_are_named():
    assert len(find_field_errors(msgspec.json.encode({"name": "a", "parts": [1] * 10_000}), Whole)) == MAX_ERRORS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "parts", "main", "by_key", "iban", "amount", "when"]), inner)
    ),
    max_leaves=12,
)


@given(value=JSON)
def test_a_body_has_errors_exactly_when_the_decoder_refuses_it(value):
    body = msgspec.json.encode(value)
    errors = find_field_errors(body, Whole)
    if errors:
        with pytest.raises(HttpError) as refused:
            decode_json(body, Whole)
        assert refused.value.message == "; ".join(map(str, errors))
    else:
        decode_json(body, Whole)


@given(value=JSON, data=st.data())
def test_a_body_that_is_cut_or_damaged_behind_a_wrong_field_is_refused(value, data):
    body = bytearray(msgspec.json.encode({"name": 1, "parts": value}))
    place = data.draw(st.integers(len('{"name":1'), len(body) - 1))
    body[place : len(body) if data.draw(st.booleans()) else place + 1] = data.draw(st.binary(max_size=2))
    with pytest.raises(HttpError) as refused:
        decode_json(bytes(body), Whole)
    assert refused.value.status == 400
    assert refused.value.message


def test_the_key_of_a_map_is_part_of_the_name():
    with pytest.raises(HttpError, match=r"^k\.iban: is required; l: expected object, got int$"):
        decode_json_map(b'{"k": {}, "l": 1}', Part)


# Over HTTP


def test_a_body_with_several_errors_names_them_all_and_points_at_them(customer):
    url, body = "/customer/v2/imports/forms", {"name": 5, "kennzeichen": ["Tag", 1], "dezimalzeichen": ","}
    errors = [
        ("/name", "name: expected str, got int"),
        ("/kennzeichen/1", "kennzeichen[1]: expected str, got int"),
        ("/spalten", "spalten: is required"),
        ("/datumsformat", "datumsformat: is required"),
    ]
    plain = customer.post(url, body)
    assert (plain.status_code, set(plain.json())) == (400, {"code", "message", "messages", "correlationId"})
    assert sorted(plain.json()["message"].split("; ")) == sorted(text for _, text in errors)
    problem = customer.post(url, body, headers={"Accept": PROBLEM}).json()
    assert problem["detail"] == plain.json()["message"]
    named = {error["pointer"]: error["detail"] for error in problem["errors"]}
    assert named == {pointer: text.partition(": ")[2] for pointer, text in errors}


def test_an_error_without_wrong_fields_has_no_list_of_them(customer):
    problem = customer.get("/customer/v2/bankzugaenge/none", headers={"Accept": PROBLEM})
    assert (problem.status_code, "errors" in problem.json()) == (404, False)


TOKEN_OF = {
    Security.USER_TOKEN: lambda shared: shared.as_user,
    Security.ANY_TOKEN: lambda shared: shared.as_user,
    Security.CLIENT_TOKEN: lambda shared: shared.as_admin,
    Security.OPERATOR_OR_CLIENT_TOKEN: lambda shared: shared.as_admin,
    Security.NONE: lambda shared: {},
}
STRICT = [operation for operation in OPERATIONS if operation.security in TOKEN_OF and not operation.takes_any_query]


@pytest.fixture(scope="module")
async def as_rules_manager(shared, standing_services):
    """Headers of a client that manages the tenant's rules: a scope that is granted by name only."""
    name = f"rules-{uuid4().hex[:8]}"
    _, secret = await standing_services.tenant_administration.create_client(
        shared.name, name, ClientKind.ADMIN, [RULES_MANAGE]
    )
    return {"Authorization": f"Bearer {shared.client_token((f'{shared.name}/{name}', secret))}"}


@pytest.fixture(scope="module")
async def as_adviser(shared, standing_services):
    return make_adviser(shared, await create_office(standing_services, shared)).headers


@pytest.mark.parametrize("operation", STRICT, ids=[operation.id for operation in STRICT])
def test_query_parameters_that_an_operation_lacks_are_refused_and_named(
    shared, as_rules_manager, as_adviser, operation
):
    path = re.sub(r"\{[^}]+\}", "x", operation.path)
    granted = {RULES_MANAGE: as_rules_manager, ADVISER_READ: as_adviser}
    headers = granted.get(operation.scope) or TOKEN_OF[operation.security](shared)
    answer = shared.http.request(operation.method, path, params={"misspelt": "1", "ü": ""}, headers=headers)
    assert (answer.status_code, answer.json()["message"]) == (400, "misspelt: is unknown; ü: is unknown")


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/metrics"])
def test_probes_may_carry_any_query(shared, path):
    assert shared.http.get(path, params={"misspelt": "1"}).status_code == 200


@pytest.mark.parametrize("path", ["/auth/oauth2/token", "/auth/oauth2/introspect", "/one/bc-token"])
def test_token_endpoints_refuse_unknown_query_parameters_in_the_form_of_their_standard(shared, path):
    answer = shared.http.post(path, params={"misspelt": "1"}, data={"grant_type": "password"}, auth=shared.admin)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert "misspelt" in answer.json()["error_description"]
