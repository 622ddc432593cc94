"""Web Push: alerts are sent to browsers of the user, encrypted for each, without amounts and names (ADR 0068).

A row per alert and browser is inserted in the transaction that makes the alert. Workers send what is due, and try again
by the schedule of webhooks. A browser that is gone (404, 410) is deleted.
"""

import asyncio
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

import structlog
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

from kontor.domain.alerts import AlertKind, AlertStatus
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.domain.push import MAX_SUBSCRIPTIONS, PushKeys, PushSubscription
from kontor.domain.webhooks import RetrySchedule
from kontor.egress import Purpose
from kontor.services.alerts.alerts import Alerts
from kontor.services.alerts.push_encryption import authorize, encode_base64url, encrypt, read_point, write_point
from kontor.services.security import UserEncryption, auditing
from kontor.services.webhooks import CallResult, WebhookCalls
from kontor.storage import alerts, push_messages, push_subscriptions, users
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database
from kontor.storage.push_messages import ClaimedMessage, PushMessage
from kontor.storage.push_subscriptions import SealedSubscription

log = structlog.get_logger(__name__)

TTL_SECONDS = 24 * 3600  # for which the push service keeps a message for a browser that is off
CLAIM_SECONDS = 60.0  # longer than a call may take
AT_ONCE = 16
PADDED_BYTES = 128  # all messages are of one length
GONE = (404, 410)


@dataclass(frozen=True, slots=True)
class NewSubscription:
    endpoint: str
    keys: PushKeys
    kinds: tuple[AlertKind, ...] | None


