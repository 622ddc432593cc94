"""Which jobs there are, and what each calls. A job carries an id and nothing else."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID, uuid4

import structlog
from pgqueuer import Job, PgQueuer, RetryRequested

from kontor.jobs.concurrency import ConcurrencyLimit
from kontor.services.bundle import Services
from kontor.services.fetching import Outcome
from kontor.services.runtime import correlation_id
from kontor.storage.queue import DELIVER, FETCH, REFRESH, RETAG, RETAG_TENANT

log = structlog.get_logger(__name__)

WORKER_ID = uuid4()  # of this process, whatever becomes of its connections

BUSY_SECONDS = 1.0
CROWDED_SECONDS = 2.0, 10.0  # until a refresh is tried again that found its provider's places taken
REAPER_SECONDS = 5.0
POLL_SECONDS = 0.5  # between two polls for what is due
REPAIR_SECONDS = 60.0
REFRESHES_AT_ONCE = 24  # of this worker; what somebody waits for comes beside them
BEAT_SECONDS = 5.0
ALERT_SECONDS = 2.0
PUSH_SECONDS = 1.0
MODEL_SECONDS = 600.0
DELIVERY_REAPER_SECONDS = 15.0
DELIVERIES_AT_ONCE = 50  # of this worker: receivers that hang take nothing from the banks


def register_jobs(queuer: PgQueuer, services: Services) -> dict[str, ConcurrencyLimit]:
    """Returns how many jobs of a kind this worker takes at once, where there is a limit."""
    limits = {
        REFRESH: ConcurrencyLimit(REFRESHES_AT_ONCE),
        DELIVER: ConcurrencyLimit(DELIVERIES_AT_ONCE),
        RETAG: ConcurrencyLimit(1),
    }

    @queuer.entrypoint(FETCH, on_failure="hold")
    async def fetch(job: Job) -> None:
        assert job.payload is not None
        _require_end(await services.fetching.run(UUID(bytes=job.payload)))

    @queuer.entrypoint(DELIVER, on_failure="hold")
    async def deliver(job: Job) -> None:
        assert job.payload is not None
        correlation_id.set(str(uuid4()))
        async with limits[DELIVER]:
            seconds = await services.deliveries.run(UUID(bytes=job.payload))
        if seconds is not None:
            raise RetryRequested(delay=timedelta(seconds=seconds), reason="not delivered yet")

    @queuer.entrypoint(REFRESH, on_failure="hold")
    async def refresh(job: Job) -> None:
        assert job.payload is not None
        async with limits[REFRESH]:
            outcome = await services.fetching.run(UUID(bytes=job.payload))
        _require_end(outcome)

    @queuer.entrypoint(RETAG)
    async def retag(job: Job) -> None:
        assert job.payload is not None
        async with limits[RETAG]:
            while await services.transaction_tagging.retag_step(UUID(bytes=job.payload)):
                pass

    @queuer.entrypoint(RETAG_TENANT, on_failure="hold")
    async def retag_tenant(job: Job) -> None:
        assert job.payload is not None
        await services.transaction_tagging.start_retagging(UUID(bytes=job.payload))

    @queuer.schedule("housekeeping", "*/5 * * * *")
    async def clean(schedule: object) -> None:
        correlation_id.set(str(uuid4()))
        await services.housekeeping.clean()

    @queuer.schedule("anchor-audit-trail", "17 3 * * *")
    async def anchor_audit_trail(schedule: object) -> None:
        correlation_id.set(str(uuid4()))
        await services.housekeeping.anchor_audit_trail()

    return limits


def _require_end(outcome: Outcome) -> None:
    """Otherwise the job goes back to the queue."""
    if outcome is not Outcome.FINISHED:
        seconds = random.uniform(*CROWDED_SECONDS) if outcome is Outcome.CROWDED else BUSY_SECONDS  # noqa: S311
        raise RetryRequested(delay=timedelta(seconds=seconds), reason=outcome.value)


async def reap(services: Services) -> None:
    """What a worker does on its own: take over what dead ones left behind, and look for what is due."""
    await asyncio.gather(
        repeat("reaper", REAPER_SECONDS, services.fetching.take_over_abandoned),
        repeat("refresh", POLL_SECONDS, services.refreshing.schedule_due),
        repeat("refresh-repair", REPAIR_SECONDS, services.refreshing.repair_schedule),
        repeat("consent-warning", REPAIR_SECONDS, services.refreshing.warn_of_consents),
        repeat("expired-accesses", REAPER_SECONDS, services.housekeeping.delete_expired_accesses),
        repeat("ended-permissions", REAPER_SECONDS, services.housekeeping.end_permissions),
        repeat("pending-revocations", REAPER_SECONDS, services.accesses.permissions.revocations.revoke_pending),
        repeat("payment-recovery", REAPER_SECONDS, services.payments.recovery.recover),
        repeat("heartbeat", BEAT_SECONDS, lambda: services.workers.beat(WORKER_ID)),
        repeat("alerts", ALERT_SECONDS, services.alerts.evaluate_due_users),
        repeat("pushes", PUSH_SECONDS, services.pushes.send_due),
        repeat("own-model", MODEL_SECONDS, services.merchant_questions.run),
        repeat("delivery-reaper", DELIVERY_REAPER_SECONDS, services.deliveries.take_over_stranded),
    )


async def repeat(name: str, seconds: float, task: Callable[[], Awaitable[object]]) -> None:
    while True:
        correlation_id.set(str(uuid4()))
        try:
            await task()
        except Exception as error:
            log.warning(f"{name}.failed", reason=f"{type(error).__name__}: {error}")
        await asyncio.sleep(seconds)
