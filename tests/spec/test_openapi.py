"""The OpenAPI document: valid, complete, and true to what is declared."""

import json
import re
from typing import Annotated, Literal
from uuid import uuid4

import jsonschema
import msgspec
import pytest
from lxml import html
from openapi_spec_validator import OpenAPIV31SpecValidator

from for_each import for_each
from kontor.analysis.contracts import Status
from kontor.api.app import OPERATIONS
from kontor.api.schemas import Schemas

BYTES_PER_OPERATION = 1_500  # of the whole document, as it was with 170 operations
BODILESS = ("GET", "DELETE")


@pytest.fixture(scope="session")
def document(http):
    answer = http.get("/openapi.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    return answer.json()


def resolve(document, node):
    """What a reference leads to; anything else as it is."""
    if not isinstance(node, dict) or "$ref" not in node:
        return node
    found = document
    for step in node["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def list_operations(document):
    """What the document tells of each operation."""
    return [item[method] for item in document["paths"].values() for method in item if method != "parameters"]


def describe(document, operation):
    """With the shared parameters, responses and headers in their places."""
    path = document["paths"][operation.path]
    described = path[operation.method.lower()]
    parameters = [*path.get("parameters", []), *described.get("parameters", [])]
    responses = {status: resolve(document, answer) for status, answer in described["responses"].items()}
    return described | {
        "parameters": [resolve(document, parameter) for parameter in parameters],
        "responses": {
            status: answer
            | {"headers": {name: resolve(document, header) for name, header in answer.get("headers", {}).items()}}
            for status, answer in responses.items()
        },
    }


each_operation = for_each("operation", OPERATIONS, lambda operation: operation.id)
# The customer's operations know further answers (451 without a body, results with an error status): tested with them.
FOUNDATION = [
    operation
    for operation in OPERATIONS
    if operation.tag in ("Management", "Keys", "Tokens", "Operating", "Webhooks", "Health")
]
each_of_the_foundation = for_each("operation", FOUNDATION, lambda operation: operation.id)


def test_document_is_valid_openapi_3_1(document):
    assert document["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(document).validate()


def test_document_has_exactly_the_declared_operations(document):
    members = {(member.upper(), path) for path, item in document["paths"].items() for member in item}
    described = {(method, path) for method, path in members if method != "PARAMETERS"}
    assert described == {(operation.method, operation.path) for operation in OPERATIONS}
    ids = [operation["operationId"] for operation in list_operations(document)]
    assert len(ids) == len(set(ids))


def test_document_names_the_configured_address(document, server):
    assert document["servers"] == [{"url": server}]


INTERFACE = [
    ("get", "/auth/mgmt/v1/tenants"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/clients"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/clients/{client-name}"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/clients/{client-name}/roles"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/clients/{client-name}/roles/{role-name}"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/clients/{client-name}/roles/{role-name}/users"),
    ("post", "/auth/mgmt/v1/tenants/{tenant-name}/clients/{client-name}/roles/{role-name}/users"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/clients/{client-name}/roles/{role-name}/users/{user-reference}"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/users"),
    ("post", "/auth/mgmt/v1/tenants/{tenant-name}/users"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/users/{user-reference}"),
    ("put", "/auth/mgmt/v1/tenants/{tenant-name}/users/{user-reference}"),
    ("delete", "/auth/mgmt/v1/tenants/{tenant-name}/users/{user-reference}"),
    ("put", "/auth/mgmt/v1/tenants/{tenant-name}/users/{user-reference}/deactivate"),
    ("post", "/auth/mgmt/v1/tenants/{tenant-name}/users/{user-reference}/reactivate"),
    ("get", "/auth/mgmt/v1/tenants/{tenant-name}/certificate"),
    ("post", "/auth/oauth2/token"),
    ("post", "/auth/oauth2/revoke"),
    ("post", "/auth/oauth2/introspect"),
    ("post", "/one/bc-token"),
    ("put", "/encrypt"),
]


def test_every_endpoint_of_the_interface_is_described(document):
    assert [(method, path) for method, path in INTERFACE if method not in document["paths"][path]] == []


@each_operation
def test_operation_is_described_completely(document, operation):
    described = describe(document, operation)
    assert described["summary"]
    assert not described["summary"].endswith(".")
    assert described["tags"] == [operation.tag]
    assert isinstance(described["security"], list)
    assert bool(described["security"]) == (operation.security.value != "none")
    names = {(parameter["name"], parameter["in"]) for parameter in described["parameters"]}
    assert {(name, "path") for name in operation.path_names} <= names
    assert ("requestBody" in described) == operation.has_body
    if operation.method in BODILESS:
        assert "requestBody" not in described


@each_of_the_foundation
def test_operation_lists_every_status_it_can_answer(document, operation):
    described = describe(document, operation)
    statuses = {int(status) for status in described["responses"] if status != "default"}
    expected = {operation.success.status, *operation.other_statuses, *operation.errors, 400}
    if operation.is_oauth and operation.body is not None and not operation.is_forgiving:
        expected |= {408, 413}
    if operation.security.is_bearer and "{tenant-name}" in operation.path:
        expected |= {404}
    assert statuses == expected
    named = {int(status) for status in re.findall(r"\b[45]\d\d\b", described["responses"]["default"]["description"])}
    assert named == {401, 403, 406, 408, 413, 415, 500, 503, 504}


@each_of_the_foundation
def test_every_answer_is_described_with_its_headers_and_body(document, operation):
    for status, answer in describe(document, operation)["responses"].items():
        assert answer["description"]
        headers = set(answer["headers"])
        if operation.is_forgiving and status == "400":  # no request, so nothing of ours answers it
            continue
        assert ("X-Correlation-ID" in headers) == (status[0] in "45d")
        if status in ("401", "default"):
            assert "WWW-Authenticate" in headers
        if status in ("429", "503", "default"):
            assert "Retry-After" in headers
        if status == "405":
            assert "Allow" in headers
        if status == "201":
            assert "Location" in headers
        is_success = status == str(operation.success.status)
        has_body = status[0] in "45d" or (is_success and operation.success.shape is not None)
        assert ("content" in answer) == has_body
        if status[0] in "45d":
            is_oauth = operation.is_oauth and status != "default"
            expected = {"application/json"} if is_oauth else {"application/json", "application/problem+json"}
            assert set(answer["content"]) == expected


@each_operation
def test_bearer_operation_names_its_scope_and_the_schemes_know_it(document, operation):
    schemes = document["components"]["securitySchemes"]
    for requirement in describe(document, operation)["security"]:
        for name, scopes in requirement.items():
            assert name in schemes
            if name == "operatorToken":  # sees everything, and has no scopes
                assert operation.security.admits_operators
                assert scopes == []
            elif operation.scope is not None:
                assert scopes == [operation.scope]
            known = {scope for flow in schemes[name].get("flows", {}).values() for scope in flow["scopes"]}
            assert set(scopes) <= known


def find_nodes(node, path=()):
    yield path, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from find_nodes(value, (*path, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from find_nodes(value, (*path, number))


def test_every_reference_leads_somewhere_and_every_component_is_referred_to(document):
    named = {node["$ref"] for _, node in find_nodes(document) if isinstance(node, dict) and "$ref" in node}
    for reference in named:
        assert resolve(document, {"$ref": reference})
    parts = ("schemas", "parameters", "headers", "responses")
    kept = {f"#/components/{part}/{name}" for part in parts for name in document["components"][part]}
    assert kept == named


def test_the_document_is_small_since_errors_are_described_once(document, http):
    operations = list(list_operations(document))
    assert len(http.get("/openapi.json").content) < BYTES_PER_OPERATION * len(operations)
    for operation in operations:
        errors = {status: answer for status, answer in operation["responses"].items() if status[0] in "45d"}
        assert [status for status in errors if "content" in errors[status] and status not in ("409", "451")] == []


def test_every_operation_has_a_description_and_a_declared_tag(document):
    tags = [tag["name"] for tag in document["tags"]]
    used = set()
    for operation in list_operations(document):
        assert operation["description"].endswith("."), operation["operationId"]
        assert operation["description"] != operation["summary"]
        used.update(operation["tags"])
    assert sorted(tags) == sorted(used)


def test_the_correlation_id_is_described_once_for_all_operations(document):
    assert "X-Correlation-ID" in document["info"]["description"]


def test_generators_find_good_names(document):
    assert document["info"]["title"] == "Kontor API", "a package kontor_client is ours"
    assert all(re.fullmatch("[A-Z][a-z]+", tag["name"]) for tag in document["tags"])
    ids = [operation["operationId"] for operation in list_operations(document)]
    assert [name for name in ids if name.endswith("_again")] == []


@pytest.mark.parametrize(
    "path", ["/customer/v2/payment/{}/pain001", "/customer/v2/payments/{}/pain001", "/customer/v2/ai/life/stages"]
)
def test_addresses_that_are_not_documented_are_served(shared, document, path):
    user = {"Authorization": f"Bearer {shared.user_token()}"}
    answer = shared.http.get(path.format(uuid4()), headers=user | {"Accept": "*/*"})
    assert answer.status_code in (200, 404)
    assert "no such path" not in answer.text
    assert shared.http.options(path.format(uuid4())).headers["allow"] == "GET, HEAD, OPTIONS"


def test_no_address_fits_two_paths(document):
    paths = [path.split("/") for path in document["paths"]]
    for number, path in enumerate(paths):
        for other in paths[:number]:
            pairs = list(zip(path, other, strict=False))
            fits = all(a == b or "{" in a or "{" in b for a, b in pairs) and len(path) == len(other)
            one_way = all(b.startswith("{") for a, b in pairs if a != b)
            other_way = all(a.startswith("{") for a, b in pairs if a != b)
            assert not fits or one_way or other_way, (path, other)


def test_every_example_fits_its_schema(document):
    count = 0
    for path, node in find_nodes(document):
        if isinstance(node, dict) and isinstance(node.get("examples"), list) and path[-1] != "properties":
            schema = node | {"components": document["components"]}
            for example in node["examples"]:
                jsonschema.Draft202012Validator(schema).validate(example)
                count += 1
    assert count > 10


def test_no_schema_of_an_answer_allows_null(document):
    """Optional means left out, never null."""
    answers = {"Tenant", "Client", "ClientRole", "User", "UserReference", "Token", "Introspection", "ErrorBody",
               "ProblemBody", "OAuthErrorBody"}  # fmt: skip
    for name in answers:
        assert '"null"' not in json.dumps(document["components"]["schemas"][name]), name


def test_no_property_has_a_default_that_generators_take_for_required(document):
    with_default = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, described in schema.get("properties", {}).items()
        if "default" in described
    ]
    assert with_default == []
    described = document["components"]["schemas"]["NewTransaction"]["properties"]["waehrung"]["description"]
    assert described == 'default: "EUR"'


@each_operation
def test_no_query_parameter_is_nullable(document, operation):
    for parameter in describe(document, operation)["parameters"]:
        if parameter["in"] == "query":
            assert '"null"' not in json.dumps(parameter), parameter["name"]
            assert parameter["schema"].get("default", ...) is not None


def test_a_query_parameter_says_what_it_means(document):
    parameters = document["paths"]["/customer/v2/payments"]["get"]["parameters"]
    described = {parameter["name"]: parameter for parameter in parameters if parameter.get("in") == "query"}
    assert described
    assert all(parameter["description"] for parameter in described.values())


@each_operation
def test_a_page_that_may_not_be_the_last_has_a_link(document, operation):
    described = describe(document, operation)
    has_pages = "cursor" in {parameter["name"] for parameter in described["parameters"]}
    link = described["responses"][str(operation.success.status)]["headers"].get("Link")
    assert (link is not None) == has_pages
    assert link is None or not link["required"]


@each_operation
def test_an_answer_that_sends_the_user_elsewhere_says_where(document, operation):
    found = describe(document, operation)["responses"].get("451")
    if found is not None:
        assert found["headers"]["Location"]["required"]


@each_operation
def test_the_time_to_wait_is_declared_where_it_is_sent_and_never_required(document, operation):
    for status, answer in describe(document, operation)["responses"].items():
        header = answer["headers"].get("Retry-After")
        if status in ("409", "429", "503", "default"):
            assert header is not None, status
        assert header is None or not header["required"], status


def test_every_enum_has_a_name_and_a_type(document):
    enums = {path: node for path, node in find_nodes(document) if isinstance(node, dict) and "enum" in node}
    assert [path for path in enums if len(path) != 3 or path[:2] != ("components", "schemas")] == []
    assert {node["type"] for node in enums.values()} == {"string"}
    assert "BankAccessStatus" in {path[-1] for path in enums}


@pytest.mark.parametrize(
    ("schema", "field", "enum", "values"),
    [
        ("BankAccess", "status", "BankAccessStatus", {"GESTARTET", "KOPFDATEN", "VOLLSTAENDIG"}),
        (
            "TokenForm",
            "grant_type",
            "GrantType",
            {"client_credentials", "password", "authorization_code", "refresh_token"},
        ),
        ("ContractDetails", "status", "ContractStatus", set(Status)),
        ("Message", "level", "MessageLevel", {"INFO", "ERROR"}),
    ],
)
def test_a_field_with_few_values_refers_to_its_enum(document, schema, field, enum, values):
    schemas = document["components"]["schemas"]
    assert schemas[schema]["properties"][field]["$ref"] == f"#/components/schemas/{enum}"
    assert set(schemas[enum]["enum"]) == values


def test_two_enums_of_one_name_are_refused():
    first = msgspec.defstruct("First", [("kind", Annotated[Literal["a", "b"], msgspec.Meta(title="Kind")])])
    second = msgspec.defstruct("Second", [("kind", Annotated[Literal["b", "c"], msgspec.Meta(title="Kind")])])
    assert "Kind" in Schemas([first], []).components
    with pytest.raises(ValueError, match="Kind"):
        Schemas([first, second], [])


def test_dates_of_contracts_are_dates(document):
    details = document["components"]["schemas"]["ContractDetails"]["properties"]
    dates = {name for name, field in details.items() if resolve(document, field).get("format") == "date"}
    assert dates == {"dateFirst", "dateLatest", "dateStart", "dateNext", "minimumTermEnd", "noticeDate"}


def list_addresses(page):
    tree = html.fromstring(page)
    return {element.get(name) for name in ("href", "src") for element in tree.iterfind(f".//*[@{name}]")}


def test_pages_and_their_assets_are_served_from_here_alone(http):
    for path in ("/docs", "/docs/customer"):
        page = http.get(path)
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in page.headers["content-security-policy"]
        addresses = list_addresses(page.content) - {"data:,"}
        assert [address for address in addresses if not address.startswith(("/", "#")) or address[1] == "/"] == []
        assets = {address for address in addresses if address.startswith("/docs/assets/")}
        assert len(assets) == 3
        for asset in assets:
            assert http.get(asset).status_code == 200
    for path in ("/docs/../../etc/passwd", "/docs/assets/../app.py", "/docs/nothing"):
        assert http.get(path).status_code == 404


def test_each_operation_is_on_the_overview_and_on_the_page_of_its_section_with_all_shapes(http, document):
    overview = list_addresses(http.get("/docs").content)
    pages = {tag["name"]: html.fromstring(http.get(f"/docs/{tag['name'].lower()}").content) for tag in document["tags"]}
    ids = {name: {element.get("id") for element in page.iterfind(".//*[@id]")} for name, page in pages.items()}
    for operation in list_operations(document):
        [tag] = operation["tags"]
        assert f"/docs/{tag.lower()}#{operation['operationId']}" in overview
        assert operation["operationId"] in ids[tag]
    for name, page in pages.items():
        targets = {link.get("href")[1:] for link in page.iterfind(".//a[@href]") if link.get("href").startswith("#")}
        assert targets <= ids[name]


def test_pages_about_the_api_are_light(http):
    """Compressed, with their files and the document, each below a tenth of what it may weigh (500 kB)."""
    sizes = {}
    for path in ("/openapi.json", "/docs", "/docs/customer"):
        with http.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as answer:
            assert answer.headers["content-encoding"] == "gzip"
            sizes[path] = sum(map(len, answer.iter_raw()))
    assert {path: size for path, size in sizes.items() if size > 60_000} == {}


def test_examples_of_bodies_fit_their_shapes(http, document):
    """As JSON Schema says, of which OpenAPI 3.1 is a dialect. Texts of a prescribed form are left to the reader."""
    wrong, tried = [], 0
    for tag in document["tags"]:
        page = html.fromstring(http.get(f"/docs/{tag['name'].lower()}").content)
        for operation in list_operations(document):
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            found = page.get_element_by_id(f"{operation['operationId']}-body", None)
            if found is None or content is None:
                continue
            schema = {"$ref": content["schema"]["$ref"]} if "$ref" in content["schema"] else content["schema"]
            validator = jsonschema.Draft202012Validator(schema | {"components": document["components"]})
            errors = validator.iter_errors(json.loads(found.text))
            wrong += [error.message for error in errors if error.validator not in ("pattern", "minLength")]
            tried += 1
    assert tried > 30
    assert wrong == []
