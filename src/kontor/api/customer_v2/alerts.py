"""Alerts (Hinweise) of a customer."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY, READ
from kontor.api.operations import Call, Success, operation
from kontor.domain.languages import choose_language
from kontor.wire.alert_texts import LANGUAGES, Language
from kontor.wire.alerts import STATUSES_INSIDE, Hinweis, HinweisUpdate, Status, show_alert

ALERTS = CUSTOMER + "/hinweise"
ALERT = ALERTS + "/{alert-id}"


def read_language(call: Call) -> Language:
    return LANGUAGES[choose_language(call.header("accept-language") or "", LANGUAGES)]


class AlertsQuery(msgspec.Struct):
    status: Status | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


@operation(
    "GET",
    ALERTS,
    query=AlertsQuery,
    success=Success(shape=list[Hinweis]),
    is_heavy=True,
    **READ,
)
async def list_alerts(call: Call) -> Answer:
    """List the alerts of the last 90 days, the newest first.

    The first call makes those that hold now; from then on they are looked for after each fetch and once a day. One
    whose cause is gone is `ERLEDIGT`.
    """
    query, language = call.query(AlertsQuery), read_language(call)
    status = None if query.status is None else STATUSES_INSIDE[query.status]
    found = await call.services.alerts.list_alerts(call.principal, status, query.limit)
    return json_answer([show_alert(alert, language, call.urls) for alert in found])


@operation("GET", ALERT, success=Success(shape=Hinweis), errors=(404,), **READ)
async def read_alert(call: Call) -> Answer:
    """Read an alert."""
    alert = await call.services.alerts.read_alert(call.principal, call.path_uuid("alert-id"))
    return json_answer(show_alert(alert, read_language(call), call.urls))


@operation("PUT", ALERT, body=HinweisUpdate, success=Success(description="changed"), errors=(404,), **MODIFY)
async def update_alert(call: Call) -> Answer:
    """Set the status of an alert: `NEU`, then `GELESEN`, then `ERLEDIGT`; 400 on the way back.

    The same cause does not come back once it is `ERLEDIGT`.
    """
    alert = await call.services.alerts.read_alert(call.principal, call.path_uuid("alert-id"))
    body = await call.json(HinweisUpdate)
    await call.services.alerts.set_status(call.principal, alert.id, body.read())
    return empty_answer()
