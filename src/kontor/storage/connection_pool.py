"""A connection pool over psycopg_pool that hands out idle connections without its lock, task and context managers.

psycopg_pool makes, checks and replaces connections. Its own `connection()` takes a lock, a task and
several context managers each time: see docs/decisions/0032-own-code-beside-libraries.md for what that costs.
"""

import asyncio
import select
import time
from collections import deque
from collections.abc import Callable
from uuid import UUID

import structlog
from psycopg import AsyncConnection, OperationalError
from psycopg.errors import DiskFull, ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from kontor.storage.clusters import begin_bound, note_clustered
from kontor.storage.connections import is_read_only
from kontor.storage.user_binding import bind_session

Connection = AsyncConnection[TupleRow]
LIFETIME_SECONDS = 3600
log = structlog.get_logger(__name__)


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
        self._users: dict[Connection, UUID | None] = {}  # whom a connection is bound to; missing when that is unknown
        self.disk_full_at: float | None = None  # when the server last said so
        self.is_clustered = False

    async def acquire(self, user_id: UUID | None = None) -> Connection:
        """A connection that is bound to this user, or to nobody."""
        connection = await self._acquire(lambda: self._pop_idle(user_id))
        if connection not in self._users or self._users[connection] != user_id:
            self._users.pop(connection, None)
            try:
                await bind_session(connection, user_id)
            except BaseException:
                await self.release(connection)
                raise
            self._users[connection] = user_id
        return connection

    async def acquire_unknown(self) -> Connection:
        """A connection that is bound to whomever: for the statement that finds out who asks, and binds it."""
        connection = await self._acquire(lambda: self._idle.pop())
        self._users.pop(connection, None)
        return connection

    def note_user(self, connection: Connection, user_id: UUID | None) -> None:
        """A statement has bound the connection."""
        self._users[connection] = user_id

    async def _acquire(self, pop_idle: Callable[[], Connection]) -> Connection:
        """An idle connection at once; else in turn, first come first served."""
        while True:
            if self._idle and not self._waiting:
                connection = pop_idle()
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

    def _pop_idle(self, user_id: UUID | None) -> Connection:
        """One that is bound to the user already, where there is one: that saves a round trip."""
        for place in range(len(self._idle) - 1, -1, -1):
            connection = self._idle[place]
            if connection in self._users and self._users[connection] == user_id:
                del self._idle[place]
                return connection
        return self._idle.pop()

    async def _acquire_from_pool(self) -> Connection:
        self._taken += 1
        try:
            connection = await self._pool.getconn()
        except BaseException:
            self._taken -= 1
            self._pass_on(None)
            raise
        self._retire_at[connection] = time.monotonic() + LIFETIME_SECONDS
        self._users.pop(connection, None)  # psycopg_pool hands out connections again that came back to it
        if self.is_clustered:
            note_clustered(connection)
        return connection

    async def _return(self, *connections: Connection) -> None:
        self._idle = [connection for connection in self._idle if connection not in connections]
        for connection in connections:
            self._taken -= 1
            del self._retire_at[connection]
            self._users.pop(connection, None)
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
    """A connection for the time of a block. On a cluster, what it does for a user is a transaction (ADR 0062)."""

    __slots__ = ("_begins", "_connection", "_connections", "_user_id")

    def __init__(self, connections: ConnectionPool, user_id: UUID | None, *, begins: bool = True) -> None:
        self._connections = connections
        self._user_id = user_id
        self._begins = begins and user_id is not None and connections.is_clustered

    async def __aenter__(self) -> Connection:
        self._connection = await self._connections.acquire(self._user_id)
        if self._begins and self._user_id is not None:
            try:
                await begin_bound(self._connection, self._user_id)
            except BaseException:
                await self._connections.release(self._connection)
                raise
        return self._connection

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self._begins:
            await self._end(error)
        # A snapshot refuses writes as well; then the server itself says that it takes them.
        if isinstance(error, ReadOnlySqlTransaction) and is_read_only(self._connection) is not False:
            await self._connections.discard(self._connection)
            raise DatabaseMovedError("the database takes no writes any more") from error
        if isinstance(error, DiskFull):
            self._connections.disk_full_at = time.monotonic()
            log.error("database.disk_full")
        await self._connections.release(self._connection)

    async def _end(self, error: BaseException | None) -> None:
        """What failed is rolled back by the pool."""
        if error is None:
            try:
                await self._connection.commit()
            except BaseException:
                await self._connections.release(self._connection)
                raise


def refuse_dead_connection(connection: Connection) -> None:
    """An idle server has nothing to say, unless it has said goodbye. This costs no round trip."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    while poll.poll(0):
        connection.pgconn.consume_input()  # raises when the server is gone
        connection.pgconn.is_busy()  # reads what has come, also a changed setting
        if is_read_only(connection):
            raise DatabaseMovedError("the server has become a replica")
