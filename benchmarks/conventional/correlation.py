"""The correlation id: the caller's or a new one, in every answer."""

import re
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

correlation_id: ContextVar[str] = ContextVar("correlation_id", default="-")

HEADER = b"x-correlation-id"
_PRINTABLE = re.compile(rb"[\x20-\x7e]{1,128}")


class CorrelationMiddleware:
    """Tuned: plain ASGI. Starlette's BaseHTTPMiddleware would cost a task and a stream for each request."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = dict(scope["headers"]).get(HEADER, b"")
        identity = sent.decode() if _PRINTABLE.fullmatch(sent) else str(uuid4())
        correlation_id.set(identity)

        async def send_with_header(event: Any) -> None:
            if event["type"] == "http.response.start":
                event["headers"].append((HEADER, identity.encode()))
            await send(event)

        await self.app(scope, receive, send_with_header)
