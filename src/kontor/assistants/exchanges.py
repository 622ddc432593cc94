"""One request and its answer over streamable HTTP, by the official library, without any session."""

import asyncio
from datetime import date
from typing import Any

from litestar.response.base import ASGIResponse
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from kontor.assistants.api import Api
from kontor.assistants.server import Session
from kontor.domain.secrets import Secret
from kontor.pages.texts import Texts

NO_STORE = {"Cache-Control": "no-store"}


async def exchange(
    scope: dict[str, Any],
    body: bytes,
    api: Api,
    texts: Texts,
    today: date,
    token: Secret,
    scopes: frozenset[str],
) -> ASGIResponse:
    async def read_scopes() -> frozenset[str]:
        return scopes

    sent = _Sent()
    manager = StreamableHTTPSessionManager(
        Session(api, texts, today, token, read_scopes).make_server(), json_response=True, stateless=True
    )
    async with manager.run():
        await manager.handle_request(scope, _Receive(body), sent)
    response = ASGIResponse(
        body=bytes(sent.body), status_code=sent.status, media_type="application/json", headers=NO_STORE
    )
    if not sent.body:
        del response.headers["content-type"]
    return response


class _Receive:
    """The body, once. Whoever asks again waits for the caller to leave, of which the edge takes care."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body

    async def __call__(self) -> dict[str, Any]:
        if self._body is None:
            await asyncio.Event().wait()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Sent:
    """The answer, held until it is whole: it is small."""

    def __init__(self) -> None:
        self.status = 500
        self.body = bytearray()

    async def __call__(self, event: Any) -> None:
        if event["type"] == "http.response.start":
            self.status = event["status"]
        else:
            self.body += event.get("body", b"")
