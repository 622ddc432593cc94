"""The console at a host of its own: its forms come from there, and its ways to the web form and back are named."""

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from console_site import read_token
from kontor import console, webform
from kontor.api.app import make_app
from kontor.bootstrap import open_services
from kontor.config import SettingError, read_settings
from kontor.domain.secrets import Secret
from lifespans import serving
from tenants import create_tenant

API, CONSOLE = "https://api.example.com", "https://example.com"  # the latter is a callback base of the tenant


@pytest.fixture
async def visitor(settings, services, http):
    """A browser at the console, and the tenant that its form names."""
    tenant = await create_tenant(services, http, is_regulated=False)
    own = replace(
        settings,
        pool_size=4,
        base_url=API,
        console_url=CONSOLE,
        console_clients=Secret(":".join(tenant.app)),
    )
    app = make_app(
        own,
        lambda: open_services(own, "kontor tests"),
        pages=[webform.make_routes],
        api_pages=[console.make_routes],
        missing_pages={},
    )
    async with (
        serving(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=CONSOLE, timeout=60) as client,
    ):
        form = {"action": "user", "tenant": tenant.name, "username": tenant.username, "password": tenant.password}
        yield client, form


async def test_forms_are_accepted_from_the_consoles_own_host_alone(visitor):
    client, form = visitor
    for origin, status in ((API, 403), ("https://evil.example", 403), (CONSOLE, 303)):
        answer = await client.post("/console/sign-in", data=form, headers={"Origin": origin})
        assert answer.status_code == status, origin
    assert answer.headers["set-cookie"].startswith("__Host-kontor-console=")
    page = await client.get("/console/accounts")
    action = {"action": "connect", "token": read_token(page.text)}
    answer = await client.post("/console/accounts", data=action, headers={"Origin": API})
    assert answer.status_code == 403


async def test_the_web_form_is_at_the_apis_host_and_leads_back_to_the_consoles(visitor):
    client, form = visitor
    assert (await client.post("/console/sign-in", data=form, headers={"Origin": CONSOLE})).status_code == 303
    page = await client.get("/console/accounts")
    # Browsers hold the redirect after a form against the page's policy.
    assert f"form-action 'self' {API};" in page.headers["content-security-policy"]
    action = {"action": "connect", "token": read_token(page.text)}
    answer = await client.post("/console/accounts", data=action, headers={"Origin": CONSOLE})
    assert answer.headers["location"].startswith(f"{API}/customer/v2/webform?")
    query = dict(parse_qsl(urlsplit(answer.headers["location"]).query))
    assert query["callbackUrl"] == f"{CONSOLE}/console/accounts"


@pytest.mark.parametrize("address", ["console.example.com", "https://console.example.com/"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(SettingError, match="KONTOR_CONSOLE_URL"):
        read_settings({"KONTOR_CONSOLE_URL": address})


def test_without_a_host_of_its_own_the_console_is_at_that_of_the_api():
    assert read_settings({"KONTOR_BASE_URL": API}).console_address == API
