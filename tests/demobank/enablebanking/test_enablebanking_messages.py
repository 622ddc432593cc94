"""Every message that Kontor and the demo service exchange keeps to the interface, by schemas of our own."""

import json

import httpx
import pytest
from jsonschema import Draft202012Validator
from service_checks import DOCUMENT, SCHEMAS, CheckedService

from asgi_servers import serve_app
from enablebanking_flows import FLOWS
from enablebanking_talk import running_service


@pytest.fixture(scope="module")
def checked(settings, tmp_path_factory):
    watched = []

    def watch(app):
        watched.append(CheckedService(app))
        return watched[0]

    with running_service(settings, tmp_path_factory.mktemp("application"), watch, page_size=50) as service:
        yield watched[0], service


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_violates_nothing(checked, flow):
    watched, service = checked
    before = len(watched.violations)
    FLOWS[flow](service, service.url)
    assert watched.violations[before:] == []


def test_the_flows_use_every_operation_that_has_a_schema(checked):
    watched, service = checked
    known = {f"{operation['method']} {operation['path']}" for operation in DOCUMENT["operations"]}
    for flow in ("fetch", "read details", "read directory"):
        if known - watched.seen:  # the tests above may have run it
            FLOWS[flow](service, service.url)
    assert known - watched.seen == set()


def test_the_schemas_are_schemas():
    Draft202012Validator.check_schema({"$defs": SCHEMAS})


async def lie(scope, receive, send):
    """A service whose answer to everything is wrong."""
    if scope["type"] == "lifespan":
        return
    await receive()
    body = json.dumps({"url": 7, "surprise": True}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def test_violations_of_both_sides_are_found():
    watched = CheckedService(lie)
    with serve_app(watched) as url:
        httpx.post(f"{url}/auth?when=now", json={"state": "short", "extra": 1}, trust_env=False)
        httpx.get(f"{url}/payments", trust_env=False)
        httpx.get(f"{url}/application", headers={"Psu-Ip-Address": "127.0.0.1"}, trust_env=False)
    found = "\n".join(watched.violations)
    for error in (
        "authorization is no token",
        "the parameter when is none",
        "'aspsp' is a required property",
        "'extra' was unexpected",
        "$.state",
        "$.url",
        "psu-ip-address do not belong here",
        "payments: no operation",
    ):
        assert error in found
