"""`kontor sync firefly` and the small Firefly III of these tests keep to the API that Firefly III publishes.

KONTOR_TEST_FIREFLY_CONTRACT names a file firefly-iii-…-v1.yaml of Firefly III's API documentation.
"""

import json
import os
import re
from pathlib import Path

import pytest
import yaml
from firefly_server import TOKEN, FireflyServer, serve_firefly
from jsonschema import Draft4Validator, FormatChecker
from synced_users import booking

pytestmark = pytest.mark.official
CONTRACT = "KONTOR_TEST_FIREFLY_CONTRACT"
# The document demands a field of `PUT /v1/accounts/{id}` that it does not describe; we send it.
PATHS = {
    r"accounts": "/v1/accounts",
    r"accounts/\d+": "/v1/accounts/{id}",
    r"transactions": "/v1/transactions",
    r"transactions/\d+": "/v1/transactions/{id}",
    r"search/transactions": "/v1/search/transactions",
    r"about": "/v1/about",
}


@pytest.fixture(scope="module")
def contract():
    path = os.environ.get(CONTRACT)
    assert path, f"{CONTRACT} must name a file firefly-iii-…-v1.yaml of Firefly III's API documentation"
    document = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return make_strict(json.loads(json.dumps(document, default=str)))


def make_strict(node):
    """`nullable` in the words of JSON Schema."""
    if isinstance(node, list):
        return [make_strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {key: make_strict(value) for key, value in node.items()}
    if made.pop("nullable", False) is True and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
        if "enum" in made:
            made["enum"] = [*made["enum"], None]
    return made


class Referee:
    def __init__(self, contract):
        self.contract = contract
        self.seen = set()

    def observe(self, method, path, body, status, answer):
        template = next(template for pattern, template in PATHS.items() if re.fullmatch(pattern, path))
        operation = self.contract["paths"][template][method.lower()]
        self.seen.add((method, template, status))
        if body is not None:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            self.check(schema, body)
            self.check_names(schema, body)
        told = operation["responses"][str(status)]
        if answer is not None and "content" in told:
            self.check(next(iter(told["content"].values()))["schema"], answer)

    def check(self, schema, value):
        whole = schema | {"components": self.contract["components"]}
        errors = list(Draft4Validator(whole, format_checker=FormatChecker(["date"])).iter_errors(value))
        assert errors == [], errors[0]

    def check_names(self, schema, value):
        """What the document does not name would be ignored."""
        while "$ref" in schema:
            schema = self.contract["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        known = set(schema["properties"]) | set(schema.get("required", ()))
        assert set(value) <= known, set(value) - known
        for name, each in value.items():
            if isinstance(each, list) and each and isinstance(each[0], dict):
                for item in each:
                    self.check_names(schema["properties"][name]["items"], item)


def test_requests_and_answers_fit_the_published_document(contract, run_command, synced, bank_server, tmp_path):
    referee = Referee(contract)
    problems = []

    def observe(*call):
        try:
            referee.observe(*call)
        except (AssertionError, KeyError) as error:
            problems.append((call[:2], repr(error)))

    environment = {"KONTOR_SYNC_KEY": synced.key, "FIREFLY_TOKEN": TOKEN}
    with serve_firefly(FireflyServer(observe=observe)) as firefly:
        command = (
            "sync",
            "firefly",
            "--kontor",
            bank_server,
            "--server",
            firefly.address,
            "--folder",
            tmp_path / "sync",
        )
        assert run_command(*command, **environment)[0] == 0
        synced.book("offen")
        synced.correct("Einkauf #1", "LIVING_DRUGSTORE")
        synced.push(booking(-5, 8, "Kiosk", "neu"), batch="later")
        assert run_command(*command, **environment)[1] == "Done: 2 new, 2 changed.\n"
        synced.customer.delete(f"/customer/v2/bankzugaenge/{synced.access_id}")
        assert run_command(*command, **environment)[0] == 0
    assert problems == []
    assert referee.seen >= {
        ("GET", "/v1/about", 200),
        ("GET", "/v1/accounts", 200),
        ("POST", "/v1/accounts", 200),
        ("PUT", "/v1/accounts/{id}", 200),
        ("GET", "/v1/search/transactions", 200),
        ("POST", "/v1/transactions", 200),
        ("GET", "/v1/transactions/{id}", 200),
        ("PUT", "/v1/transactions/{id}", 200),
        ("DELETE", "/v1/transactions/{id}", 204),
    }
