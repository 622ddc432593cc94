"""The worker: pgqueuer dispatches, our own rows decide. It outlives every fault of the database."""

import asyncio
import os
import random
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager, suppress
from datetime import timedelta
from typing import Any

import structlog
from pgqueuer import PgQueuer
from pgqueuer.errors import PgqException
from psycopg import AsyncConnection, Error

from kontor.config import Settings
from kontor.jobs.concurrency import LimitedQueue
from kontor.jobs.queue_driver import TwoConnectionDriver
from kontor.jobs.tasks import WORKER_ID, reap, register_jobs
from kontor.services.bundle import Services
from kontor.storage.connections import connect_alone

log = structlog.get_logger(__name__)

RECONNECT_SECONDS = (0.2, 2.0)
PROBE_SECONDS = 5  # between two looks at the queue's connection
SILENCE_SECONDS = 10  # a server that does not answer for so long is given up
GRACE_SECONDS = 25  # for jobs that run when the worker is told to stop, or has lost the database


class Worker:
    def __init__(self, settings: Settings, open_services: Callable[[], AbstractAsyncContextManager[Services]]) -> None:
        self._settings = settings
        self._open_services = open_services
        self._stopping = asyncio.Event()
        self._left: dict[
            asyncio.Task[None], TwoConnectionDriver
        ] = {}  # queues that lost their connection, with jobs at work

    async def run(self) -> None:
        """Until told to stop. A lost database is waited for, never a reason to exit."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.stop)
        while not self._stopping.is_set():
            with self._outliving():
                async with self._open_services() as services:
                    await self._serve(services)
            await self._pause()
        log.info("worker.stopped")

    async def _serve(self, services: Services) -> None:
        """One queue after the other. The services stay: jobs that run when a connection is lost go on with them."""
        while not self._stopping.is_set():
            with self._outliving():
                await self._serve_queue(services)
            await self._pause()
        with self._outliving():
            await asyncio.gather(*[_end(running) for running in list(self._left)])
        with self._outliving():
            await services.workers.leave(WORKER_ID)

    @contextmanager
    def _outliving(self) -> Iterator[None]:
        try:
            yield
        except (Error, OSError, TimeoutError, RuntimeError, PgqException) as error:
            log.warning("worker.database-lost", reason=f"{type(error).__name__}: {error}")
        except Exception:
            log.exception("worker.failed")

    def stop(self) -> None:
        self._stopping.set()
        # Whatever still hangs after the grace is beyond help; the leases of its rows run out.
        asyncio.get_running_loop().call_later(GRACE_SECONDS + 10, os._exit, 1)

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), random.uniform(*RECONNECT_SECONDS))  # noqa: S311

    async def _serve_queue(self, services: Services) -> None:
        assert self._settings.database_url is not None
        url = self._settings.database_url
        async with AsyncExitStack() as stack:
            listening = await stack.enter_async_context(await connect_alone(url, "kontor queue listener"))
            working = await stack.enter_async_context(await connect_alone(url, "kontor queue"))
            driver = TwoConnectionDriver(listening, working)
            queuer = LimitedQueue(driver)
            await driver.begin_listening(queuer.channel)
            for lost_driver in self._left.values():
                lost_driver.replace_connection(working)
            queuer.set_limits(register_jobs(queuer, services))
            running = asyncio.create_task(_run(queuer))
            reaping = asyncio.create_task(reap(services))
            warming = asyncio.create_task(services.compute.warm_up())
            try:
                log.info("worker.ready")
                await self._watch(running, listening, working)
            finally:
                reaping.cancel()
                warming.cancel()
                queuer.shutdown.set()
                if self._stopping.is_set():
                    services.fetching.stop()
                    await _end(running)
                else:
                    self._leave(running, driver)
            if running.done() and not running.cancelled():
                running.result()

    def _leave(self, running: asyncio.Task[None], driver: TwoConnectionDriver) -> None:
        """Banks that are being asked are asked on, while the queue is taken up again with new connections."""
        self._left[running] = driver
        running.add_done_callback(self._forget)

    def _forget(self, running: asyncio.Task[None]) -> None:
        del self._left[running]
        if not running.cancelled():
            running.exception()  # it was told when the connection was lost

    async def _watch(self, running: asyncio.Task[None], *connections: AsyncConnection[Any]) -> None:
        """Until the queue ends, we are to stop, or a connection fails.

        pgqueuer notices a closed connection by itself. With a server that is frozen or unreachable its queries never
        return; a look through the same connections then does not either, and that is noticed here.
        """
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while True:
                await asyncio.wait({running, stopping}, timeout=PROBE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if running.done() or stopping.done():
                    return
                probe = asyncio.gather(*[connection.execute("select 1") for connection in connections])
                await asyncio.wait({probe}, timeout=SILENCE_SECONDS)
                if not probe.done():
                    for connection in connections:
                        _cut(connection)  # wakes everybody who waits for an answer
                    await asyncio.wait({probe})
                probe.result()
        finally:
            stopping.cancel()


async def _run(queuer: PgQueuer) -> None:
    """As the library's own `run`, only that jobs at work are not cut off when one of the two parts fails."""
    parts = [
        asyncio.create_task(
            queuer.qm.run(
                dequeue_timeout=timedelta(seconds=2),
                heartbeat_timeout=timedelta(seconds=20),
                shutdown_on_listener_failure=True,
            )
        ),
        asyncio.create_task(queuer.sm.run()),
    ]
    for part in parts:
        part.add_done_callback(lambda _: queuer.shutdown.set())
    for outcome in await asyncio.gather(*parts, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def _end(running: asyncio.Task[None]) -> None:
    """Wait for the jobs at work, then no longer."""
    await asyncio.wait({running}, timeout=GRACE_SECONDS)
    if not running.done():
        log.warning("worker.jobs-cut-off")
        running.cancel()
        await asyncio.wait({running}, timeout=5)
    if not running.done():
        raise RuntimeError("the queue does not end")


def _cut(connection: AsyncConnection[Any]) -> None:
    """Close the line below the driver: cancelling a query asks the very server that does not answer."""
    with suppress(OSError, Error), socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
        line.shutdown(socket.SHUT_RDWR)
