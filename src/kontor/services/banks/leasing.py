"""Holding a set of credentials for work at a bank: taken, kept alive by a heartbeat, released at the end."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import structlog

from kontor.domain.errors import BusyError
from kontor.storage import leases
from kontor.storage.database import Database
from kontor.storage.leases import HEARTBEAT_SECONDS, Lease

log = structlog.get_logger(__name__)

LEASE_WAIT_SECONDS = 30
POLL_SECONDS = 0.1


@dataclass(slots=True)
class HeldLease:
    """A lease while somebody works under it. `is_released`: it was given back with what was stored.

    `calls` are calls of the bank that have not ended, which can be longer than anybody waits for them.
    """

    lease: Lease
    is_released: bool = False
    calls: "set[asyncio.Future[Any]]" = field(default_factory=set)

    def track(self, call: "asyncio.Future[Any]") -> None:
        self.calls.add(call)
        call.add_done_callback(self.calls.discard)


class Leasing:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._releasing: set[asyncio.Task[None]] = set()
        self.holder = uuid4()

    @asynccontextmanager
    async def hold(self, key: bytes, wait_seconds: float = LEASE_WAIT_SECONDS) -> AsyncIterator[HeldLease]:
        """Raises BusyError when somebody else keeps them for too long."""
        end = time.monotonic() + wait_seconds
        while True:
            async with self._database.connect() as connection:
                lease = await leases.take_lease(connection, key, self.holder)
            if lease is not None:
                break
            if time.monotonic() >= end:
                raise BusyError("Another operation is using these credentials.")
            await asyncio.sleep(POLL_SECONDS)
        async with self.keep(lease) as held:
            yield held

    @asynccontextmanager
    async def keep(self, lease: Lease) -> AsyncIterator[HeldLease]:
        """Renew a lease that `holder` has taken while the block runs, then release it.

        A call that still runs after the block keeps the lease until it ends: no second dialogue begins beside it.
        """
        held = HeldLease(lease)
        heartbeat = asyncio.create_task(self._renew(lease))
        try:
            yield held
        finally:
            if held.calls:
                task = asyncio.create_task(self._release_after_calls(held, heartbeat))
                self._releasing.add(task)
                task.add_done_callback(self._releasing.discard)
            else:
                await self._release(held, heartbeat)

    async def _release_after_calls(self, held: HeldLease, heartbeat: "asyncio.Task[None]") -> None:
        while held.calls:
            await asyncio.wait(held.calls)
        try:
            await self._release(held, heartbeat)
        except Exception as error:  # the lease runs out
            log.warning("lease.not-released", reason=type(error).__name__)

    async def _release(self, held: HeldLease, heartbeat: "asyncio.Task[None]") -> None:
        heartbeat.cancel()
        if not held.is_released:
            async with self._database.connect() as connection:
                await leases.release_lease(connection, held.lease)

    async def _renew(self, lease: Lease) -> None:
        """A database that is away for a moment is no reason to give up."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            try:
                async with self._database.connect() as connection:
                    if not await leases.renew_lease(connection, lease):
                        return
            except Exception as error:
                log.warning("lease.not-renewed", reason=type(error).__name__)
