"""The MCP Inspector, which its makers check servers with: over HTTP, and with `kontor mcp` as its child."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from banking import BankCustomer, new_customer
from process_tree import KONTOR
from tenants import TenantUnderTest

pytestmark = pytest.mark.peers
PROGRAM = Path(sys.executable).parents[1] / "peers" / "node_modules" / ".bin" / "mcp-inspector"


@pytest.fixture(scope="module")
def student(bank_server: str, shared: TenantUnderTest) -> BankCustomer:
    customer = new_customer(shared)
    customer.add_complete("student+inspector")
    return customer


@pytest.fixture(params=["http", "stdio"])
def target(request: pytest.FixtureRequest, bank_server: str, student: BankCustomer) -> list[str]:
    """How the Inspector is told which server to talk to."""
    if request.param == "http":
        header = f"Authorization: Bearer {student.token}"
        return [f"{bank_server}/mcp", "--transport", "http", "--header", header]
    settings = ["-e", f"KONTOR_BASE_URL={bank_server}", "-e", f"KONTOR_MCP_TOKEN={student.token}"]
    return [*settings, "--", *KONTOR, "mcp"]


def inspect(target: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", str(PROGRAM), "--cli", *target, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def read(target: list[str], *arguments: str) -> Any:
    done = inspect(target, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_lists_the_tools_and_their_schemas(target: list[str]) -> None:
    tools = {tool["name"]: tool for tool in read(target, "--method", "tools/list")["tools"]}
    assert {"list_accounts", "search_transactions", "apply_change"} <= tools.keys()
    for tool in tools.values():
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"


def test_a_call_answers_what_the_api_says(target: list[str], student: BankCustomer) -> None:
    answer = read(target, "--method", "tools/call", "--tool-name", "list_accounts")
    products = [
        product for access in student.read("/customer/v2/bankzugaenge").values() for product in access["bankprodukte"]
    ]
    assert products
    assert {account["id"] for account in answer["structuredContent"]["accounts"]} == {item["id"] for item in products}


def test_arguments_arrive_with_their_types(target: list[str]) -> None:
    call = ("--method", "tools/call", "--tool-name", "search_transactions")
    answer = read(target, *call, "--tool-arg", "direction=out", "limit=3")
    rows = answer["structuredContent"]["transactions"]
    assert len(rows) == 3
    assert all(row["amount"].startswith("-") for row in rows)


def test_a_refusal_is_an_error_of_the_tool(target: list[str]) -> None:
    answer = read(target, "--method", "tools/call", "--tool-name", "apply_change", "--tool-arg", "handle=AAAA")
    assert answer["isError"]
    assert answer["content"][0]["text"]


def test_a_wrong_token_is_refused(bank_server: str) -> None:
    target = [f"{bank_server}/mcp", "--transport", "http", "--header", "Authorization: Bearer kontor_at_unknown"]
    done = inspect(target, "--method", "tools/list")
    assert done.returncode != 0
    assert "401" in done.stderr or "invalid" in done.stderr
