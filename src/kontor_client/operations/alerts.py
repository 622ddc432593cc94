"""Alerts: ending consents, price rises, low balances, and what else users are told of their own accord."""

from kontor_client.models.alerts import Alert
from kontor_client.plans import Call, Plan, fetch, path_of, send

ALERTS = "/customer/v2/hinweise"


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


def _accept(language: str | None) -> dict[str, str]:
    return {} if language is None else {"Accept-Language": language}
