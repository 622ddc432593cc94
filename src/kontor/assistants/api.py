"""The only way of the tools to data: Kontor's own API, by its client, with the caller's token."""

import asyncio
from collections.abc import Awaitable
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from kontor_client import Answer, AsyncKontor

_decoder = msgspec.json.Decoder(float_hook=Decimal)


class Api:
    def __init__(self, client: AsyncKontor, language: str) -> None:
        self._client = client
        self._headers = {"Accept-Language": language}

    async def get(self, path: str, **params: Any) -> Any:
        """The answer's JSON, with Decimal for numbers. Parameters that are None are left out."""
        return _decode(await self._send("GET", path, params))

    async def get_page(self, path: str, **params: Any) -> tuple[Any, str | None]:
        """A page of a list, and the cursor of the next one."""
        answer = await self._send("GET", path, params)
        following = dict(parse_qsl(urlsplit(answer.next_url).query)).get("cursor") if answer.next_url else None
        return _decode(answer), following

    async def post(self, path: str, body: Any, **params: Any) -> Any:
        return _decode(await self._send("POST", path, params, body))

    async def _send(self, method: str, path: str, params: dict[str, Any], body: Any = None) -> Answer:
        given = {name: _write(value) for name, value in params.items() if value is not None}
        return await self._client.request(method, path, params=given, json=body, headers=self._headers)


async def together(*calls: Awaitable[Any]) -> list[Any]:
    return list(await asyncio.gather(*calls))


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _decode(answer: Answer) -> Any:
    return _decoder.decode(answer.content) if answer.content else None
