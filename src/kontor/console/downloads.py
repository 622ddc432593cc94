"""Files of the API, passed on to the browser piece by piece as they are made: an export may be large."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from litestar.response.base import ASGIResponse
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from kontor.pages.browser import AnyRequest

Refuse = Callable[[int], ASGIResponse]


class Download(ASGIResponse):
    """Calls the API with the session's token. A refusal becomes a page, for a person waits for it."""

    def __init__(
        self,
        api: ASGIApp,
        request: AnyRequest,
        token: str,
        base_url: str,
        path: str,
        query: dict[str, str],
        refuse: Refuse,
        accept: str | None = None,
    ) -> None:
        super().__init__()
        self._api = api
        self._refuse = refuse
        self._scope = make_scope(request, token, base_url, path, query, accept)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = False

        async def pass_on(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and message["status"] != 200:
                refused = True
                await self._refuse(message["status"])(scope, receive, send)
            elif not refused:
                await send(message)

        await self._api(self._scope, receive, pass_on)


def make_scope(
    request: AnyRequest, token: str, base_url: str, path: str, query: dict[str, str], accept: str | None = None
) -> Any:
    """A request of its own, that counts as the browser's."""
    address = urlsplit(base_url)
    headers = [(b"host", address.netloc.encode()), (b"authorization", f"Bearer {token}".encode())]
    if accept is not None:
        headers.append((b"accept", accept.encode()))
    forwarded = request.headers.get("x-forwarded-for")
    if forwarded is not None:
        headers.append((b"x-forwarded-for", forwarded.encode("latin-1")))
    outer = request.scope
    return {
        "type": "http",
        "asgi": outer["asgi"],
        "http_version": "1.1",
        "method": "GET",
        "scheme": address.scheme,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": urlencode(query).encode(),
        "root_path": "",
        "headers": headers,
        "server": outer.get("server"),
        "client": outer.get("client"),
        "extensions": {},
    }
