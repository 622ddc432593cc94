"""Holding a set of credentials for one step with a bank, and waiting a while for whoever has them."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from kontor.domain.errors import BusyError
from kontor.services.banks.calls import BankCalls
from kontor.storage import leases
from kontor.storage.database import Database
from kontor.storage.leases import Lease

LEASE_WAIT_SECONDS = 30
POLL_SECONDS = 0.1


class Leasing:
    def __init__(self, database: Database, calls: BankCalls) -> None:
        self._database = database
        self._calls = calls
        self._holder = uuid4()

    @asynccontextmanager
    async def hold(self, key: bytes, wait_seconds: float = LEASE_WAIT_SECONDS) -> AsyncIterator[Lease]:
        """Raises BusyError when somebody else keeps them for too long."""
        end = time.monotonic() + wait_seconds
        while True:
            async with self._database.connect() as connection:
                lease = await leases.take_lease(connection, key, self._holder)
            if lease is not None:
                break
            if time.monotonic() >= end:
                raise BusyError("Another operation is using these credentials.")
            await asyncio.sleep(POLL_SECONDS)
        try:
            async with self._calls.heartbeat(lease):
                yield lease
        finally:
            async with self._database.connect() as connection:
                await leases.release_lease(connection, lease)
