"""A bare ASGI handler: the queries of the endpoint, ready JSON from PostgreSQL, and no checks beyond that."""

import hashlib
import os
from typing import Any

from benchmarks.endpoints import load_endpoint
from kontor.domain.secrets import Secret
from kontor.storage.database import Database, fetch_row
from kontor.storage.tokens import FIND_PRINCIPAL


class Limit:
    def __init__(self, conninfo: str, pool_size: int, endpoint: str) -> None:
        self.read_ready = load_endpoint(endpoint).read_ready
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
            found = None if principal is None else await self.read_ready(connection, principal, scope["path"])
        body = found or b""
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200 if body else 404, "headers": headers})
        await send({"type": "http.response.body", "body": body})

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
