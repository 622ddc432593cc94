"""What the demo's console needs: a client in each demo tenant, and a user with data whom everybody may look at."""

import base64
import secrets
from dataclasses import replace
from typing import Any
from uuid import UUID

from kontor.cli.demo_tenants import CONSOLE_CLIENT, TENANTS, ensure_clients
from kontor.config import Settings
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
DEMO_BANK = UUID(int=0)


async def ensure_console(services: Services, base_url: str, known: Any) -> dict[str, Any]:
    """Create what is missing. What an earlier `console.json` knew is kept as long as it is whole."""
    url = f"{base_url}/console"
    if isinstance(known, dict) and set(known) == {"url", "clients", "sample", "operatorToken"}:
        return known | {"url": url}
    clients = {}
    for tenant in TENANTS:
        await ensure_clients(services, tenant)  # an older demo has none for the console
        secret = await services.tenant_administration.renew_client_secret(tenant, CONSOLE_CLIENT)
        clients[f"{tenant}/{CONSOLE_CLIENT}"] = secret
    return {
        "url": url,
        "clients": clients,
        "sample": await _create_sample(services),
        "operatorToken": await _create_operator(services),
    }


async def _create_operator(services: Services) -> str:
    """For the pages under /console/ops. One whose token was lost with console.json is replaced."""
    if OPERATOR in {operator.name for operator in await services.operators.list_operators()}:
        await services.operators.delete_operator(OPERATOR)
    _, token = await services.operators.create_operator(OPERATOR, OPERATOR_DAYS)
    return token.reveal()


async def _create_sample(services: Services) -> dict[str, str]:
    taken = {user.username for user in await services.users.list_users_by_operator(SAMPLE_TENANT)}
    username = SAMPLE_USERNAME
    while username in taken:  # its password was lost with console.json
        username = f"{SAMPLE_USERNAME}-{secrets.token_hex(2)}"
    password = secrets.token_urlsafe(12)
    await services.users.create_user_by_operator(SAMPLE_TENANT, NewUser(username, Secret(password)))
    return {"tenant": SAMPLE_TENANT, "username": username, "password": password}


async def add_sample_bank(services: Services, facts: dict[str, Any]) -> None:
    """The sample user's access. A worker must run: this waits until the bank has named its accounts."""
    sample = facts["sample"]
    client = f"{SAMPLE_TENANT}/{CONSOLE_CLIENT}"
    login = ClientLogin(client, Secret(facts["clients"][client]), "127.0.0.1")
    request = TokenRequest("password", None, sample["username"], Secret(sample["password"]))
    principal = await services.tokens.authenticate((await services.tokens.issue_token(login, request)).token.reveal())
    if principal is None or await services.accesses.exists(principal, SAMPLE_ACCESS):
        return
    credentials = {
        name: base64.b64encode(await services.encryption.encrypt(principal, value.encode())).decode()
        for name, value in (("userid", SAMPLE_PERSON), ("pin", "demo"))
    }
    wanted = {SAMPLE_ACCESS: AccessRequest(DEMO_BANK, credentials, True)}
    await services.accesses.add_accesses(principal, wanted, refresh=False, is_attended=True)


def add_console(settings: Settings, facts: dict[str, Any]) -> Settings:
    """Settings for the API, which serves the console."""
    sample = facts["sample"]
    clients = " ".join(f"{name}:{secret}" for name, secret in facts["clients"].items())
    shown = f"{sample['tenant']}/{sample['username']}:{sample['password']}"
    return replace(settings, console_clients=Secret(clients), console_sample=Secret(shown))
