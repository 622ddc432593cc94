"""Webhooks and their deliveries as the management interface shows them, and the notification that a receiver gets."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.callbacks import MAX_URL_LENGTH
from kontor.domain.deltas import DeltaCursor, write_cursor
from kontor.domain.payments import PaymentKind
from kontor.domain.secrets import Secret
from kontor.domain.webhooks import MAX_DESCRIPTION_LENGTH, DeliveryFailure, DeliveryState, EventType
from kontor.domain.webhooks import Delivery as DomainDelivery
from kontor.domain.webhooks import Webhook as DomainWebhook
from kontor.services.webhooks import EventsView, WebhookChange
from kontor.services.webhooks import NewWebhook as NewWebhookCommand
from kontor.wire.encoding import encode_json, format_timestamp
from kontor.wire.urls import Urls

Address = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_URL_LENGTH,
        description="https on port 443 or 8443, at a public address",
        examples=["https://app.example.com/kontor"],
    ),
]
Types = Annotated[list[EventType], Meta(min_length=1, description="which events are wanted")]
Description = Annotated[str, Meta(max_length=MAX_DESCRIPTION_LENGTH)]
Serial = Annotated[int, Meta(ge=1, description="consecutive for each webhook, without gaps", examples=[42])]
Timestamp = Annotated[str, Meta(description="Berlin time", examples=["2026-11-15 09:30:00"])]


class NewWebhook(msgspec.Struct):
    """Body of registering a webhook. Without `events` all types are wanted."""

    url: Address
    events: Types | None = None
    description: Description | None = None

    def to_command(self) -> NewWebhookCommand:
        return NewWebhookCommand(self.url, tuple(EventType if self.events is None else self.events), self.description)


class ChangedWebhook(msgspec.Struct):
    """Body of changing a webhook: what is left out stays as it is. `rotateSecret` makes a new secret."""

    url: Address | None = None
    events: Types | None = None
    description: Description | None = None
    active: bool | None = None
    rotateSecret: bool = False  # noqa: N815

    def to_command(self) -> WebhookChange:
        events = None if self.events is None else tuple(self.events)
        return WebhookChange(self.url, events, self.description, self.active, self.rotateSecret)


class Webhook(msgspec.Struct):
    id: UUID
    url: str
    events: list[EventType]
    active: Annotated[bool, Meta(description="false: nothing is generated or sent")]
    lastSerial: Annotated[int, Meta(ge=0, description="serial of the newest event")]  # noqa: N815
    createdAt: Timestamp  # noqa: N815
    description: str | UnsetType = UNSET
    gone: Annotated[bool, Meta(description="switched off because the receiver answered 410")] | UnsetType = UNSET
    secret: Annotated[str, Meta(description="shown once: when it is made", examples=["whsec_…"])] | UnsetType = UNSET


class WebhookDelivery(msgspec.Struct):
    """An event and how its calls went. `status` and `failure` are those of the last attempt."""

    serial: Serial
    type: EventType
    createdAt: Timestamp  # noqa: N815
    state: DeliveryState
    attempts: Annotated[int, Meta(ge=0)]
    lastAttemptAt: Timestamp | UnsetType = UNSET  # noqa: N815
    nextAttemptAt: Timestamp | UnsetType = UNSET  # noqa: N815
    status: Annotated[int, Meta(description="HTTP status of the receiver")] | UnsetType = UNSET
    failure: DeliveryFailure | UnsetType = UNSET


class AccessReference(msgspec.Struct):
    id: str
    href: str


class ProductReference(msgspec.Struct):
    id: UUID
    neueUmsaetze: Annotated[int, Meta(ge=1, description="how many of its transactions are new")]  # noqa: N815
    geaendert: Annotated[int, Meta(ge=1, description="how many have changed")] | UnsetType = UNSET
    entfernt: Annotated[int, Meta(ge=1, description="how many are gone")] | UnsetType = UNSET


class TransferReference(msgspec.Struct):
    paymentId: UUID  # noqa: N815
    href: str | UnsetType = UNSET


class Notification(msgspec.Struct):
    """What a receiver gets. References only; without `user`, that user was erased since."""

    type: EventType
    serial: Serial
    createdAt: Timestamp  # noqa: N815
    tenant: str
    user: UUID | UnsetType = UNSET
    bankzugang: AccessReference | UnsetType = UNSET
    produkte: list[ProductReference] = []
    transfer: TransferReference | UnsetType = UNSET
    cursor: (
        Annotated[str, Meta(description="with new transactions: the user's position in changes after this event")]
        | UnsetType
    ) = UNSET


class WebhookEvents(msgspec.Struct):
    """Events after a serial, oldest first. Those before `oldestSerial` are no longer kept."""

    oldestSerial: Serial  # noqa: N815
    lastSerial: Annotated[int, Meta(ge=0, description="serial of the newest event")]  # noqa: N815
    events: list[Notification]


def show_webhook(webhook: DomainWebhook, secret: Secret | None = None) -> Webhook:
    return Webhook(
        webhook.id,
        webhook.url,
        list(webhook.events),
        webhook.is_active,
        webhook.last_serial,
        format_timestamp(webhook.created_at),
        webhook.description or UNSET,
        webhook.is_gone or UNSET,
        UNSET if secret is None else secret.reveal(),
    )


def show_delivery(delivery: DomainDelivery) -> WebhookDelivery:
    return WebhookDelivery(
        delivery.serial,
        delivery.event.type,
        format_timestamp(delivery.created_at),
        delivery.state,
        delivery.attempts,
        UNSET if delivery.attempted_at is None else format_timestamp(delivery.attempted_at),
        UNSET if delivery.next_attempt_at is None else format_timestamp(delivery.next_attempt_at),
        delivery.status or UNSET,
        delivery.failure or UNSET,
    )


def show_notification(delivery: DomainDelivery, tenant: str, urls: Urls) -> Notification:
    event = delivery.event
    access: AccessReference | UnsetType = UNSET
    transfer: TransferReference | UnsetType = UNSET
    if event.access_id is not None:
        access = AccessReference(event.access_id, urls.access(event.access_id))
    if event.payment_id is not None:
        # A transfer of the legacy form is told about, but has no address to read it at.
        is_legacy = event.payment_kind is PaymentKind.LEGACY
        kind = event.payment_kind or PaymentKind.SINGLE
        href = UNSET if is_legacy else urls.transfer(event.payment_id, kind)
        transfer = TransferReference(event.payment_id, href)
    return Notification(
        event.type,
        delivery.serial,
        format_timestamp(delivery.created_at),
        tenant,
        event.user_id or UNSET,
        access,
        [
            ProductReference(part.product_id, part.count, part.changed or UNSET, part.removed or UNSET)
            for part in event.products
        ],
        transfer,
        UNSET
        if event.user_id is None or event.data_version is None
        else write_cursor(event.user_id, DeltaCursor(event.data_version)),
    )


def show_events(view: EventsView, tenant: str, urls: Urls) -> WebhookEvents:
    shown = [show_notification(delivery, tenant, urls) for delivery in view.events]
    return WebhookEvents(view.oldest_serial, view.last_serial, shown)


def encode_notification(delivery: DomainDelivery, tenant: str, urls: Urls) -> bytes:
    return encode_json(show_notification(delivery, tenant, urls))
