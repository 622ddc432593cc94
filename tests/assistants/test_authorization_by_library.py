"""Sign-in by the OAuth client of the official library: it finds everything out from the address of `/mcp` alone."""

from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from assistants.granting import FIELD, HREF
from assistants.talking import ask
from banking import BankCustomer
from kontor.domain.scopes import CUSTOMER_READ
from kontor.services.bundle import Services
from plain_http import plain_client
from tenants import TenantUnderTest
from timeouts import WAIT_TIMEOUT_SECONDS

BACK = "http://127.0.0.1:41000/callback"


class Storage:
    """What the assistant knows: the `client_id` that the operator gave it, and later its tokens."""

    def __init__(self, client_id: str) -> None:
        self.client = OAuthClientInformationFull(
            client_id=client_id, redirect_uris=[BACK], token_endpoint_auth_method="none"
        )
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        raise AssertionError("there is no dynamic registration")


class Person:
    """The browser: signs in, agrees or declines, and is sent back to the assistant."""

    def __init__(self, customer: BankCustomer, action: str = "agree") -> None:
        self.customer, self.action, self.asked = customer, action, 0
        self.answer: dict[str, str] = {}

    async def open(self, address: str) -> None:
        self.asked += 1
        form = {"username": self.customer.username, "password": f"password of {self.customer.username}"}
        with plain_client(timeout=WAIT_TIMEOUT_SECONDS) as browser:
            page = browser.get(address)
            assert page.status_code == 200, page.text
            signed_in = browser.post(address, data=dict(FIELD.findall(page.text)) | form | {"action": "sign_in"})
            end = browser.post(address, data=dict(FIELD.findall(signed_in.text)) | {"action": self.action})
        target = HREF.search(end.text)
        assert target is not None, end.text
        back = target[1].replace("&amp;", "&")
        assert back.startswith(f"{BACK}?")
        self.answer = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            code=self.answer.get("code", ""), state=self.answer["state"], iss=self.answer.get("iss")
        )


@pytest.fixture
async def storage(standing_services: Services, shared: TenantUnderTest) -> Storage:
    administration = standing_services.tenant_administration
    name = f"assistant-{uuid4().hex[:8]}"
    made = await administration.create_assistant(shared.name, name, ["http://127.0.0.1/callback"], "Library")
    return Storage(made.username)


@asynccontextmanager
async def talk_as(storage: Storage, person: Person, server: str) -> Any:
    metadata = OAuthClientMetadata(redirect_uris=[BACK], token_endpoint_auth_method="none", scope=CUSTOMER_READ)
    address = f"{server}/mcp"
    sign_in = OAuthClientProvider(address, metadata, storage, person.open, person.come_back)
    async with (
        httpx2.AsyncClient(auth=sign_in, timeout=WAIT_TIMEOUT_SECONDS, trust_env=False) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def test_the_library_signs_in_and_reads(bank_server: str, customer: BankCustomer, storage: Storage) -> None:
    person = Person(customer)
    async with talk_as(storage, person, bank_server) as client:
        assert await ask(client, "list_accounts") == {"accounts": [], "totals": []}
    assert storage.tokens is not None
    assert storage.tokens.scope == CUSTOMER_READ
    [listed] = [entry for entry in customer.read("/customer/v2/tokens") if entry.get("grant")]
    assert listed["client"] == storage.client.client_id.partition("/")[2]
    assert person.asked == 1


async def test_the_library_renews_its_token_without_the_person(
    bank_server: str, customer: BankCustomer, storage: Storage, shared: TenantUnderTest
) -> None:
    person = Person(customer)
    async with talk_as(storage, person, bank_server) as client:
        await ask(client, "list_accounts")
        first = storage.tokens
        assert first is not None
    storage.tokens = first.model_copy(update={"expires_in": -1, "access_token": "kontor_at_ended"})
    async with talk_as(storage, person, bank_server) as client:
        assert await ask(client, "list_accounts") == {"accounts": [], "totals": []}
    assert storage.tokens.access_token != first.access_token
    assert storage.tokens.refresh_token != first.refresh_token


async def test_the_library_is_told_that_the_person_declined(
    bank_server: str, customer: BankCustomer, storage: Storage
) -> None:
    person = Person(customer, action="decline")
    with pytest.raises(Exception) as refused:
        async with talk_as(storage, person, bank_server) as client:
            await ask(client, "list_accounts")
    assert "No authorization code" in "".join(map(str, list_leaves(refused.value)))
    assert storage.tokens is None
    assert person.answer["error"] == "access_denied"


def list_leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for part in error.exceptions for leaf in list_leaves(part)]
    return [error]
