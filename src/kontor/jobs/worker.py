"""The worker: pgqueuer dispatches, our own rows decide. It outlives every fault of the database."""

import asyncio
import random
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta
from uuid import uuid4

import structlog
from pgqueuer import PgQueuer
from psycopg import AsyncConnection, Error

from kontor.config import Settings
from kontor.services.bundle import Services
from kontor.services.correlation import correlation_id
from kontor.storage.database import SESSION_OPTIONS

log = structlog.get_logger(__name__)

RECONNECT_SECONDS = (0.5, 5.0)


class Worker:
    def __init__(self, settings: Settings, open_services: Callable[[], AbstractAsyncContextManager[Services]]) -> None:
        self._settings = settings
        self._open_services = open_services
        self._stopping = asyncio.Event()
        self._queuer: PgQueuer | None = None

    async def run(self) -> None:
        """Until told to stop. A lost database is waited for, never a reason to exit."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.stop)
        while not self._stopping.is_set():
            try:
                async with self._open_services() as services:
                    await self._serve_queue(services)
            except (Error, OSError, TimeoutError, RuntimeError) as error:
                log.warning("worker.database-lost", reason=f"{type(error).__name__}: {error}")
            except Exception:
                log.exception("worker.failed")
            await self._pause()
        log.info("worker.stopped")

    def stop(self) -> None:
        self._stopping.set()
        if self._queuer is not None:
            self._queuer.shutdown.set()

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), random.uniform(*RECONNECT_SECONDS))  # noqa: S311

    async def _serve_queue(self, services: Services) -> None:
        assert self._settings.database_url is not None
        connection = await AsyncConnection.connect(
            self._settings.database_url.reveal(), autocommit=True, application_name="kontor queue", **SESSION_OPTIONS
        )
        async with connection:
            self._queuer = queuer = PgQueuer.from_psycopg_connection(connection)
            register_jobs(queuer, services)
            if self._stopping.is_set():
                return
            log.info("worker.ready")
            await queuer.run(
                dequeue_timeout=timedelta(seconds=2),
                heartbeat_timeout=timedelta(seconds=20),
                shutdown_on_listener_failure=True,
            )


def register_jobs(queuer: PgQueuer, services: Services) -> None:
    @queuer.schedule("housekeeping", "*/5 * * * *")
    async def clean(schedule: object) -> None:
        correlation_id.set(str(uuid4()))
        await services.housekeeping.clean()

    @queuer.schedule("anchor-audit-trail", "17 3 * * *")
    async def anchor_audit_trail(schedule: object) -> None:
        correlation_id.set(str(uuid4()))
        await services.housekeeping.anchor_audit_trail()
