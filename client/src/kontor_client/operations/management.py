"""For a tenant's admin client: users and webhooks; for everybody: the service's health."""

from collections.abc import Sequence
from typing import Any

from kontor_client.models.users import Health, User
from kontor_client.models.webhooks import Delivery, Events, Webhook
from kontor_client.plans import Call, Plan, fetch, path_of, send


def tenant_path(tenant: str, *parts: object) -> str:
    return "/auth/mgmt/v1/tenants" + path_of(tenant, *parts)


def present(**facts: Any) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def read_health() -> Plan[Health]:
    """Whether the service is ready; ApiError 503 when it is not."""
    return fetch(Health, "/health/ready")


def read_liveness() -> Plan[Health]:
    """Whether the process answers, whatever its database does."""
    return fetch(Health, "/health/live")


def read_metrics() -> Plan[bytes]:
    """Figures for Prometheus."""
    answer = yield from send(Call("GET", "/metrics", headers={"Accept": "*/*"}))
    return answer.content


# Users


def create_user(tenant: str, username: str, password: str) -> Plan[User]:
    """Create a user, who gets the roles that are given by default."""
    body = {"username": username, "password": password}
    answer = yield from send(Call("POST", tenant_path(tenant, "users"), json=body))
    return (yield from fetch(User, answer.headers["location"]))


def list_users(tenant: str) -> Plan[list[User]]:
    return fetch(list[User], tenant_path(tenant, "users"))


# Webhooks


def create_webhook(
    tenant: str, url: str, *, events: Sequence[str] | None = None, description: str | None = None
) -> Plan[Webhook]:
    """Register an address. The answer is the only one with the secret."""
    body = present(url=url, events=events, description=description)
    return fetch(Webhook, tenant_path(tenant, "webhooks"), "POST", json=body)


def list_webhooks(tenant: str) -> Plan[list[Webhook]]:
    return fetch(list[Webhook], tenant_path(tenant, "webhooks"))


def read_webhook(tenant: str, webhook_id: str) -> Plan[Webhook]:
    return fetch(Webhook, tenant_path(tenant, "webhooks", webhook_id))


def change_webhook(
    tenant: str,
    webhook_id: str,
    *,
    url: str | None = None,
    events: Sequence[str] | None = None,
    description: str | None = None,
    is_active: bool | None = None,
    rotate_secret: bool = False,
) -> Plan[Webhook]:
    """What is left out stays as it is."""
    body = present(url=url, events=events, description=description, active=is_active)
    body |= {"rotateSecret": True} if rotate_secret else {}
    path = tenant_path(tenant, "webhooks", webhook_id)
    # A second rotation would make the first one's secret worthless, which nobody has seen.
    return fetch(Webhook, path, "PUT", json=body, is_repeatable=not rotate_secret)


def delete_webhook(tenant: str, webhook_id: str) -> Plan[None]:
    yield from send(Call("DELETE", tenant_path(tenant, "webhooks", webhook_id)))


def list_deliveries(
    tenant: str, webhook_id: str, *, state: str | None = None, before_serial: int | None = None, limit: int = 100
) -> Plan[list[Delivery]]:
    """Newest first."""
    params = {"state": state, "beforeSerial": before_serial, "limit": limit}
    return fetch(list[Delivery], tenant_path(tenant, "webhooks", webhook_id, "deliveries"), params=params)


def replay_delivery(tenant: str, webhook_id: str, serial: int) -> Plan[Delivery]:
    """Send an event again."""
    return fetch(Delivery, tenant_path(tenant, "webhooks", webhook_id, "deliveries", serial, "replay"), "POST")


def list_events(tenant: str, webhook_id: str, *, after_serial: int = 0, limit: int = 100) -> Plan[Events]:
    """Events after a serial, oldest first, for a receiver that missed some."""
    params = {"afterSerial": after_serial, "limit": limit}
    return fetch(Events, tenant_path(tenant, "webhooks", webhook_id, "events"), params=params)
