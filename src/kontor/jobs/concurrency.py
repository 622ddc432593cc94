"""How many jobs of a kind a worker runs at once, and a queue that asks for no jobs of a kind that is full here.

The library's own limits count the jobs of all workers in the database, which makes its query for the next jobs, the
most frequent of all, several times as expensive. A limit for each worker needs no counting there, and what one worker
cannot run now is left to the others.
"""

import asyncio
from collections.abc import Mapping

from pgqueuer import PgQueuer, QueueManager
from pgqueuer.types import QueueEntrypoint


class ConcurrencyLimit:
    """Of those who enter, so many get on; the others wait for their turn."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._turns = asyncio.Semaphore(limit)
        self._inside = 0

    @property
    def is_full(self) -> bool:
        return self._inside >= self._limit

    async def __aenter__(self) -> None:
        self._inside += 1
        try:
            await self._turns.acquire()
        except BaseException:
            self._inside -= 1
            raise

    async def __aexit__(self, *_: object) -> None:
        self._turns.release()
        self._inside -= 1


class LimitedQueueManager(QueueManager):
    limits: Mapping[str, ConcurrencyLimit] = {}  # by the name of the entrypoint

    def entrypoints_below_capacity_limits(self) -> set[QueueEntrypoint]:
        """What is asked for next. While a kind that is full has jobs waiting, the library looks again every 100 ms."""
        return {
            entrypoint for entrypoint in super().entrypoints_below_capacity_limits() if not self._is_full(entrypoint)
        }

    def _is_full(self, entrypoint: str) -> bool:
        limit = self.limits.get(entrypoint)
        return limit is not None and limit.is_full


class LimitedQueue(PgQueuer):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.qm = LimitedQueueManager(self.qm.queries, self.channel, resources=self.resources)
        self.qm.shutdown = self.shutdown

    def set_limits(self, limits: Mapping[str, ConcurrencyLimit]) -> None:
        assert isinstance(self.qm, LimitedQueueManager)
        self.qm.limits = limits
