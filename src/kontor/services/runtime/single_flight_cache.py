"""A cache for values that are costly to compute: concurrent readers of a key share one computation."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

MIN_TTL_SECONDS = 10.0
# A value that took long to compute lives so many times longer: however large the database, computing takes no more
# than this share of the time.
TTL_FACTOR = 20
MAX_ENTRIES = 1000


class SingleFlightCache(Generic[K, T]):
    """Per process and key. A reader who comes while the value is being computed waits for that value."""

    def __init__(self, compute: Callable[[K], Awaitable[T]], now: Callable[[], float] = time.monotonic) -> None:
        self._compute = compute
        self._now = now
        self._entries: dict[K, tuple[float, T]] = {}
        # A lock lives as long as somebody holds it or waits for it.
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()

    async def read(self, key: K) -> T:
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            entry = self._entries.get(key)
            started = self._now()
            if entry is not None and started < entry[0]:
                return entry[1]
            value = await self._compute(key)
            ended = self._now()
            if len(self._entries) >= MAX_ENTRIES:
                self._entries.clear()
            self._entries[key] = (ended + max(MIN_TTL_SECONDS, TTL_FACTOR * (ended - started)), value)
            return value
