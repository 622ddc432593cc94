"""`kontor mcp` as a program, and what the library for MCP costs those who do not use it."""

import subprocess
import sys
import tomllib
from pathlib import Path

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from assistants.talking import ask
from banking import BankCustomer
from process_tree import KONTOR, clean_environment

LOADED = """
import sys
import kontor.bootstrap, kontor.api.app, kontor.console, kontor.assistants, kontor.webform, kontor.cli.commands
print([name for name in ("mcp", "mcp_types", "pydantic", "starlette", "uvicorn") if name in sys.modules])
"""


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*KONTOR, "mcp", *arguments], env=clean_environment() | environment, capture_output=True, text=True, input="",
        timeout=120, check=False,
    )  # fmt: skip


async def test_an_assistant_talks_over_stdio(bank_server: str, customer: BankCustomer) -> None:
    environment = clean_environment() | {"KONTOR_BASE_URL": bank_server, "KONTOR_MCP_TOKEN": customer.token}
    command, *arguments = [*KONTOR, "mcp", "--language", "en"]
    program = StdioServerParameters(command=command, args=arguments, env=environment)
    async with Client(stdio_client(program), mode="legacy") as client:
        assert "list_accounts" in [tool.name for tool in (await client.list_tools()).tools]
        assert await ask(client, "list_accounts") == {"accounts": [], "totals": []}


def test_without_a_token_the_command_says_what_it_needs(bank_server: str) -> None:
    ended = run({"KONTOR_BASE_URL": bank_server})
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "KONTOR_MCP_TOKEN or KONTOR_MCP_API_KEY" in ended.stderr


def test_a_token_that_has_ended_is_told_at_the_start(bank_server: str) -> None:
    ended = run({"KONTOR_BASE_URL": bank_server, "KONTOR_MCP_TOKEN": "kontor_at_ended"})
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "refuses the token" in ended.stderr
    assert "kontor_at_ended" not in ended.stderr


def test_nothing_but_a_call_of_mcp_loads_its_library() -> None:
    found = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.strip() == "[]"


def test_the_library_is_an_extra_of_its_own() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = {name: [entry for entry in found if entry.startswith("mcp")] for name, found in extras.items()}
    assert [name for name, found in named.items() if found] == ["mcp"]
    assert not any(entry.startswith("mcp") for entry in project["dependencies"])
