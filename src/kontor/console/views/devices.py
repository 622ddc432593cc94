"""Browsers in which the user is told of notices, and the page that a push leads to."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from kontor.console.alerts import ALERTS, find_page
from kontor.console.gateway import segment, together
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor_client import ApiError

PUSH = f"{ALERTS}/push"
PAGE = f"{BASE}/devices"
# Which browsers use a push service, by the end of its host's name.
SERVICES = {
    "googleapis.com": "Chrome",
    "mozilla.com": "Firefox",
    "push.apple.com": "Safari",
    "notify.windows.com": "Edge",
}


@dataclass(frozen=True, slots=True)
class Browser:
    id: str
    endpoint: str
    service: str
    since: str


async def show(visit: Visit) -> Facts:
    key, known = await together(visit.api.get(f"{ALERTS}/push-key"), visit.api.get(PUSH))
    return {"key": key["key"], "browsers": [_read(subscription) for subscription in known]}


def _read(subscription: dict[str, Any]) -> Browser:
    host = urlsplit(subscription["endpoint"]).hostname or ""
    service = next((name for end, name in SERVICES.items() if host.endswith(end)), host)
    return Browser(subscription["id"], subscription["endpoint"], service, subscription["erstelltAm"])


async def subscribe(visit: Visit, form: Form) -> Facts | None:
    keys = {"p256dh": field_of(form, "p256dh"), "auth": field_of(form, "auth")}
    await visit.api.send("POST", PUSH, json={"endpoint": field_of(form, "endpoint"), "keys": keys})
    raise RedirectTo(PAGE, notice="push_on")


async def unsubscribe(visit: Visit, form: Form) -> Facts | None:
    await visit.api.send("DELETE", f"{PUSH}/{segment(field_of(form, 'id'))}")
    raise RedirectTo(PAGE, notice="push_off")


async def open_alert(visit: Visit) -> Facts:
    """Where a push leads: the page of what the notice is about."""
    path = f"{ALERTS}/{segment(visit.path('alert'))}"
    try:
        alert = await visit.api.get(path)
    except ApiError as error:
        if error.status != 404:
            raise
        raise RedirectTo(BASE) from None
    raise RedirectTo(find_page(alert["objekt"]) or BASE)


VIEWS = [
    View("devices", "/devices", show, group="money", actions={"subscribe": subscribe, "unsubscribe": unsubscribe}),
    View("alert", "/alerts/{alert:str}", open_alert, parent="overview"),
]
