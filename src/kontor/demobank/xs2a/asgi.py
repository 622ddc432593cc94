"""ASGI as the bank's servers use it: the lifespan, and a request with its whole body."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from kontor.demobank.xs2a.exchanges import Request

MAX_BODY = 1_000_000
AsgiApp = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ],
    Awaitable[None],
]


async def live(receive: Any, send: Any) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def read_request(scope: MutableMapping[str, Any], receive: Any) -> Request:
    body, is_more = b"", True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        body = (body + message.get("body", b""))[: MAX_BODY + 1]
        is_more = message.get("more_body", False)
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    return Request(scope["method"], path, query, headers, body if len(body) <= MAX_BODY else b"too large")
