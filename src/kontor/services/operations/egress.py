"""Connections to other hosts, over all processes: each adds what it has counted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime

import structlog
from psycopg import Error
from psycopg_pool import PoolTimeout

from kontor.domain.egress import EgressRow, PurposeTotal
from kontor.egress import CONNECTION_COUNTERS, ConnectionCounters
from kontor.storage import egress
from kontor.storage.database import Database

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 60


class EgressReport:
    def __init__(self, database: Database, counters: ConnectionCounters = CONNECTION_COUNTERS) -> None:
        self._database = database
        self._counters = counters

    @asynccontextmanager
    async def storing(self) -> AsyncIterator[None]:
        """Once a minute, and at the end."""
        storing = asyncio.create_task(self._keep_storing())
        try:
            yield
        finally:
            storing.cancel()
            await asyncio.wait({storing})
            await self.store()

    async def _keep_storing(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self.store()

    async def store(self) -> None:
        """One statement, and none where nothing has been counted. Without a database the counts wait."""
        counted = self._counters.drain()
        if not counted:
            return
        try:
            async with self._database.transaction() as connection:
                await egress.add_counts(connection, counted)
        except (Error, PoolTimeout, TimeoutError, OSError, asyncio.CancelledError) as error:
            self._counters.put_back(counted)
            log.warning("egress.not-stored", reason=type(error).__name__)
            if isinstance(error, asyncio.CancelledError):
                raise

    async def list_hosts(
        self, since: date, until: date, after: tuple[str, str] = ("", ""), limit: int = 10_000
    ) -> list[EgressRow]:
        """Both days included, by host and purpose."""
        async with self._database.connect() as connection:
            return await egress.list_hosts(connection, since, until, after, limit)

    async def sum_today(self) -> list[PurposeTotal]:
        async with self._database.connect() as connection:
            return await egress.sum_purposes(connection, datetime.now(UTC).date())
