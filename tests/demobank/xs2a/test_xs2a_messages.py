"""Every message that Kontor and the demo bank exchange keeps to the interface, by schemas of our own."""

from dataclasses import replace

import httpx
import pytest
from jsonschema import Draft202012Validator
from message_checks import DOCUMENT, SCHEMAS, CheckedApp

from asgi_servers import serve_app
from kontor.demobank.xs2a import DemoAspsp, make_xs2a_app
from kontor.demobank.xs2a.dialects import STANDARD, OAuthUse
from kontor.demobank.xs2a.pages import make_pages
from kontor.storage.demo_bank_pages import DemoBankPages
from xs2a_dialogues import MovableClock, Xs2aBankUnderTest
from xs2a_flows import FLOWS, fetch_and_pay_by_oauth


@pytest.fixture(scope="module")
def checked(settings):
    clock = MovableClock()
    bank = DemoBankPages(settings.database_url, "http://bank.example/demobank/confirm")
    app = make_xs2a_app(DemoAspsp(bank, read_time=clock.read), page_size=50, pages=make_pages(bank))
    watched = CheckedApp(app)
    with serve_app(watched) as url:
        yield watched, Xs2aBankUnderTest(url, clock, bank)


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_violates_nothing(checked, flow):
    watched, bank = checked
    before = len(watched.violations)
    FLOWS[flow](bank, bank.url)
    assert watched.violations[before:] == []


def test_the_flows_use_every_operation_that_has_a_schema(checked):
    watched, bank = checked
    known = {f"{operation['method']} {operation['path']}" for operation in DOCUMENT["operations"]}
    for flow in ("fetch demo1", "pay otherwise", "go wrong", "read the rest", "pay test_decoupled", "cancel"):
        if known - watched.seen:  # the tests above may have run it
            FLOWS[flow](bank, bank.url)
    assert known - watched.seen == set()


def test_consents_and_orders_over_oauth_violate_nothing(settings):
    """The OAuth server itself speaks OAuth, for which there is no schema here."""
    clock = MovableClock()
    bank = DemoBankPages(settings.database_url, "http://bank.example/demobank/confirm")
    dialect = replace(STANDARD, oauth=OAuthUse.FOR_CONSENT)
    watched = CheckedApp(make_xs2a_app(DemoAspsp(bank, read_time=clock.read), pages=make_pages(bank), dialect=dialect))
    with serve_app(watched) as url:
        fetch_and_pay_by_oauth(Xs2aBankUnderTest(url, clock, bank), url)
    own = ("/v1/authorise", "/v1/token")
    assert [violation for violation in watched.violations if not violation.split()[1].startswith(own)] == []
    assert {"POST /v1/consents", "POST /v1/payments/[a-z-]+"} <= watched.seen


def test_the_schemas_are_schemas():
    Draft202012Validator.check_schema({"$defs": SCHEMAS})


async def lie(scope, receive, send):
    """A bank whose answer to everything is wrong."""
    if scope["type"] == "lifespan":
        return
    await receive()
    body = b'{"consentStatus": "perhaps", "consentId": 7, "_links": {}}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 201, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def test_violations_of_both_sides_are_found():
    watched = CheckedApp(lie)
    with serve_app(watched) as url:
        httpx.post(f"{url}/v1/consents", json={"recurringIndicator": "often", "surprise": 1}, trust_env=False)
        httpx.get(f"{url}/v1/trusted-beneficiaries", trust_env=False)
    found = "\n".join(watched.violations)
    for error in (
        "x-request-id is missing",
        "psu-ip-address is missing",
        "$.recurringIndicator",
        "'access' is a required property",
        "'surprise' was unexpected",
        "$.consentStatus",
        "$.consentId",
        "trusted-beneficiaries: no operation",
    ):
        assert error in found
