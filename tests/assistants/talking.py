"""An assistant for tests: the client of the official library, over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from timeouts import WAIT_TIMEOUT_SECONDS


@asynccontextmanager
async def talk(address: str, token: str, *, mode: Any = "auto", language: str = "en") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": language}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=WAIT_TIMEOUT_SECONDS, trust_env=False) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What the tool answers. The client has compared it with the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text
