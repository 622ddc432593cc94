"""Retrying a transaction that was in the way of another one."""

import asyncio
import functools
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

import structlog
from psycopg.errors import DeadlockDetected, SerializationFailure

from kontor.storage.refreshes import RowsLockedError

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
ATTEMPTS = 5
PAUSE_SECONDS = 0.05
LOCKED_SECONDS, LOCKED_TRIES = 0.05, 200


def retry_conflicts(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Run again after a deadlock or a serialisation failure, a few times.

    For functions that do nothing but one database transaction: all that they did before is rolled back.
    """

    @functools.wraps(function)
    async def run(*arguments: P.args, **options: P.kwargs) -> T:
        for attempt in range(1, ATTEMPTS):
            try:
                return await function(*arguments, **options)
            except (DeadlockDetected, SerializationFailure) as error:
                log.warning("transaction.retried", reason=type(error).__name__, attempt=attempt)
                await asyncio.sleep(random.uniform(0, PAUSE_SECONDS * attempt))  # noqa: S311
        return await function(*arguments, **options)

    return run


async def retry_when_locked(store: Callable[[], Awaitable[T]]) -> T:
    """Store again from the beginning while somebody else holds one of the rows."""
    for _ in range(LOCKED_TRIES):
        try:
            return await store()
        except RowsLockedError:
            await asyncio.sleep(LOCKED_SECONDS)
    return await store()
