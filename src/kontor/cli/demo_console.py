"""What the demo's console needs: a client in each demo tenant, a user with data, and an adviser who may read of it."""

import base64
import secrets
from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from kontor.cli.demo_tenants import ADVISER_ROLE, CONSOLE_CLIENT, TENANTS, assign_role, ensure_clients
from kontor.config import Settings
from kontor.domain.disclosures import DisclosureScope
from kontor.domain.principals import Principal
from kontor.domain.secrets import Secret
from kontor.services.accesses import AccessRequest
from kontor.services.bundle import Services
from kontor.services.identity import ClientLogin, NewUser, TokenRequest

OPERATOR = "demo"
OPERATOR_DAYS = 365
SAMPLE_TENANT = "demo-redirect"  # its users add banks through the web form, which is worth seeing
SAMPLE_USERNAME = "erika"
SAMPLE_PERSON = "hauskauf"
SAMPLE_ACCESS = "hausbank"
ADVISER_USERNAME = "beraterin"
SHARED_DAYS = 365
DEMO_BANK = UUID(int=0)


async def ensure_console(services: Services, base_url: str, known: Any) -> dict[str, Any]:
    """Create what is missing. What an earlier `console.json` knew is kept as long as it is whole."""
    url = f"{base_url}/console"
    if isinstance(known, dict) and set(known) == {"url", "clients", "sample", "adviser", "operatorToken"}:
        return known | {"url": url}
    clients = {}
    for tenant in TENANTS:
        await ensure_clients(services, tenant)  # an older demo has none for the console
        secret = await services.tenant_administration.renew_client_secret(tenant, CONSOLE_CLIENT)
        clients[f"{tenant}/{CONSOLE_CLIENT}"] = secret
    return {
        "url": url,
        "clients": clients,
        "sample": await _create_user(services, SAMPLE_USERNAME),
        "adviser": await _create_adviser(services),
        "operatorToken": await _create_operator(services),
    }


async def _create_operator(services: Services) -> str:
    """For the pages under /console/ops. One whose token was lost with console.json is replaced."""
    if OPERATOR in {operator.name for operator in await services.operators.list_operators()}:
        await services.operators.delete_operator(OPERATOR)
    _, token = await services.operators.create_operator(OPERATOR, OPERATOR_DAYS)
    return token.reveal()


async def _create_adviser(services: Services) -> dict[str, str]:
    adviser = await _create_user(services, ADVISER_USERNAME)
    await assign_role(services, SAMPLE_TENANT, CONSOLE_CLIENT, ADVISER_ROLE, UUID(adviser["reference"]))
    return adviser


async def _create_user(services: Services, wanted: str) -> dict[str, str]:
    taken = {user.username for user in await services.users.list_users_by_operator(SAMPLE_TENANT)}
    username = wanted
    while username in taken:  # its password was lost with console.json
        username = f"{wanted}-{secrets.token_hex(2)}"
    password = secrets.token_urlsafe(12)
    user = await services.users.create_user_by_operator(SAMPLE_TENANT, NewUser(username, Secret(password)))
    return {"tenant": SAMPLE_TENANT, "username": username, "password": password, "reference": str(user.id)}


async def prepare_sample(services: Services, facts: dict[str, Any], today: date) -> None:
    """The sample user's access, and what she shares with the adviser. A worker must run: this waits until the bank
    has named its accounts."""
    principal = await _sign_in(services, facts)
    if principal is None:
        return
    if not await services.accesses.exists(principal, SAMPLE_ACCESS):
        credentials = {
            name: base64.b64encode(await services.encryption.encrypt(principal, value.encode())).decode()
            for name, value in (("userid", SAMPLE_PERSON), ("pin", "demo"))
        }
        wanted = {SAMPLE_ACCESS: AccessRequest(DEMO_BANK, credentials, True, purpose="Haushaltsbuch")}
        await services.accesses.add_accesses(principal, wanted, refresh=False, is_attended=True)
    disclosures = services.analyses.disclosures
    adviser_id = UUID(facts["adviser"]["reference"])
    given = await disclosures.list_disclosures(principal)
    if not any(found.adviser_id == adviser_id and found.valid_until >= today for found in given):
        until = today + timedelta(days=SHARED_DAYS)
        await disclosures.add_disclosure(principal, list(DisclosureScope), until, adviser_id)


async def _sign_in(services: Services, facts: dict[str, Any]) -> Principal | None:
    sample, client = facts["sample"], f"{SAMPLE_TENANT}/{CONSOLE_CLIENT}"
    login = ClientLogin(client, Secret(facts["clients"][client]), "127.0.0.1")
    request = TokenRequest("password", None, sample["username"], Secret(sample["password"]))
    return await services.tokens.authenticate((await services.tokens.issue_token(login, request)).token.reveal())


def add_console(settings: Settings, facts: dict[str, Any]) -> Settings:
    """Settings for the API, which serves the console."""
    clients = " ".join(f"{name}:{secret}" for name, secret in facts["clients"].items())
    return replace(
        settings,
        console_clients=Secret(clients),
        console_sample=_write_login(facts["sample"]),
        console_sample_adviser=_write_login(facts["adviser"]),
    )


def _write_login(user: dict[str, str]) -> Secret:
    return Secret(f"{user['tenant']}/{user['username']}:{user['password']}")
