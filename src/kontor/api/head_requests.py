"""HEAD is answered as GET is, without the body (RFC 9110, 9.3.2)."""

from typing import Any

SENT_METHOD = "kontor.sent_method"  # in the scope of a request that is answered as another one


class HeadRequests:
    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(event: Any) -> None:
            await send(event | {"body": b""} if event["type"] == "http.response.body" else event)

        scope["method"], scope[SENT_METHOD] = "GET", "HEAD"
        try:
            await self._app(scope, receive, send_without_body)
        finally:
            scope["method"] = "HEAD"
