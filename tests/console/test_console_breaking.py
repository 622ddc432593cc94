"""What nobody should send to the console, and what happens when others act at the same time."""

import asyncio
import base64
import json

import httpx
import pytest

from banking import ACCESSES, new_customer
from console_site import ConsoleSite, password_of, read_token
from kontor.config import Settings
from kontor.console.clients import ConsoleClient
from kontor.console.entries import read_entries
from kontor.console.sessions import Role, Session, SessionCookies
from kontor.console.signing_in import SigningIn, name_user_problem
from kontor.domain.secrets import Secret
from kontor_client import ApiError, AsyncKontor
from plain_http import plain_client

BROWSER = {"Accept": "text/html,*/*;q=0.8"}
ACCOUNTS = "/console/accounts"


@pytest.mark.parametrize(
    "path",
    [
        "/customer/v2/../../openapi.json",
        "/customer/v2/%2e%2e/%2e%2e/metrics",
        "/customer/v2/..\\..",
        "/customer/v2x",
        "/customer/v2/\x00",
        "/customer/v2/\r\nHost: evil",
        "/customer/v2/ü",
        "//evil/customer/v2",
        "https://evil/customer/v2",
        "/customer/v2/export?format=csv",
    ],
)
def test_the_panel_of_calls_opens_nothing_but_json_of_the_api(console_site: ConsoleSite, path: str):
    with console_site.visit() as visitor:
        assert visitor.get("/console/json", params={"path": path}).status_code == 400


def test_the_panel_of_calls_asks_whoever_is_signed_out_to_sign_in(console_site: ConsoleSite):
    with plain_client(base_url=console_site.address) as stranger:
        for path, form in ((ACCESSES, "/console/sign-in"), ("/ops/v1/tenants", "/console/ops/sign-in")):
            assert stranger.get("/console/json", params={"path": path}).headers["location"] == form
        stranger.cookies.set("kontor-console", _make_cookie("invalid"))
        answer = stranger.get("/console/json", params={"path": ACCESSES})
        assert answer.headers["location"] == "/console/sign-in?notice=expired"
        assert "Max-Age=0" in answer.headers["set-cookie"]


@pytest.mark.parametrize("token", ["ü", "a\r\nb", "\x00", "\U0001f600"])
def test_a_cookie_with_a_token_that_no_header_can_have_is_none(console_site: ConsoleSite, token: str):
    with plain_client(base_url=console_site.address, cookies={"kontor-console": _make_cookie(token)}) as stranger:
        for path in (ACCOUNTS, "/console/data/export"):
            answer = stranger.get(path)
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/console/sign-in")


def _make_cookie(token: str) -> str:
    session = {"token": token, "role": "user", "name": "x"}
    return base64.urlsafe_b64encode(json.dumps(session).encode()).decode()


@pytest.mark.parametrize(
    ("back", "location"),
    [
        ("/console/a\r\nSet-Cookie: x=y", "/console/a%0D%0ASet-Cookie:%20x=y"),
        ("/console/\x00", "/console/%00"),
        ("/console/\U0001f600?a=%20", "/console/%F0%9F%98%80?a=%20"),
    ],
)
def test_an_address_to_go_on_to_is_written_as_a_header_can_have_it(console_site: ConsoleSite, back: str, location: str):
    with plain_client(base_url=console_site.address) as stranger:
        answer = stranger.post("/console/language", data={"language": "en", "back": back})
        assert (answer.status_code, answer.headers["location"]) == (303, location)
        rich = console_site.rich
        form = {"action": "user", "tenant": rich.tenant.name, "username": rich.username, "next": back}
        answer = stranger.post("/console/sign-in", data=form | {"password": password_of(rich)})
        assert (answer.status_code, answer.headers["location"]) == (303, location)


def test_refreshing_a_bank_that_another_tab_deleted_begins_no_new_one(console_site: ConsoleSite):
    customer = new_customer(console_site.redirecting)
    with console_site.visit(customer) as visitor:
        token = read_token(visitor.get(ACCOUNTS).text)
        answer = visitor.post(ACCOUNTS, data={"action": "refresh", "token": token, "access": "deleted"})
        assert (answer.status_code, answer.headers["location"]) == (303, ACCOUNTS)
        assert customer.read(ACCESSES) == {}


def test_the_page_of_a_huge_amount_is_found_without_it():
    row = {"id": "t", "buchungsdatum": "2026-11-01 00:00:00", "betrag": 10**15, "waehrung": "EUR"}
    assert read_entries([row])[0].find_url("a", "p").endswith("/t?on=2026-11-01")
    assert "amount=-7" in read_entries([row | {"betrag": -7}])[0].find_url("a", "p")


def test_a_refused_client_of_the_console_is_not_blamed_on_the_user():
    assert name_user_problem(ApiError(401, [], text="invalid_client: The client is unknown.")) == "client"
    assert name_user_problem(ApiError(401, [], text="invalid_grant: The user is unknown.")) == "wrong"


def test_signing_out_goes_on_when_the_service_does_not_take_the_token_back(settings: Settings):
    asked = []

    def refuse(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, request.content))
        return httpx.Response(503)

    def connect(_request: object, token: str | None) -> AsyncKontor:
        return AsyncKontor("http://kontor.test", token, transport=httpx.MockTransport(refuse), retries=0)

    clients = {"acme": ConsoleClient("acme/console", Secret("s"))}
    signing_in = SigningIn(settings, SessionCookies(is_https=False, idle_seconds=1800), connect, clients, None, None)
    asyncio.run(signing_in.revoke(None, Session("a&b", Role.USER, "anna", "acme")))  # type: ignore[arg-type]
    assert asked == [("/auth/oauth2/revoke", b"token=a%26b")]


def test_the_root_leads_to_the_console(console_site):
    with plain_client(base_url=console_site.address) as stranger:
        answer = stranger.get("/", headers=BROWSER)
        assert stranger.get("/").status_code == 404, "programs have nothing to do there"
    assert (answer.status_code, answer.headers["location"]) == (303, "/console")


@pytest.mark.parametrize(
    "path", ["/console/nowhere", "/console/ops/nowhere", "/console/accounts/a", "/console/contracts/a/b/c"]
)
def test_an_unknown_page_is_a_page(console_site, path):
    with plain_client(base_url=console_site.address) as stranger:
        answer = stranger.get(path, headers=BROWSER)
        assert stranger.get(path).headers["content-type"] == "application/json"
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "Diese Seite gibt es nicht." in answer.text
