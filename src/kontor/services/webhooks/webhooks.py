"""Webhooks of a tenant: registered, changed, deleted, looked into and replayed by its admin client."""

import base64
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from kontor.domain.errors import ConflictError, InvalidError, NotFoundError
from kontor.domain.principals import Principal
from kontor.domain.secrets import Secret
from kontor.domain.tenants import check_text
from kontor.domain.webhooks import (
    MAX_DESCRIPTION_LENGTH,
    MAX_WEBHOOKS,
    Delivery,
    DeliveryFailure,
    DeliveryState,
    EventType,
    Webhook,
)
from kontor.services.security import UserEncryption, auditing
from kontor.services.webhooks.calls import WebhookCalls
from kontor.storage import deliveries, queue, webhooks
from kontor.storage.database import Connection, Database

SECRET_BYTES = 32
PREVIOUS_SECONDS = 24 * 60 * 60  # for which the secret before signs too


@dataclass(frozen=True, slots=True)
class NewWebhook:
    url: str
    events: tuple[EventType, ...]
    description: str | None = None


@dataclass(frozen=True, slots=True)
class WebhookChange:
    """None leaves a thing as it is; an empty description removes it."""

    url: str | None = None
    events: tuple[EventType, ...] | None = None
    description: str | None = None
    is_active: bool | None = None
    rotates_secret: bool = False


@dataclass(frozen=True, slots=True)
class EventsView:
    """Events after a serial. Those before `oldest_serial` are no longer kept."""

    oldest_serial: int
    last_serial: int
    events: list[Delivery]


def name_secrets(webhook_id: UUID) -> str:
    """Where a webhook's secrets belong: sealed for one, they open for no other."""
    return f"webhook {webhook_id} secrets"


