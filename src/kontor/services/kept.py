"""Answers that are costly to find: found once for all who ask within some seconds."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

KEPT_SECONDS = 10.0
# An answer that takes long is kept so many times longer: however large the database, finding answers takes no more
# than this share of the time.
KEPT_TIMES = 20
MAX_KEPT = 1000


class Kept(Generic[K, T]):
    """Per process and key. Whoever asks while an answer is being found waits for that one."""

    def __init__(self, find: Callable[[K], Awaitable[T]], now: Callable[[], float] = time.monotonic) -> None:
        self._find = find
        self._now = now
        self._answers: dict[K, tuple[float, T]] = {}
        self._locks: dict[K, asyncio.Lock] = {}

    async def read(self, key: K) -> T:
        async with self._locks.setdefault(key, asyncio.Lock()):
            kept = self._answers.get(key)
            started = self._now()
            if kept is not None and started < kept[0]:
                return kept[1]
            answer = await self._find(key)
            ended = self._now()
            if len(self._answers) >= MAX_KEPT:
                self._answers.clear()
            self._answers[key] = (ended + max(KEPT_SECONDS, KEPT_TIMES * (ended - started)), answer)
            return answer
