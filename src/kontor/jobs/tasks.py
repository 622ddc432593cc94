"""Which jobs there are, and what each calls. A job carries an id and nothing else."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID, uuid4

import structlog
from pgqueuer import Job, PgQueuer, RetryRequested

from kontor.services.bundle import Services
from kontor.services.correlation import correlation_id
from kontor.services.fetching import Outcome
from kontor.storage.queue import FETCH, RETAG

log = structlog.get_logger(__name__)

BUSY_SECONDS = 1.0
REAPER_SECONDS = 5.0


def register_jobs(queuer: PgQueuer, services: Services) -> None:
    @queuer.entrypoint(FETCH, on_failure="hold")
    async def fetch(job: Job) -> None:
        assert job.payload is not None
        if await services.fetching.run(UUID(bytes=job.payload)) is Outcome.BUSY:
            raise RetryRequested(delay=timedelta(seconds=BUSY_SECONDS), reason="the credentials are in use")

    @queuer.entrypoint(RETAG, concurrency_limit=1)
    async def retag(job: Job) -> None:
        assert job.payload is not None
        while await services.transaction_tagging.retag_step(UUID(bytes=job.payload)):
            pass

    @queuer.schedule("housekeeping", "*/5 * * * *")
    async def clean(schedule: object) -> None:
        correlation_id.set(str(uuid4()))
        await services.housekeeping.clean()

    @queuer.schedule("anchor-audit-trail", "17 3 * * *")
    async def anchor_audit_trail(schedule: object) -> None:
        correlation_id.set(str(uuid4()))
        await services.housekeeping.anchor_audit_trail()


async def reap(services: Services) -> None:
    """Take over what dead workers left behind, every few seconds."""
    await asyncio.gather(
        repeat("reaper", REAPER_SECONDS, services.fetching.take_over_abandoned),
        repeat("payment-recovery", REAPER_SECONDS, services.payments.recovery.recover),
    )


async def repeat(name: str, seconds: float, task: Callable[[], Awaitable[object]]) -> None:
    while True:
        correlation_id.set(str(uuid4()))
        try:
            await task()
        except Exception as error:
            log.warning(f"{name}.failed", reason=f"{type(error).__name__}: {error}")
        await asyncio.sleep(seconds)