class Pushes:
    """`contact` is the address by which a push service may ask who we are."""

    def __init__(
        self,
        database: Database,
        user_encryption: UserEncryption,
        calls: WebhookCalls,
        found_alerts: Alerts,
        contact: str | None,
        schedule: RetrySchedule | None = None,
    ) -> None:
        self._database = database
        self._user_encryption = user_encryption
        self._calls = calls
        self._alerts = found_alerts
        self._contact = contact
        self._schedule = schedule or RetrySchedule()

    # For users

    async def read_key(self) -> str:
        """The installation's public key, as browsers take it."""
        return encode_base64url(write_point((await self._load_key()).public_key()))

    async def list_subscriptions(self, principal: Principal) -> list[PushSubscription]:
        user_id = user_of(principal)
        async with self._database.connect(user_id) as connection:
            found = await push_subscriptions.list_subscriptions(connection, user_id)
            return [await self._open(connection, user_id, sealed) for sealed in found]

    async def read_subscription(self, principal: Principal, subscription_id: UUID) -> PushSubscription:
        user_id = user_of(principal)
        async with self._database.connect(user_id) as connection:
            sealed = await push_subscriptions.find_subscription(connection, user_id, subscription_id)
            if sealed is None:
                raise NotFoundError
            return await self._open(connection, user_id, sealed)

    async def subscribe(self, principal: Principal, new: NewSubscription) -> UUID:
        """The same browser again changes its subscription. It is told of alerts that are made from now on."""
        user_id = user_of(principal)
        _check_point(new.keys.public)
        await self._calls.check(new.endpoint, "endpoint")
        await self._alerts.evaluate_if_due(user_id)
        digest = self._user_encryption.digest_endpoint(new.endpoint)
        async with self._database.transaction(user_id) as connection:
            await lock_data(connection, user_id)
            known = await push_subscriptions.find_id(connection, user_id, digest)
            own_id = known or uuid4()
            sealed = await self._seal(connection, user_id, own_id, new)
            if known is not None:
                await push_subscriptions.update_subscription(connection, user_id, own_id, sealed, new.kinds)
                return own_id
            if len(await push_subscriptions.list_subscriptions(connection, user_id)) >= MAX_SUBSCRIPTIONS:
                raise InvalidError(f"a user can have at most {MAX_SUBSCRIPTIONS} push subscriptions")
            await push_subscriptions.insert_subscription(connection, user_id, own_id, digest, sealed, new.kinds)
            await _record(connection, principal, "add", own_id)
        return own_id

    async def delete_subscription(self, principal: Principal, subscription_id: UUID) -> None:
        user_id = user_of(principal)
        async with self._database.transaction(user_id) as connection:
            if not await push_subscriptions.delete_subscription(connection, user_id, subscription_id):
                raise NotFoundError
            await _record(connection, principal, "delete", subscription_id)

    # Sending

    async def send_due(self) -> int:
        """What a worker does every second; returns how many messages it has dealt with."""
        count = 0
        while True:
            async with self._database.transaction() as connection:
                claimed = await push_messages.claim_messages(connection, AT_ONCE, CLAIM_SECONDS)
            if not claimed:
                return count
            key = await self._load_key()
            await asyncio.gather(*(self._send(message, key) for message in claimed))
            count += len(claimed)

    async def _send(self, claimed: ClaimedMessage, key: EllipticCurvePrivateKey) -> None:
        found = await self._find(claimed)
        if found is None:
            return
        message, subscription = found
        headers = {
            "TTL": str(TTL_SECONDS),
            "Urgency": "normal",
            "Topic": message.alert_id.hex,  # one that waits for the browser already is replaced
            "Content-Type": "application/octet-stream",
            "Content-Encoding": "aes128gcm",
            "Authorization": authorize(key, subscription.endpoint, self._contact, datetime.now(UTC)),
        }
        body = encrypt(_write(message), subscription.keys, PADDED_BYTES)
        result = await self._calls.post(subscription.endpoint, body, lambda: headers, Purpose.PUSH)
        await self._store(claimed, subscription.id, result)

    async def _find(self, claimed: ClaimedMessage) -> tuple[PushMessage, PushSubscription] | None:
        """None, and the message is gone, where there is nothing to tell any more."""
        user_id = claimed.user_id
        async with self._database.transaction(user_id) as connection:
            message = await push_messages.find_message(connection, user_id, claimed.id)
            if message is None:
                return None
            alert = await alerts.find_alert(connection, user_id, message.alert_id)
            is_new = alert is not None and alert.status is AlertStatus.NEW
            sealed = await push_subscriptions.find_subscription(connection, user_id, message.subscription_id)
            if sealed is None or not is_new or not await users.is_active(connection, user_id):
                await push_messages.delete_message(connection, user_id, claimed.id)
                return None
            return message, await self._open(connection, user_id, sealed)

    async def _store(self, claimed: ClaimedMessage, subscription_id: UUID, result: CallResult) -> None:
        pause = None
        async with self._database.transaction(claimed.user_id) as connection:
            if result.status in GONE:
                await push_subscriptions.delete_subscription(connection, claimed.user_id, subscription_id)
            elif result.failure is not None:
                chance = random.uniform(-1, 1)  # noqa: S311
                pause = self._schedule.plan(
                    claimed.attempts, claimed.elapsed_seconds, chance, result.retry_after_seconds
                )
            if pause is None:
                await push_messages.delete_message(connection, claimed.user_id, claimed.id)
            else:
                await push_messages.postpone_message(connection, claimed.user_id, claimed.id, pause)
        log.info(
            "push.sent",
            subscription=str(subscription_id),
            attempt=claimed.attempts,
            status=result.status,
            failure=None if result.failure is None else str(result.failure),
            retry_seconds=None if pause is None else round(pause, 1),
        )

    # Parts

    async def _load_key(self) -> EllipticCurvePrivateKey:
        async with self._database.connect() as connection:
            return await self._user_encryption.load_push_key(connection)

    async def _seal(self, connection: Connection, user_id: UUID, own_id: UUID, new: NewSubscription) -> bytes:
        value = {"endpoint": new.endpoint, "public": new.keys.public.hex(), "auth": new.keys.auth.hex()}
        return await self._user_encryption.seal(connection, user_id, str(own_id), "push", value)

    async def _open(self, connection: Connection, user_id: UUID, sealed: SealedSubscription) -> PushSubscription:
        known = await self._user_encryption.unseal(
            connection, user_id, str(sealed.id), "push", sealed.sealed, dict[str, str]
        )
        keys = PushKeys(bytes.fromhex(known["public"]), bytes.fromhex(known["auth"]))
        return PushSubscription(sealed.id, known["endpoint"], keys, sealed.kinds, sealed.created_at)


def _check_point(point: bytes) -> None:
    try:
        read_point(point)
    except ValueError:
        raise InvalidError("is no point of the curve P-256", "keys.p256dh") from None


def _write(message: PushMessage) -> bytes:
    return json.dumps({"art": message.kind, "id": str(message.alert_id)}).encode()


async def _record(connection: Connection, principal: Principal, change: str, subscription_id: UUID) -> None:
    subject = f"user {principal.user_pseudonym} push {subscription_id}"
    await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), f"push.{change}", subject)
