"""The connection pool, and the two ways to use it: a single read, and a transaction."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

import structlog
from psycopg import AsyncConnection, AsyncCursor, AsyncRawCursor, OperationalError
from psycopg.rows import TupleRow, tuple_row
from psycopg_pool import AsyncConnectionPool

from kontor.domain.secrets import Secret
from kontor.storage.clusters import find_cluster, is_clustered, note_clustered
from kontor.storage.connection_pool import ConnectionPool, PooledConnection, refuse_dead_connection
from kontor.storage.connections import SESSION_OPTIONS, address_writer
from kontor.storage.lock_order import begin_locks
from kontor.storage.user_binding import bind_transaction

log = structlog.get_logger(__name__)

Connection: TypeAlias = AsyncConnection[TupleRow]
T = TypeVar("T")

# While the database is away, callers get their 503 after this time. It is no limit for queries.
POOL_SECONDS = 5
DISK_FULL_SECONDS = 60
TURN_ROWS = 500  # after so many rows others have their turn on the event loop
# Of a user whom statistics do not know the planner expects one row. Where it joins the user's rows with themselves, it
# would compare each row with each.
AVOID_NESTED_LOOPS = "set local enable_nestloop = off"
ALLOW_NESTED_LOOPS = "set local enable_nestloop = on"


@dataclass(frozen=True, slots=True)
class OpenVersions:
    """What a transaction knows about data versions (`data_versions`), by user.

    `taken` are the versions that its changes get, `raised` the users for whom they are written already.
    """

    taken: dict[UUID, int] = field(default_factory=dict)
    raised: set[UUID] = field(default_factory=set)


_open_versions: dict[Connection, OpenVersions] = {}


class UnsafeDatabaseError(Exception):
    """The server may lose committed data; we refuse to write to it."""


class Database:
    """Owns the pool. Connections are in autocommit: a lone read costs one round trip, not three."""

    def __init__(self, url: Secret, pool_size: int, application_name: str) -> None:
        self._pool = AsyncConnectionPool(
            address_writer(url),
            min_size=1,
            max_size=pool_size,
            timeout=POOL_SECONDS,
            reconnect_timeout=POOL_SECONDS,  # with longer ones the pauses between attempts grow too long
            check=self._check,
            open=False,
            kwargs={
                "autocommit": True,
                "row_factory": tuple_row,
                "application_name": application_name,
                **SESSION_OPTIONS,
            },
        )
        self._connections = ConnectionPool(self._pool, pool_size, POOL_SECONDS)

    async def open(self) -> None:
        await self._pool.open(wait=True, timeout=30)
        async with self.connect() as connection:
            await refuse_unsafe_server(connection)
            self._connections.is_clustered = await find_cluster(connection)
            if self._connections.is_clustered:
                note_clustered(connection)

    async def close(self) -> None:
        await self._connections.close()
        await self._pool.close(timeout=5)

    async def _check(self, connection: Connection) -> None:
        """Before it is handed out. Where one is dead the others are too: PostgreSQL was restarted or moved."""
        try:
            refuse_dead_connection(connection)
        except OperationalError:
            await self._pool.drain()
            raise

    def connect(self, user_id: UUID | None = None) -> PooledConnection:
        """A connection in autocommit: for reads that need no common snapshot.

        It sees the customer data of this user; without one, none at all (ADR 0055).
        """
        return PooledConnection(self._connections, user_id)

    async def identify(self, find: Callable[[Connection], Awaitable[tuple[T, UUID | None]]]) -> T:
        """Whoever asks. `find` tells and binds the connection, in one statement, to the user or to nobody.

        The same connection serves what is asked for next, without another round trip. What `find` reads has no
        row-level security.
        """
        connection = await self._connections.acquire_unknown()
        try:
            found, user_id = await find(connection)
            self._connections.note_user(connection, user_id)
        finally:
            await self._connections.release(connection)
        return found

    @asynccontextmanager
    async def transaction(self, user_id: UUID | None = None) -> AsyncIterator[Connection]:
        """All or nothing. Keep it short; never talk to a bank inside. Of `user_id` as in `connect`."""
        with begin_locks():
            borrowed = PooledConnection(self._connections, user_id, begins=False)
            async with borrowed as connection, connection.transaction():
                if user_id is not None and is_clustered(connection):
                    await bind_transaction(connection, user_id)
                _open_versions[connection] = OpenVersions()
                try:
                    yield connection
                finally:
                    del _open_versions[connection]

    @asynccontextmanager
    async def snapshot(self, user_id: UUID | None = None) -> AsyncIterator[Connection]:
        """Reads that must fit together although others write meanwhile."""
        async with self.transaction(user_id) as connection:
            await connection.execute("set transaction isolation level repeatable read, read only")
            yield connection

    async def is_ready(self) -> bool:
        try:
            async with asyncio.timeout(2), self.connect() as connection:
                await connection.execute("select 1")
        except (OperationalError, TimeoutError):
            return False
        return True

    def is_disk_full(self) -> bool:
        """Did the server say so within the last minute?"""
        noticed = self._connections.disk_full_at
        return noticed is not None and time.monotonic() - noticed < DISK_FULL_SECONDS

    def statistics(self) -> dict[str, int]:
        return self._pool.get_stats()


async def refuse_unsafe_server(connection: Connection) -> None:
    """Payments and audit entries are promises: a server that may forget commits cannot keep them."""
    cursor = await connection.execute(
        "select current_setting('fsync'), current_setting('synchronous_commit'), pg_is_in_recovery()"
    )
    row = await cursor.fetchone()
    assert row is not None
    fsync, synchronous_commit, is_replica = row
    if fsync != "on":
        raise UnsafeDatabaseError("PostgreSQL runs with fsync=off: committed data may be lost. Kontor does not start.")
    if synchronous_commit == "off":
        raise UnsafeDatabaseError(
            "PostgreSQL runs with synchronous_commit=off: a commit may be lost. Kontor does not start."
        )
    if is_replica:
        raise UnsafeDatabaseError("This PostgreSQL is a read-only replica; Kontor needs the primary.")


def find_versions(connection: Connection) -> OpenVersions:
    """The data versions of this transaction; the caller adds to them.

    A transaction that was not begun by `Database.transaction` remembers nothing, and raises each time.
    """
    return _open_versions.get(connection) or OpenVersions()


async def fetch_row(connection: Connection, query: str, values: list[Any], *, binary: bool = False) -> TupleRow | None:
    """One row of a query that runs with nearly every request: prepared at once, placeholders `$1`, `$2`.

    The same through `connection.execute` takes half as much processor time again.
    """
    cursor = AsyncRawCursor(connection)
    await cursor.execute(query, values, prepare=True, binary=binary)
    return await cursor.fetchone()


async def read_time(connection: Connection) -> datetime:
    """By the clock that all processes share, whatever their machines show."""
    row = await fetch_row(connection, "select clock_timestamp()", [])
    assert row is not None
    moment: datetime = row[0]
    return moment


async def fetch_rows(connection: Connection, query: str, values: list[Any], *, binary: bool = False) -> list[TupleRow]:
    """As `fetch_row`, all rows."""
    cursor = AsyncRawCursor(connection)
    await cursor.execute(query, values, prepare=True, binary=binary)
    return await cursor.fetchall()


async def execute_statement(connection: Connection, query: str, values: list[Any]) -> None:
    """As `fetch_row`, of a statement that returns no rows."""
    await AsyncRawCursor(connection).execute(query, values, prepare=True)


async def stream_rows(cursor: AsyncCursor[TupleRow]) -> AsyncIterator[TupleRow]:
    """The rows of a result that may be large: others have their turn while it is read."""
    while rows := await cursor.fetchmany(TURN_ROWS):
        for row in rows:
            yield row
        await asyncio.sleep(0)
