"""Delivering events to receivers: one claimed call at a time for each, tried again by a schedule, then discarded."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID, uuid4

import structlog

from kontor.domain.audit import AuditResult
from kontor.domain.secrets import Secret
from kontor.domain.webhooks import Delivery, DeliveryFailure, RetrySchedule
from kontor.services.security import UserEncryption, auditing
from kontor.services.webhooks.calls import CallResult, Message, WebhookCalls
from kontor.services.webhooks.webhooks import name_secrets
from kontor.storage import deliveries, queue, webhooks
from kontor.storage.database import Connection, Database
from kontor.storage.deliveries import OpenDelivery

log = structlog.get_logger(__name__)

ACTOR = "delivery"
CLAIM_SECONDS = 30  # longer than a call may take
MAX_CALLS_PER_WEBHOOK = 16  # a receiver that hangs holds up its own events only
# While a receiver is busy, what waits for it looks again after about as long as it has waited already: thousands that
# looked every few seconds would keep the queue busy with nothing else.
MIN_WAIT_SECONDS, MAX_WAIT_SECONDS = 1.0, 60.0
BATCH = 100

# Makes the body of a delivery, for the tenant of this name.
Renderer: TypeAlias = Callable[[Delivery, str], bytes]


@dataclass(frozen=True, slots=True)
class Claimed:
    found: OpenDelivery
    claim: UUID
    secrets: list[Secret]


class Deliveries:
    def __init__(
        self,
        database: Database,
        user_encryption: UserEncryption,
        calls: WebhookCalls,
        render: Renderer,
        schedule: RetrySchedule | None = None,
    ) -> None:
        self._database = database
        self._user_encryption = user_encryption
        self._calls = calls
        self._render = render
        self._schedule = schedule or RetrySchedule()

    async def run(self, delivery_id: UUID) -> float | None:
        """Make one call, if it is time for it and nobody else is at it. Returns in how many seconds to look again."""
        claimed = await self._claim(delivery_id)
        if not isinstance(claimed, Claimed):
            return claimed
        open_delivery = claimed.found
        message = Message(
            open_delivery.delivery.message_id, self._render(open_delivery.delivery, open_delivery.tenant_name)
        )
        started = time.monotonic()
        result = await self._calls.send(open_delivery.url, message, claimed.secrets)
        return await self._store(claimed, result, time.monotonic() - started)

    async def take_over_stranded(self) -> int:
        """Deliveries whose job got lost get a new one."""
        async with self._database.transaction() as connection:
            stranded = await deliveries.list_stranded(connection, BATCH)
            if stranded:
                await queue.remove_delivery_jobs(connection, stranded)
                await queue.enqueue_deliveries(connection, stranded)
        if stranded:
            log.warning("webhook.requeued", count=len(stranded))
        return len(stranded)

    # Parts

    async def _claim(self, delivery_id: UUID) -> Claimed | float | None:
        async with self._database.transaction() as connection:
            open_delivery = await deliveries.lock_delivery(connection, delivery_id)
            if open_delivery is None:
                return None
            if open_delivery.wait_seconds > 0:
                return open_delivery.wait_seconds
            if not open_delivery.is_active:
                await deliveries.discard_delivery(connection, delivery_id, DeliveryFailure.SWITCHED_OFF)
                return None
            if await deliveries.count_claimed(connection, open_delivery.delivery.webhook_id) >= MAX_CALLS_PER_WEBHOOK:
                return plan_next_poll(-open_delivery.wait_seconds)
            secrets = await self._open_secrets(connection, open_delivery)
            claim = uuid4()
            await deliveries.claim_delivery(connection, delivery_id, claim, CLAIM_SECONDS)
        return Claimed(open_delivery, claim, secrets)

    async def _open_secrets(self, connection: Connection, open_delivery: OpenDelivery) -> list[Secret]:
        webhook_id = open_delivery.delivery.webhook_id
        known = await webhooks.find_secrets(connection, webhook_id)
        assert known is not None, "an active webhook has its secret"
        key_id, sealed, has_previous = known
        place = name_secrets(webhook_id)
        plain = await self._user_encryption.unseal_for_tenant(
            connection, open_delivery.tenant_id, place, key_id, sealed
        )
        names = ("current", "previous") if has_previous else ("current",)
        return [Secret(plain[name]) for name in names if name in plain]

    async def _store(self, claimed: Claimed, result: CallResult, seconds: float) -> float | None:
        delivery = claimed.found.delivery
        pause = None
        async with self._database.transaction() as connection:
            if result.failure is None:
                assert result.status is not None
                await deliveries.note_delivered(connection, delivery.id, claimed.claim, result.status)
            else:
                is_gone = result.failure is DeliveryFailure.GONE and await self._note_gone(connection, claimed.found)
                if not is_gone:
                    elapsed = claimed.found.elapsed_seconds + seconds
                    chance = random.uniform(-1, 1)  # noqa: S311
                    pause = self._schedule.plan(claimed.found.tries + 1, elapsed, chance, result.retry_after_seconds)
                await deliveries.note_failed(
                    connection, delivery.id, claimed.claim, result.status, result.failure, pause
                )
        log.info(
            "webhook.called",
            webhook=str(delivery.webhook_id),
            serial=delivery.serial,
            attempt=delivery.attempts + 1,
            status=result.status,
            failure=None if result.failure is None else str(result.failure),
            retry_seconds=None if pause is None else round(pause, 1),
            seconds=round(seconds, 3),
        )
        return pause

    @staticmethod
    async def _note_gone(connection: Connection, called: OpenDelivery) -> bool:
        """410: the receiver wants nothing any more. False when the webhook leads to another one meanwhile."""
        webhook = await webhooks.lock_called(connection, called.delivery.webhook_id)
        if webhook is not None and webhook.url != called.url:
            return False
        if webhook is not None and webhook.is_active:
            await webhooks.note_gone(connection, webhook.id)
            await deliveries.discard_open(connection, webhook.id, DeliveryFailure.SWITCHED_OFF)
            subject = f"webhook {webhook.id} answered 410"
            await auditing.record(connection, webhook.tenant_id, ACTOR, "webhook.switch-off", subject, AuditResult.DONE)
        return True


def plan_next_poll(waited_seconds: float) -> float:
    """In how many seconds to look again whether the receiver can be called."""
    usual = min(max(waited_seconds, MIN_WAIT_SECONDS), MAX_WAIT_SECONDS)
    return usual * random.uniform(0.5, 1.5)  # noqa: S311
