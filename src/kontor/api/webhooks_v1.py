"""Administration of a tenant's webhooks. Every call is bound to the tenant of the client's token."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.api.answers import NO_STORE, Answer, HttpError, empty_answer, json_answer
from kontor.api.operations import NO_SUCH_OBJECT, Call, Security, Success, operation
from kontor.domain import scopes
from kontor.domain.webhooks import DeliveryState
from kontor.domain.webhooks import Webhook as DomainWebhook
from kontor.wire.webhooks import (
    ChangedWebhook,
    NewWebhook,
    Webhook,
    WebhookDelivery,
    WebhookEvents,
    show_delivery,
    show_events,
    show_webhook,
)

WEBHOOKS = "/auth/mgmt/v1/tenants/{tenant-name}/webhooks"
WEBHOOK = WEBHOOKS + "/{webhook-id}"
DELIVERIES = WEBHOOK + "/deliveries"

COMMON: dict[str, Any] = {"tag": "Webhooks", "security": Security.CLIENT_TOKEN, "scope": scopes.WEBHOOKS_MANAGE}
MAX_SERIAL = 2**63 - 1
Limit = Annotated[int, Meta(ge=1, le=1000, description="how many at most")]


class DeliveriesQuery(msgspec.Struct):
    state: Annotated[DeliveryState, Meta(description="only those in this state")] | None = None
    beforeSerial: Annotated[int, Meta(ge=1, le=MAX_SERIAL, description="only older ones")] | None = None  # noqa: N815
    limit: Limit = 100


class EventsQuery(msgspec.Struct):
    afterSerial: Annotated[int, Meta(ge=0, le=MAX_SERIAL, description="the last one the receiver knows")] = 0  # noqa: N815
    limit: Limit = 100


async def _find_webhook(call: Call) -> DomainWebhook:
    return await call.services.webhooks.read_webhook(
        call.principal, call.path("tenant-name"), call.path_uuid("webhook-id")
    )


@operation("GET", WEBHOOKS, success=Success(shape=list[Webhook]), errors=(404,), **COMMON)
async def list_webhooks(call: Call) -> Answer:
    """List the tenant's webhooks.

    Secrets are not shown.
    """
    webhooks = await call.services.webhooks.list_webhooks(call.principal, call.path("tenant-name"))
    return json_answer([show_webhook(webhook) for webhook in webhooks])


@operation(
    "POST",
    WEBHOOKS,
    body=NewWebhook,
    success=Success(201, shape=Webhook, headers={"Location": "address of the webhook"}, description="registered"),
    errors=(404, 409),
    **COMMON,
)
async def create_webhook(call: Call) -> Answer:
    """Register a webhook.

    The answer is the only one that shows the secret with which its calls are signed.
    """
    tenant = call.path("tenant-name")
    await call.services.tenants.read_tenant(call.principal, tenant)
    body = await call.json(NewWebhook)
    made, secret = await call.services.webhooks.create_webhook(call.principal, tenant, body.to_command())
    headers = NO_STORE | {"Location": call.urls.webhook(tenant, made.id)}
    return json_answer(show_webhook(made, secret), 201, headers)


@operation("GET", WEBHOOK, success=Success(shape=Webhook), errors=(404,), **COMMON)
async def read_webhook(call: Call) -> Answer:
    """Read one webhook.

    Its secret is not shown.
    """
    return json_answer(show_webhook(await _find_webhook(call)))


@operation("PUT", WEBHOOK, body=ChangedWebhook, success=Success(shape=Webhook), errors=(404,), **COMMON)
async def change_webhook(call: Call) -> Answer:
    """Change a webhook, switch it off or on, or give it a new secret.

    With rotateSecret the answer shows the new secret, this once; the one before goes on signing for 24 hours.
    """
    webhook = await _find_webhook(call)
    body = await call.json(ChangedWebhook)
    changed, secret = await call.services.webhooks.change_webhook(call.principal, webhook.id, body.to_command())
    return json_answer(show_webhook(changed, secret), headers=dict(NO_STORE))


@operation("DELETE", WEBHOOK, success=Success(description="deleted"), errors=(404,), **COMMON)
async def delete_webhook(call: Call) -> Answer:
    """Delete a webhook, with its deliveries.

    Its serials are not continued by another webhook.
    """
    webhook = await _find_webhook(call)
    await call.services.webhooks.delete_webhook(call.principal, webhook.id)
    return empty_answer()


@operation(
    "GET", DELIVERIES, query=DeliveriesQuery, success=Success(shape=list[WebhookDelivery]), errors=(404,), **COMMON
)
async def list_deliveries(call: Call) -> Answer:
    """List a webhook's deliveries of the last 30 days, newest first.

    With the status that the receiver answered, and when the next attempt is due.
    """
    webhook = await _find_webhook(call)
    query = call.query(DeliveriesQuery)
    deliveries = await call.services.webhooks.list_deliveries(webhook, query.state, query.beforeSerial, query.limit)
    return json_answer([show_delivery(delivery) for delivery in deliveries])


@operation("POST", DELIVERIES + "/{serial}/replay", success=Success(shape=WebhookDelivery), errors=(404, 409), **COMMON)
async def replay_delivery(call: Call) -> Answer:
    """Deliver an event again, under its own serial and id.

    409 where the webhook is switched off, or where the user of the event was erased.
    """
    webhook = await _find_webhook(call)
    text = call.path("serial")
    if not (text.isascii() and text.isdigit()) or len(text) > 19 or int(text) > MAX_SERIAL:
        raise HttpError(404, NO_SUCH_OBJECT)
    return json_answer(
        show_delivery(await call.services.webhooks.replay_delivery(call.principal, webhook.id, int(text)))
    )


@operation("GET", WEBHOOK + "/events", query=EventsQuery, success=Success(shape=WebhookEvents), errors=(404,), **COMMON)
async def list_events(call: Call) -> Answer:
    """List a webhook's events after a serial, oldest first, for a receiver that missed some.

    Serials have no gaps, so a receiver sees what it has missed.
    """
    webhook = await _find_webhook(call)
    query = call.query(EventsQuery)
    view = await call.services.webhooks.list_events(webhook, query.afterSerial, query.limit)
    return json_answer(show_events(view, call.path("tenant-name"), call.urls))