def make_secret() -> Secret:
    return Secret("whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode())


class Webhooks:
    def __init__(self, database: Database, user_encryption: UserEncryption, calls: WebhookCalls) -> None:
        self._database = database
        self._user_encryption = user_encryption
        self._calls = calls

    # Reading

    async def list_webhooks(self, principal: Principal, tenant_name: str) -> list[Webhook]:
        _require_own(principal, tenant_name)
        async with self._database.connect() as connection:
            return await webhooks.list_webhooks(connection, principal.tenant_id)

    async def read_webhook(self, principal: Principal, tenant_name: str, webhook_id: UUID) -> Webhook:
        _require_own(principal, tenant_name)
        async with self._database.connect() as connection:
            return _require(await webhooks.find_webhook(connection, principal.tenant_id, webhook_id))

    async def list_deliveries(
        self, webhook: Webhook, state: DeliveryState | None, before_serial: int | None, limit: int
    ) -> list[Delivery]:
        """Newest first, of a webhook that was read for the caller."""
        async with self._database.connect() as connection:
            return await deliveries.list_deliveries(connection, webhook.id, state, before_serial, limit)

    async def list_events(self, webhook: Webhook, after_serial: int, limit: int) -> EventsView:
        """Oldest first, of a webhook that was read for the caller."""
        async with self._database.snapshot() as connection:
            current = _require(await webhooks.find_webhook(connection, webhook.tenant_id, webhook.id))
            oldest = await deliveries.find_oldest_serial(connection, webhook.id)
            events = await deliveries.list_events(connection, webhook.id, after_serial, limit)
        return EventsView(current.last_serial + 1 if oldest is None else oldest, current.last_serial, events)

    # Changing

    async def create_webhook(self, principal: Principal, tenant_name: str, new: NewWebhook) -> tuple[Webhook, Secret]:
        """The webhook and its secret, which is shown now and never again."""
        _require_own(principal, tenant_name)
        description = _check_description(new.description)
        await self._calls.check(new.url)
        made = Webhook(
            uuid4(), principal.tenant_id, new.url, _sort(new.events), description, True, False, 0, True,
            datetime.now(UTC),
        )  # fmt: skip
        secret = make_secret()
        async with self._database.transaction() as connection:
            if await webhooks.lock_tenant(connection, principal.tenant_id) >= MAX_WEBHOOKS:
                raise ConflictError(f"A tenant has at most {MAX_WEBHOOKS} webhooks.")
            key_id, sealed = await self._seal(connection, made, {"current": secret.reveal()})
            await webhooks.insert_webhook(connection, made, key_id, sealed)
            await _record(connection, principal, "webhook.create", made.id)
        return made, secret

    async def change_webhook(
        self, principal: Principal, webhook_id: UUID, change: WebhookChange
    ) -> tuple[Webhook, Secret | None]:
        """The webhook as it is now, with its new secret where one was wanted."""
        description = _check_description(change.description)
        if change.url is not None:
            await self._calls.check(change.url)
        secret = make_secret() if change.rotates_secret else None
        async with self._database.transaction() as connection:
            webhook = _require(await webhooks.lock_webhook(connection, principal.tenant_id, webhook_id))
            if change.is_active and not webhook.has_secret and secret is None:
                raise InvalidError("must be true: the secret was lost with the master key", "rotateSecret")
            is_active = webhook.is_active if change.is_active is None else change.is_active
            changed = replace(
                webhook,
                url=change.url or webhook.url,
                events=webhook.events if change.events is None else _sort(change.events),
                description=webhook.description if change.description is None else description,
                is_active=is_active,
                is_gone=webhook.is_gone and not is_active,
                has_secret=webhook.has_secret or secret is not None,
            )
            if secret is not None:
                await self._rotate(connection, webhook, secret)
            await webhooks.update_webhook(connection, changed)
            if webhook.is_active and not is_active:
                await deliveries.discard_open(connection, webhook.id, DeliveryFailure.SWITCHED_OFF)
            await _record(connection, principal, "webhook.change", webhook.id)
            if secret is not None:
                await _record(connection, principal, "webhook.rotate-secret", webhook.id)
        return changed, secret

    async def delete_webhook(self, principal: Principal, webhook_id: UUID) -> None:
        """With its deliveries and their jobs."""
        async with self._database.transaction() as connection:
            webhook = _require(await webhooks.lock_webhook(connection, principal.tenant_id, webhook_id))
            await queue.remove_delivery_jobs(connection, await deliveries.list_open(connection, webhook.id))
            await webhooks.delete_webhook(connection, principal.tenant_id, webhook.id)
            await _record(connection, principal, "webhook.delete", webhook.id)

    async def replay_delivery(self, principal: Principal, webhook_id: UUID, serial: int) -> Delivery:
        """Deliver an event again, under its serial and its id. Raises ConflictError where that cannot be."""
        return await self.replay_for(auditing.name_actor(principal), principal.tenant_id, webhook_id, serial)

    async def replay_for(self, actor: str, tenant_id: UUID, webhook_id: UUID, serial: int) -> Delivery:
        """As `replay_delivery`, for an operator too."""
        async with self._database.transaction() as connection:
            webhook = _require(await webhooks.lock_webhook(connection, tenant_id, webhook_id))
            delivery = await deliveries.find_delivery(connection, webhook.id, serial)
            if delivery is None:
                raise NotFoundError
            if not webhook.is_active:
                raise ConflictError("The webhook is switched off.")
            if delivery.event.user_id is None:
                raise ConflictError("The user of this event was erased; there is nothing left to tell.")
            await deliveries.reopen_delivery(connection, webhook.id, serial)
            await queue.renew_delivery_job(connection, delivery.id)
            reopened = await deliveries.find_delivery(connection, webhook.id, serial)
            assert reopened is not None, "it is locked"
            subject = f"webhook {webhook.id} serial {serial}"
            await auditing.record(connection, tenant_id, actor, "webhook.replay", subject)
        return reopened

    # Parts

    async def _seal(self, connection: Connection, webhook: Webhook, value: dict[str, Any]) -> tuple[UUID, bytes]:
        return await self._user_encryption.seal_for_tenant(
            connection, webhook.tenant_id, name_secrets(webhook.id), value
        )

    async def _rotate(self, connection: Connection, webhook: Webhook, secret: Secret) -> None:
        """The secret before goes on signing for a day, so that receivers can change over in peace."""
        known = await webhooks.find_secrets(connection, webhook.id)
        value = {"current": secret.reveal()}
        if known is not None:
            key_id, sealed, _ = known
            associated_data = name_secrets(webhook.id)
            plain = await self._user_encryption.unseal_for_tenant(
                connection, webhook.tenant_id, associated_data, key_id, sealed
            )
            value["previous"] = plain["current"]
        key_id, sealed = await self._seal(connection, webhook, value)
        seconds = PREVIOUS_SECONDS if known is not None else None
        await webhooks.replace_secrets(connection, webhook.id, key_id, sealed, seconds)


def _require_own(principal: Principal, tenant_name: str) -> None:
    if tenant_name != principal.tenant_name:
        raise NotFoundError


def _require(webhook: Webhook | None) -> Webhook:
    if webhook is None:
        raise NotFoundError
    return webhook


def _sort(events: tuple[EventType, ...]) -> tuple[EventType, ...]:
    """Each once, in the order of their declaration."""
    return tuple(event for event in EventType if event in events)


def _check_description(text: str | None) -> str | None:
    return check_text(text, "description", MAX_DESCRIPTION_LENGTH) or None if text is not None else None


async def _record(connection: Connection, principal: Principal, action: str, webhook_id: UUID) -> None:
    actor = auditing.name_actor(principal)
    await auditing.record(connection, principal.tenant_id, actor, action, f"webhook {webhook_id}")
