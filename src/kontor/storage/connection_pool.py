"""A connection pool over psycopg_pool that hands out idle connections without its lock, task and context managers.

psycopg_pool makes, checks and replaces connections. Its own `connection()` takes a lock, a task and
several context managers each time: see docs/decisions/0032-own-code-beside-libraries.md for what that costs.
"""

import asyncio
import select
import time
from collections import deque

from psycopg import AsyncConnection, OperationalError
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from kontor.storage.connections import is_read_only

Connection = AsyncConnection[TupleRow]
LIFETIME_SECONDS = 3600


class DatabaseMovedError(OperationalError):
    """The server we talk to only reads now: another one takes writes, and the next connection will find it."""


class ConnectionPool:
    def __init__(self, pool: "AsyncConnectionPool[Connection]", size: int, wait_seconds: float) -> None:
        self._pool = pool
        self._size = size
        self._wait_seconds = wait_seconds
        self._taken = 0  # from the pool: in use or idle here
        self._idle: list[Connection] = []
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()
        self._retire_at: dict[Connection, float] = {}

    async def acquire(self) -> Connection:
        """An idle connection at once; else in turn, first come first served."""
        while True:
            if self._idle and not self._waiting:
                connection = self._idle.pop()
                try:
                    refuse_dead_connection(connection)
                except OperationalError:  # where one is dead the others are too: PostgreSQL was restarted, or moved
                    await self.discard(connection)
                    continue
                return connection
            if self._taken < self._size:
                return await self._acquire_from_pool()
            waited = await self._wait()
            if waited is not None:
                return waited

    async def release(self, connection: Connection) -> None:
        """A transaction left open and a broken connection are the pool's business."""
        is_idle = connection.pgconn.transaction_status == TransactionStatus.IDLE
        if is_idle and time.monotonic() < self._retire_at[connection]:
            self._pass_on(connection)
        else:
            await self._return(connection)

    async def discard(self, connection: Connection) -> None:
        """Its server is no longer the one to talk to, and that is true of the idle connections as well."""
        gone, self._idle = [connection, *self._idle], []
        for gone_connection in gone:
            await gone_connection.close()
        await self._return(*gone)
        await self._pool.drain()

    async def close(self) -> None:
        await self._return(*self._idle)

    # Parts

    async def _acquire_from_pool(self) -> Connection:
        self._taken += 1
        try:
            connection = await self._pool.getconn()
        except BaseException:
            self._taken -= 1
            self._pass_on(None)
            raise
        self._retire_at[connection] = time.monotonic() + LIFETIME_SECONDS
        return connection

    async def _return(self, *connections: Connection) -> None:
        self._idle = [connection for connection in self._idle if connection not in connections]
        for connection in connections:
            self._taken -= 1
            del self._retire_at[connection]
            await self._pool.putconn(connection)
            self._pass_on(None)

    def _pass_on(self, connection: Connection | None) -> None:
        """To the first who waits; None tells that one there is room to take another from the pool."""
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(connection)
                return
        if connection is not None:
            self._idle.append(connection)

    async def _wait(self) -> Connection | None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Connection | None] = loop.create_future()
        self._waiting.append(future)
        timer = loop.call_later(self._wait_seconds, _time_out, future)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._pass_on(future.result())  # it came in the same moment
            raise
        finally:
            timer.cancel()


def _time_out(future: "asyncio.Future[Connection | None]") -> None:
    if not future.done():
        future.set_exception(PoolTimeout("no connection became free in time"))


class PooledConnection:
    """A connection for the time of a block."""

    __slots__ = ("_connection", "_connections")

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    async def __aenter__(self) -> Connection:
        self._connection = await self._connections.acquire()
        return self._connection

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        # A snapshot refuses writes as well; then the server itself says that it takes them.
        if isinstance(error, ReadOnlySqlTransaction) and is_read_only(self._connection) is not False:
            await self._connections.discard(self._connection)
            raise DatabaseMovedError("the database takes no writes any more") from error
        await self._connections.release(self._connection)


def refuse_dead_connection(connection: Connection) -> None:
    """An idle server has nothing to say, unless it has said goodbye. This costs no round trip."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    while poll.poll(0):
        connection.pgconn.consume_input()  # raises when the server is gone
        connection.pgconn.is_busy()  # reads what has come, also a changed setting
        if is_read_only(connection):
            raise DatabaseMovedError("the server has become a replica")
