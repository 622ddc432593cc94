"""A bare ASGI handler: it makes Kontor's queries, and sends bytes that were made at the first request."""

import hashlib
import os
from typing import Any

from benchmarks.endpoints import load_endpoint
from kontor.domain.secrets import Secret
from kontor.storage.database import Database, fetch_row
from kontor.storage.tokens import FIND_PRINCIPAL


class Limit:
    def __init__(self, conninfo: str, pool_size: int, endpoint: str) -> None:
        self.endpoint = load_endpoint(endpoint)
        self.ready: dict[tuple[str, Any], bytes | None] = {}
        # Kontor's own connections: it must not be ahead of its limit because the limit waits in a slower pool.
        self.database = Database(Secret(conninfo), pool_size, "limit")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.live(receive, send)
            return
        token = b""
        for key, value in scope["headers"]:
            if key == b"authorization":
                token = value[7:]
        async with self.database.connect() as connection:
            principal = await fetch_row(connection, FIND_PRINCIPAL, [hashlib.sha256(token).digest()])
            body = b"" if principal is None else await self.find(connection, principal, scope["path"]) or b""
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200 if body else 404, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def find(self, connection: Any, principal: Any, path: str) -> bytes | None:
        """Of this user and path, as it was at the first request."""
        key = (path, principal[6])
        if key not in self.ready:
            self.ready[key] = await self.endpoint.read_ready(connection, principal, path)
        else:
            await self.endpoint.ask(connection, principal, path)
        return self.ready[key]

    async def live(self, receive: Any, send: Any) -> None:
        await receive()
        await self.database.open()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.database.close()
        await send({"type": "lifespan.shutdown.complete"})


def create_app() -> Limit:
    environment = os.environ
    return Limit(
        environment["KONTOR_DATABASE_URL"], int(environment["KONTOR_POOL_SIZE"]), environment["BENCH_ENDPOINT"]
    )
