"""Several processes answer at `/mcp`, as behind a load balancer: each request may reach another one."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from assistants.talking import ask
from banking import BankCustomer, href
from kontor.config import Settings
from processes import free_port, running_server
from timeouts import WAIT_TIMEOUT_SECONDS


class Balancer(httpx2.AsyncBaseTransport):
    """Sends each request to the next process."""

    def __init__(self, ports: list[int]) -> None:
        self._ports, self._inner = cycle(ports), httpx2.AsyncHTTPTransport()
        self.sent: list[tuple[int, str]] = []

    async def handle_async_request(self, request: Any) -> Any:
        port = next(self._ports)
        self.sent.append((port, request.method))
        request.url = request.url.copy_with(port=port)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


@pytest.fixture(scope="module")
def ports(bank_server: str, shared_settings: Settings, data_dir: Path, program: list[str]) -> Iterator[list[int]]:
    """Of two processes with one database."""
    second = replace(shared_settings, base_url=f"http://127.0.0.1:{free_port()}")
    with running_server(second, data_dir / "second-mcp.log", program=program) as address:
        yield [int(base.rpartition(":")[2]) for base in (bank_server, address)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_conversation_goes_on_at_another_process(
    ports: list[int], bank_server: str, customer: BankCustomer, mode: Any
) -> None:
    """Handshake, list, preview and change: there is no session that a process would have to remember."""
    access = customer.add_complete("leer")
    row = {"betrag": -12.5, "buchungsdatum": "2026-01-02 00:00:00", "verwendungszweck": "Brot"}
    product = customer.product(access, "GIROKONTO")
    added = customer.post(href(product, "get_kontoumsaetze"), [row | {"identifier": {"batchId": "b"}}])
    assert added.status_code == 201, added.text
    balancer = Balancer(ports)
    headers = {"Authorization": f"Bearer {customer.token}", "Accept-Language": "en"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=WAIT_TIMEOUT_SECONDS, transport=balancer) as http,
        Client(streamable_http_client(f"{bank_server}/mcp", http_client=http), mode=mode) as client,
    ):
        for _ in range(2):
            assert "apply_change" in [tool.name for tool in (await client.list_tools()).tools]
        [bread] = (await ask(client, "search_transactions", text="brot"))["transactions"]
        wanted = {"transactions": [bread["id"]], "category": "LIVING_OTHER"}
        first = len(balancer.sent)
        preview = await ask(client, "preview_category_change", **wanted)
        await ask(client, "apply_change", handle=preview["handle"])
        asked_at = {port for port, method in balancer.sent[first:] if method == "POST"}
        assert asked_at == set(ports)
        explained = await ask(client, "explain_category", transaction=bread["id"])
    assert explained["category"]["name"] == "LIVING_OTHER"
