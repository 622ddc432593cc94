"""Links in a bank's answers: none makes Kontor connect to another address than the bank's own."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from bad_banks import ACCOUNT, CONSENT, RIGHT, ROW, BadBank

from asgi_servers import serve_app
from hostile_banks import HostileBank, answer, running_hostile_bank
from kontor.connectors.base import Continue, Failed, NeedRedirect, NeedTan, Pay, Poll, Progress, Returned, Tan
from kontor.connectors.xs2a import Xs2aBank, Xs2aConnector, Xs2aSettings
from kontor.domain.payments import Order
from kontor.domain.secrets import Secret
from xs2a_dialogues import Dialogue

PIN = "s3cret-pin"
AUTHORISATIONS = "/v1/consents/1/authorisations"
NAMES = (
    "self",
    "status",
    "scaStatus",
    "startAuthorisation",
    "startAuthorisationWithPsuIdentification",
    "startAuthorisationWithPsuAuthentication",
    "startAuthorisationWithAuthenticationMethodSelection",
    "startAuthorisationWithTransactionAuthorisation",
    "updatePsuIdentification",
    "updatePsuAuthentication",
    "selectAuthenticationMethod",
    "authoriseTransaction",
    "confirmation",
    "scaOAuth",
)
METHOD = {"authenticationMethodId": "1", "authenticationType": "SMS_OTP", "name": "mobileTAN"}


@pytest.fixture(scope="module")
def bad_bank() -> Iterator[tuple[BadBank, str]]:
    bank = BadBank()
    with serve_app(bank) as url:
        yield bank, url


@pytest.fixture
def inside() -> Iterator[HostileBank]:
    """What a link leads to; nobody may ever come."""
    with running_hostile_bank(answer(b"{}")) as inside:
        yield inside
        assert inside.visits == []


def disguise(inside: str, bank: str) -> list[str]:
    """An address inside, as different programs may read it."""
    host, own = inside.removeprefix("http://"), bank.removeprefix("http://")
    port = host.rpartition(":")[2]
    return [
        inside,
        f"{inside}/v1/consents",
        f"//{host}/v1",
        f"///{host}/v1",
        f"\\\\{host}\\v1",
        f"http:\\\\{host}",
        f"http://{own}@{host}/",
        f"http://{own}\\@{host}/",
        f"http://{own}#@{host}/",
        f"http://{own}%2f@{host}/",
        f"http://localhost:{port}/",
        f"http://[::ffff:127.0.0.1]:{port}/",
        f"http://2130706433:{port}/",
        f"http://127.1:{port}/",
        f"http://0:{port}/",
        f" {inside}",
        f"\t{inside}",
        f"ht\ntp://{host}/",
        f"HTTP://{host}/",
        f"https://{host}/",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "gopher://127.0.0.1:5432/_",
        "javascript:alert(1)",
        "",
        "http://",
        "http://[::1",
        "\ud800",
    ]


def talk(url: str, **profile: Any) -> Dialogue:
    bank = Xs2aBank(url, client_id="kontor", **profile)
    return Dialogue(Xs2aConnector(lambda provider: bank, Xs2aSettings(read_seconds=5)), "somebody", pin=PIN)


def walk(dialogue: Dialogue, step: Any) -> Any:
    """On with whatever is asked, to the end."""
    for _ in range(5):
        if isinstance(step, Progress):
            step = dialogue.resume(step, Continue())
        elif isinstance(step, NeedTan):
            step = dialogue.resume(step, Tan(Secret("123456")))
        elif isinstance(step, NeedRedirect):
            step = dialogue.resume(step, Returned("code=1"))
        elif not isinstance(step, Failed) and hasattr(step, "state"):
            step = dialogue.resume(step, Poll())
        else:
            break
    return step


@pytest.mark.parametrize("name", NAMES)
def test_no_link_of_a_consent_leads_elsewhere(bad_bank, inside, name):
    bank, url = bad_bank
    for link in disguise(inside.url, url):
        links = {"self": {"href": "/v1/consents/1"}, name: {"href": link}}
        bank.wrong = {
            "POST /v1/consents": json.dumps(CONSENT | {"scaMethods": [METHOD], "_links": links}).encode(),
        }
        dialogue = talk(url)
        assert PIN not in repr(walk(dialogue, dialogue.begin())), link


@pytest.mark.parametrize("name", NAMES)
def test_no_link_of_an_authorisation_leads_elsewhere(bad_bank, inside, name):
    bank, url = bad_bank
    for link in disguise(inside.url, url):
        told = {"scaStatus": "received", "scaMethods": [METHOD], "_links": {name: {"href": link}}}
        bank.wrong = {f"{method} {AUTHORISATIONS}": json.dumps(told).encode() for method in ("POST", "PUT")}
        dialogue = talk(url)
        assert PIN not in repr(walk(dialogue, dialogue.begin())), link


@pytest.mark.parametrize("name", ["account", "balances", "transactions"])
def test_no_link_of_an_account_leads_elsewhere(bad_bank, inside, name):
    bank, url = bad_bank
    for link in disguise(inside.url, url):
        account = {key: value for key, value in ACCOUNT.items() if key != "balances"}
        listed = {"accounts": [account | {"_links": ACCOUNT["_links"] | {name: {"href": link}}}]}
        bank.wrong = {"GET /v1/accounts": json.dumps(listed).encode()}
        dialogue = talk(url)
        walk(dialogue, dialogue.begin())


def test_no_next_page_leads_elsewhere(bad_bank, inside):
    bank, url = bad_bank
    for link in disguise(inside.url, url):
        report = {"transactions": {"booked": [ROW], "_links": {"next": {"href": link}}}}
        bank.wrong = {"GET /v1/accounts/1/transactions": json.dumps(report).encode()}
        dialogue = talk(url)
        walk(dialogue, dialogue.begin())


@pytest.mark.parametrize("name", ["token_endpoint", "issuer", "jwks_uri", "introspection_endpoint"])
def test_no_metadata_of_an_oauth_server_lead_elsewhere(bad_bank, inside, name):
    bank, url = bad_bank
    for link in disguise(inside.url, url):
        told = {"authorization_endpoint": f"{url}/authorise", "token_endpoint": f"{url}/token", name: link}
        bank.wrong = {"GET /metadata": json.dumps(told).encode()}
        dialogue = talk(url, discovery_address="/metadata")
        step = dialogue.begin()
        if isinstance(step, NeedRedirect):
            state = step.state["oauth"]["state"]
            assert isinstance(dialogue.resume(step, Returned(f"code=1&state={state}")), Failed), link


@pytest.mark.parametrize("name", NAMES)
def test_no_link_of_a_payment_leads_elsewhere(bad_bank, inside, name):
    bank, url = bad_bank
    job = Pay(uuid4(), str(ACCOUNT["iban"]), (Order("A", "DE89370400440532013000", Decimal(1), "EUR", "x"),))
    for link in disguise(inside.url, url):
        told = {"transactionStatus": "RCVD", "paymentId": "1", "_links": {name: {"href": link}}}
        bank.wrong = {"POST /v1/payments/sepa-credit-transfers": json.dumps(told).encode()}
        dialogue = talk(url)
        assert PIN not in repr(walk(dialogue, dialogue.begin(job))), link


PAGES = [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//bank.example/page",
    "/page",
    "",
    'https://bank.example/"onmouseover="alert(1)',
    "https://bank.example/<script>",
    "https://bank.example/\r\nSet-Cookie: a=b",
    "https://bank.example/a b",
    "https://bank.example/\\",
    "https://bänk.example/\u202e",
    "https://",
    "https://[::1",
]


@pytest.mark.parametrize("page", PAGES)
def test_a_customer_is_not_sent_to_a_page_that_is_none(bad_bank, page):
    bank, url = bad_bank
    links = {"self": {"href": "/v1/consents/1"}, "scaRedirect": {"href": page}}
    bank.wrong = {"POST /v1/consents": CONSENT | {"_links": links}}
    assert isinstance(talk(url).begin(), Failed)
    bank.wrong = {"GET /metadata": {"authorization_endpoint": page, "token_endpoint": f"{url}/token"}}
    assert isinstance(talk(url, discovery_address="/metadata").begin(), Failed)


@pytest.mark.parametrize("number", ["ä", "1\r\nX-Other: 2", "\ud83d", "", "../../admin", "a" * 200_000])
def test_the_number_of_a_consent_is_a_header_or_a_failure(bad_bank, number):
    bank, url = bad_bank
    bank.wrong = {"POST /v1/consents": json.dumps(CONSENT | {"consentId": number}).encode()}
    dialogue = talk(url)
    walk(dialogue, dialogue.begin())


@pytest.mark.parametrize("token", ["ä", "1\r\nX-Other: 2", "a b", "a" * 200_000])
def test_a_token_is_a_header_or_a_failure(bad_bank, token):
    bank, url = bad_bank
    bank.wrong = {
        "GET /metadata": {"authorization_endpoint": f"{url}/authorise", "token_endpoint": f"{url}/token"},
        "POST /token": json.dumps({"access_token": token, "expires_in": 10**30}).encode(),
        "POST /v1/consents": RIGHT["POST /v1/consents"],
    }
    dialogue = talk(url, discovery_address="/metadata")
    step = dialogue.begin()
    state = step.state["oauth"]["state"]
    walk(dialogue, dialogue.resume(step, Returned(f"code=1&state={state}")))
