"""pgqueuer on two connections: one listens, the other works.

psycopg keeps a connection to itself while it waits for notifications, so with a single one every query of the queue
would wait for that wait to end: up to a second between a job's arrival and its start.
"""

from typing import Any

from pgqueuer import PsycopgDriver
from psycopg import AsyncConnection, AsyncRawCursor, sql
from psycopg.rows import dict_row


class TwoConnectionDriver(PsycopgDriver):
    def __init__(self, listening: AsyncConnection[Any], working: AsyncConnection[Any]) -> None:
        super().__init__(listening)
        self._working = working

    def replace_connection(self, working: AsyncConnection[Any]) -> None:
        """Jobs that still run when their connection is lost report through another one."""
        self._working = working

    async def begin_listening(self, channel: str) -> None:
        """Before the queue starts: it sends itself a note at once, and on two lines that may come before it listens.

        Such a note is lost, and ten seconds later the queue would take its listener for dead.
        """
        await self._connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        cursor = AsyncRawCursor(self._working, row_factory=dict_row)
        await cursor.execute(query, args or None)
        return await cursor.fetchall()

    async def execute(self, query: str, *args: object) -> str:
        cursor = AsyncRawCursor(self._working)
        await cursor.execute(query, args or None)
        return cursor.statusmessage or ""
