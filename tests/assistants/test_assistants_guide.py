"""docs/guides/assistants.md on a new user's machine: the file for an assistant, and the sign-in over the network."""

import json
import os

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from assistants.granting import LOOPBACK, Assistant
from assistants.talking import ask, talk
from banking import BankCustomer
from guide_code import Guide, with_programs
from kontor.config import Settings
from kontor.services.bundle import Services
from process_tree import clean_environment
from processes import run_kontor
from tenants import TenantUnderTest

GUIDE = Guide("guides/assistants.md")


async def test_the_file_for_an_assistant_starts_kontor_beside_it(
    bank_server: str, customer: BankCustomer, shared: TenantUnderTest, standing_services: Services,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    key = await standing_services.tokens.create_api_key(shared.name, "app", customer.username, None)
    values = {"KONTOR_BASE_URL": bank_server, "KONTOR_MCP_API_KEY": key.reveal()}
    server = json.loads(GUIDE.list_blocks("json")[0])["mcpServers"]["kontor"]
    assert server["env"].keys() == values.keys()
    # Programs are looked for in the caller's path, as an assistant does it.
    monkeypatch.setenv("PATH", with_programs(os.environ["PATH"]))
    environment = clean_environment() | {"PATH": os.environ["PATH"]} | values
    program = StdioServerParameters(command=server["command"], args=server["args"], env=environment)
    async with Client(stdio_client(program), mode="legacy") as client:
        assert await ask(client, "list_accounts") == {"accounts": [], "totals": []}


async def test_a_registered_assistant_is_let_in_and_reads(
    bank_server: str, customer: BankCustomer, shared: TenantUnderTest, settings: Settings
) -> None:
    [command] = GUIDE.list_commands()
    assert command[:3] == ["kontor", "client", "create-assistant"]
    assert command[command.index("--redirect-address") + 1] == LOOPBACK
    made = run_kontor(settings, *(shared.name if word == "demo" else word for word in command[1:]), "--json")
    facts = json.loads(made.stdout)
    client_id = next(value for value in facts.values() if value == f"{shared.name}/helper")
    assert not [name for name in facts if "secret" in name or "password" in name]
    assistant = Assistant(client_id, customer, bank_server)
    code = assistant.agree(redirect_uri=LOOPBACK)["code"]
    tokens = assistant.exchange(code, redirect_uri=LOOPBACK).json()
    async with talk(bank_server, tokens["access_token"]) as client:
        assert await ask(client, "list_accounts") == {"accounts": [], "totals": []}
