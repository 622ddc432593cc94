"""One worker process for work that takes processor time: started when needed, killed at a deadline, replaced when dead.

Each process has an executor of its own: ending it ends no work but its own.
"""

import asyncio
import multiprocessing
import os
import resource
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing.process import BaseProcess
from typing import TypeVar

from kontor.services.runtime import harden_process

T = TypeVar("T")

NICENESS = 5  # on a machine without idle processors, requests and logins go first
START_SECONDS = 120  # loading the tagger takes one or two, on a machine that is very busy many more


class ProcessDiedError(Exception):
    """The process ended while it worked, killed from outside or crashed; or it could not be started."""


class ComputeProcess:
    def __init__(self, memory_bytes: int, prepare: Callable[[], None] | None = None) -> None:
        self._memory_bytes = memory_bytes
        self._prepare = prepare
        self._executor: ProcessPoolExecutor | None = None
        self._process: BaseProcess | None = None
        self.is_unstartable = False  # the last start failed

    @property
    def is_started(self) -> bool:
        return self._executor is not None

    async def start(self) -> None:
        """Until the process is ready for work. Does nothing when it is."""
        if self._executor is not None:
            return
        try:
            await self._wait(self._submit_first(), START_SECONDS)
        except (ProcessDiedError, OSError, RuntimeError, MemoryError):
            self.is_unstartable = True
            self.kill()
            raise ProcessDiedError from None
        self.is_unstartable = False

    def _submit_first(self) -> "Future[int]":
        """The first work makes the process. OSError or RuntimeError where the system gives no process or thread."""
        self._executor = ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context("spawn"),  # a fork would inherit connections and held locks
            initializer=_initialise,
            initargs=(self._memory_bytes, self._prepare),
        )
        before = {child.pid for child in multiprocessing.active_children()}
        first = self._executor.submit(os.getpid)
        self._process = next((child for child in multiprocessing.active_children() if child.pid not in before), None)
        return first

    async def run(self, function: Callable[..., T], arguments: tuple[object, ...], deadline_seconds: float) -> T:
        """TimeoutError past the deadline, MemoryError beyond the memory, ProcessDiedError when the process has died."""
        if self._process is not None and not self._process.is_alive():  # it died while it had nothing to do
            self.kill()
        await self.start()
        assert self._executor is not None
        try:
            future = self._executor.submit(function, *arguments)
        except BrokenExecutor:
            self.kill()
            raise ProcessDiedError from None
        return await self._wait(future, deadline_seconds)

    async def _wait(self, future: "Future[T]", seconds: float) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(future)
        except BrokenExecutor:
            self.kill()
            raise ProcessDiedError from None
        except (TimeoutError, MemoryError, asyncio.CancelledError):
            self.kill()
            raise

    def kill(self) -> None:
        """End the process, whatever it does; the next work starts another one."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        if self._process is not None:
            self._process.kill()
            self._process = None
        executor.shutdown(wait=False, cancel_futures=True)


def _initialise(memory_bytes: int, prepare: Callable[[], None] | None) -> None:
    """In the new process, before its first work."""
    harden_process()
    with suppress(PermissionError):  # a sandbox may forbid it, and the work can be done all the same
        os.nice(NICENESS)
    for number in (signal.SIGINT, signal.SIGTERM):  # sent to the whole group; the parent decides when to end
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)  # metrics are told by the parent
    if prepare is not None:
        prepare()
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
