"""The OpenAPI document describes providers and customers as the interface's tables do."""

import json

import pytest

import shapes

INTERFACE = [
    ("get", "/providers/v2"),
    ("get", "/providers/v2/{provider-id}"),
    ("get", "/providers/v2/{provider-id}/logo"),
    ("get", "/providers/v2/{provider-id}/statistics"),
    ("get", "/customer/v2"),
    ("get", "/customer/v2/bankzugaenge"),
    ("post", "/customer/v2/bankzugaenge"),
    ("delete", "/customer/v2/bankzugaenge"),
    ("get", "/customer/v2/bankzugaenge/{access-id}"),
    ("delete", "/customer/v2/bankzugaenge/{access-id}"),
    ("get", "/customer/v2/bankzugaenge/{access-id}/issues"),
    ("get", "/customer/v2/bankzugaenge/{access-id}/{product-id}"),
    ("get", "/customer/v2/bankzugaenge/{access-id}/{product-id}/kontoumsaetze"),
    ("post", "/customer/v2/bankzugaenge/{access-id}/{product-id}/kontoumsaetze"),
    ("get", "/customer/v2/bankzugaenge/{access-id}/{product-id}/depotpositionen"),
]
SHAPES = {
    "Message": shapes.MESSAGE,
    "Relation": shapes.RELATION,
    "Provider": shapes.PROVIDER,
    "AuthenticationInfo": shapes.AUTHENTICATION,
    "AuthenticationField": shapes.FIELD,
    "Customer": shapes.CUSTOMER,
    "BankAccess": shapes.ACCESS,
    "AccessIssues": shapes.ISSUES,
    "SecurityMethod": shapes.METHOD,
    "TanMedium": shapes.MEDIUM,
    "BankProduct": shapes.PRODUCT,
    "Transaction": shapes.TRANSACTION,
    "Position": shapes.POSITION,
}


@pytest.fixture(scope="module")
def schemas(http):
    return http.get("/openapi.json").json()


@pytest.mark.parametrize(("method", "path"), INTERFACE)
def test_interfaces_endpoint_is_described(schemas, method, path):
    assert method in schemas["paths"][path]


# Fields that are sent only where somebody has asked for what they tell.
ADDED = {
    "Transaction": {"tags", "classifications", "notiz", "schlagworte", "teile"},
    "BankAccess": {"kontoauszuege"},
}


@pytest.mark.parametrize(("name", "table"), SHAPES.items(), ids=SHAPES)
def test_schema_has_the_fields_of_its_table_and_never_null(schemas, name, table):
    schema = schemas["components"]["schemas"][name]
    known = set(schema["properties"])
    assert known >= set(table)
    assert known - set(table) == ADDED.get(name, set())
    always = {field for field, (presence, _) in table.items() if presence == "always"}
    assert always <= set(schema["required"])
    assert set(schema["required"]) - always <= {"relations"}
    assert '"null"' not in json.dumps(schema)


def test_every_field_of_the_english_form_is_there_and_nullable(schemas):
    schema = schemas["components"]["schemas"]["EnglishBankProduct"]
    assert set(schema["properties"]) == set(schema["required"]) == set(shapes.ENGLISH_PRODUCT)
    assert [name for name, field in schema["properties"].items() if '"null"' not in json.dumps(field)] == []


def test_the_answer_to_a_statement_file_is_described(schemas):
    path = "/customer/v2/bankzugaenge/{access-id}/{product-id}/kontoumsaetze"
    stored = schemas["paths"][path]["post"]["responses"]["201"]
    assert "content" not in stored, "pushed rows are answered without a body"
    shown = stored["x-content-for-files"]["application/json"]["schema"]
    account = schemas["components"]["schemas"][shown["properties"]["konten"]["items"]["$ref"].rpartition("/")[2]]
    assert {"produktId", "form", "gelesen", "neu", "geaendert", "bekannt", "abgelehnt", "doubts"} <= set(
        account["required"]
    )
