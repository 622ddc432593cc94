"""Events, the webhooks that are told of them, and their deliveries."""

from kontor.services.webhooks.calls import CallResult, WebhookCalls
from kontor.services.webhooks.deliveries import Deliveries
from kontor.services.webhooks.events import Events
from kontor.services.webhooks.webhooks import EventsView, NewWebhook, WebhookChange, Webhooks

__all__ = [
    "CallResult",
    "Deliveries",
    "Events",
    "EventsView",
    "NewWebhook",
    "WebhookCalls",
    "WebhookChange",
    "Webhooks",
]
