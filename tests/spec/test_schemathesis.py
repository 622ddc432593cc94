"""Schemathesis reads the document of the running server and tries everything that it promises."""

import json
import subprocess
import sys
from uuid import uuid4

import pytest

pytestmark = pytest.mark.long

TAGS = ("Management", "Keys", "Tokens", "Health")
EXAMPLES = 8  # per operation: with the coverage phase this keeps within half a minute
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
)
STRICT_CHECKS = (*CHECKS, "negative_data_rejection", "missing_required_header", "ignored_auth")
# Revoking succeeds whoever asks and whatever is sent; what /encrypt takes is text, so that no type can be wrong.
TOLERANT = ("revoke_token", "encrypt")
# Assistants are public clients: whether a request needs a login depends on its grant.
PUBLIC = "issue_token"
HOOKS = """
import schemathesis


@schemathesis.serializer("application/octet-stream+base64")
def send_as_it_is(context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
"""


@pytest.fixture
async def configuration(tmp_path, shared, standing_services):
    """Valid logins for each security scheme, and names of objects that exist."""
    body = {"username": f"schemathesis {uuid4()}", "password": "schemathesis"}
    answer = shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin)
    reference = answer.headers["location"].rpartition("/")[2]
    body = {"url": "https://93.184.215.14/hook"}
    webhook = shared.http.post(f"{shared.url}/webhooks", json=body, headers=shared.as_admin)
    key = await standing_services.tokens.create_api_key(shared.name, "app", "anna", None)
    _, token = await standing_services.operators.create_operator(f"schemathesis-{uuid4()}", 1)
    file = tmp_path / "schemathesis.toml"
    values = {
        "auth.openapi.operatorToken": {"bearer": token.reveal()},
        "auth.openapi.clientToken": {"bearer": shared.client_token()},
        "auth.openapi.userToken": {"bearer": shared.user_token()},
        "auth.openapi.clientLogin": {"username": shared.admin[0], "password": shared.admin[1]},
        "auth.openapi.apiKey": {"api_key": key.reveal()},
        "parameters": {
            '"path.tenant-name"': shared.name,
            '"path.client-name"': "app",
            '"path.role-name"': "customer",
            '"path.user-reference"': reference,
            '"path.webhook-id"': webhook.json()["id"],
        },
    }
    lines = []
    for section, entries in values.items():
        lines += [f"[{section}]", *(f"{name} = {json.dumps(value)}" for name, value in entries.items()), ""]
    hooks = tmp_path / "kontor_hooks.py"
    hooks.write_text(HOOKS)
    file.write_text("\n".join([f"hooks = {json.dumps(str(hooks))}", "", *lines]))
    return file


def run(configuration, server, checks, *filters):
    """With one thread: Hypothesis reads sources of lambdas, and CPython 3.11 must not do so in two at a time."""
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration), "run", f"{server}/openapi.json",
        "--checks", ",".join(checks), "--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES),
        "--workers", "1", "--seed", "1", "--request-timeout", "60", "--suppress-health-check", "all",
        "--continue-on-failure", "--no-color", *filters,
    ]  # fmt: skip
    folder = configuration.parent
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_server_keeps_every_promise_of_its_document(server, configuration):
    tags = [part for tag in TAGS for part in ("--include-tag", tag)]
    run(configuration, server, STRICT_CHECKS, *tags, "--exclude-operation-id-regex", "|".join((*TOLERANT, PUBLIC)))


def test_the_token_endpoint_keeps_its_promises(server, configuration):
    run(configuration, server, (*CHECKS, "negative_data_rejection"), "--include-operation-id-regex", PUBLIC)


def test_what_operators_see_keeps_its_promises(server, configuration):
    run(configuration, server, STRICT_CHECKS, "--include-tag", "Operating")


def test_tolerant_operations_keep_their_promises_too(server, configuration):
    run(configuration, server, CHECKS, "--include-operation-id-regex", "|".join(TOLERANT))


def test_webhook_operations_keep_their_promises(server, configuration):
    run(configuration, server, STRICT_CHECKS, "--include-tag", "Webhooks")
