"""A bare ASGI handler: the two queries of the endpoint, ready JSON from PostgreSQL, and no checks beyond that."""

import hashlib
import os
from typing import Any

from psycopg_pool import AsyncConnectionPool

from benchmarks.endpoints import load_endpoint
from kontor.storage.database import SESSION_OPTIONS
from kontor.storage.tokens import FIND_PRINCIPAL


class Limit:
    def __init__(self, conninfo: str, pool_size: int, endpoint: str) -> None:
        self.read_ready = load_endpoint(endpoint).read_ready
        self.pool = AsyncConnectionPool(
            conninfo,
            min_size=1,
            max_size=pool_size,
            open=False,
            kwargs={"autocommit": True, "application_name": "limit", **SESSION_OPTIONS},
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.live(receive, send)
            return
        token = b""
        for key, value in scope["headers"]:
            if key == b"authorization":
                token = value[7:]
        async with self.pool.connection() as connection:
            cursor = await connection.execute(FIND_PRINCIPAL, [hashlib.sha256(token).digest()])
            principal = await cursor.fetchone()
            text = None if principal is None else await self.read_ready(connection, principal, scope["path"])
        body = (text or "").encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200 if body else 404, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def live(self, receive: Any, send: Any) -> None:
        await receive()
        await self.pool.open(wait=True, timeout=30)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.pool.close(timeout=5)
        await send({"type": "lifespan.shutdown.complete"})


def create_app() -> Limit:
    environment = os.environ
    return Limit(
        environment["KONTOR_DATABASE_URL"], int(environment["KONTOR_POOL_SIZE"]), environment["BENCH_ENDPOINT"]
    )
