"""Threads for calls that block, a pool for each kind of call: a kind that hangs holds up no other."""

import asyncio
import contextvars
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class DaemonThreads(Executor):
    """A pool of threads that do not hold up the end of the process, for calls that may hang.

    The interpreter waits at its end for every thread of `ThreadPoolExecutor`, however long its call lasts.
    """

    def __init__(self, limit: int, name: str) -> None:
        self._limit = limit
        self._name = name
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._threads = 0
        self._unended = 0

    def submit(self, function: Callable[..., T], /, *arguments: Any, **options: Any) -> "Future[T]":
        future: Future[T] = Future()
        with self._lock:
            self._unended += 1
            is_short = self._threads < min(self._unended, self._limit)
            self._threads += is_short
        self._calls.put((future, lambda: function(*arguments, **options)))
        if is_short:
            name = f"{self._name}_{next(self._numbers)}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        return future

    def _work(self) -> None:
        while True:
            self._carry_out(*self._calls.get())
            with self._lock:
                self._unended -= 1

    @staticmethod
    def _carry_out(future: "Future[T]", call: Callable[[], T]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = call()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)


def start_in(executor: Executor, function: Callable[..., T], *arguments: object) -> "Future[T]":
    """Call in a thread of this pool, with the caller's context. A call that has begun runs to its end."""
    return executor.submit(contextvars.copy_context().run, function, *arguments)


async def run_in(executor: Executor, function: Callable[..., T], *arguments: object) -> T:
    """As `asyncio.to_thread`, in a pool of one's own."""
    return await asyncio.wrap_future(start_in(executor, function, *arguments))
