"""Alerts: ending consents, price rises, low balances, and what else users are told of their own accord."""

from collections.abc import Sequence
from typing import Any

from kontor_client.models.alerts import Alert, PushKey, PushSubscription
from kontor_client.plans import Call, Plan, fetch, path_of, send

ALERTS = "/customer/v2/hinweise"
SUBSCRIPTIONS = f"{ALERTS}/push"


def list_alerts(status: str | None = None, limit: int | None = None, language: str | None = None) -> Plan[list[Alert]]:
    """Those of the last 90 days, the newest first. `language` is that of their texts; German by default."""
    query = {"status": status, "limit": limit}
    params = {name: value for name, value in query.items() if value is not None}
    return fetch(list[Alert], ALERTS, params=params, headers=_accept(language))


def read_alert(alert_id: str, language: str | None = None) -> Plan[Alert]:
    return fetch(Alert, ALERTS + path_of(alert_id), headers=_accept(language))


def update_alert(alert_id: str, status: str) -> Plan[None]:
    """An alert becomes `GELESEN`, then `ERLEDIGT`, and never goes back."""
    yield from send(Call("PUT", ALERTS + path_of(alert_id), json={"status": status}, is_repeatable=True))


# Browsers that are told of alerts (Web Push)


def read_push_key() -> Plan[PushKey]:
    """What a browser needs as its `applicationServerKey`."""
    return fetch(PushKey, f"{ALERTS}/push-key")


def list_push_subscriptions() -> Plan[list[PushSubscription]]:
    return fetch(list[PushSubscription], SUBSCRIPTIONS)


def read_push_subscription(subscription_id: str) -> Plan[PushSubscription]:
    return fetch(PushSubscription, SUBSCRIPTIONS + path_of(subscription_id))


def add_push_subscription(
    endpoint: str, *, p256dh: str, auth: str, kinds: Sequence[str] | None = None
) -> Plan[PushSubscription]:
    """The values of a browser's `PushSubscription.toJSON()`. The same endpoint again changes its subscription."""
    body: dict[str, Any] = {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}
    if kinds is not None:
        body["arten"] = list(kinds)
    answer = yield from send(Call("POST", SUBSCRIPTIONS, json=body, is_repeatable=True))
    return (yield from fetch(PushSubscription, answer.headers["location"]))


def delete_push_subscription(subscription_id: str) -> Plan[None]:
    yield from send(Call("DELETE", SUBSCRIPTIONS + path_of(subscription_id)))


def _accept(language: str | None) -> dict[str, str]:
    return {} if language is None else {"Accept-Language": language}
