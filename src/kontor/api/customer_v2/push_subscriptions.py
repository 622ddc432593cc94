"""Browsers in which a customer is told of alerts (Web Push)."""

from kontor.api.answers import Answer, created, empty_answer, json_answer
from kontor.api.customer_v2.accesses import MODIFY, READ
from kontor.api.customer_v2.alerts import ALERTS
from kontor.api.operations import Call, Success, operation
from kontor.wire.push import NewPushSubscription, PushKey, PushSubscription, show_subscription

SUBSCRIPTIONS = ALERTS + "/push"
SUBSCRIPTION = SUBSCRIPTIONS + "/{subscription-id}"


@operation("GET", ALERTS + "/push-key", success=Success(shape=PushKey), **READ)
async def read_push_key(call: Call) -> Answer:
    """Read the key that a browser needs to subscribe (VAPID, RFC 8292).

    It is the same for all users, and stays.
    """
    return json_answer(PushKey(await call.services.pushes.read_key()))


@operation("GET", SUBSCRIPTIONS, success=Success(shape=list[PushSubscription]), **READ)
async def list_push_subscriptions(call: Call) -> Answer:
    """List the browsers that are told of alerts, the oldest first.

    Keys are not shown.
    """
    found = await call.services.pushes.list_subscriptions(call.principal)
    return json_answer([show_subscription(subscription, call.urls) for subscription in found])


@operation(
    "POST",
    SUBSCRIPTIONS,
    body=NewPushSubscription,
    success=Success(201, headers={"Location": "the subscription"}),
    errors=(409,),
    is_heavy=True,
    **MODIFY,
)
async def add_push_subscription(call: Call) -> Answer:
    """Tell a browser of alerts that are made from now on; the same browser again changes its subscription.

    A push carries `art` and `id` of the alert, encrypted for the browser (RFC 8291). 20 browsers per user. A browser
    that another user had registered is this user's from now on.
    """
    body = await call.json(NewPushSubscription)
    subscription_id = await call.services.pushes.subscribe(call.principal, body.read())
    return created(call.urls.push_subscription(subscription_id))


@operation("GET", SUBSCRIPTION, success=Success(shape=PushSubscription), errors=(404,), **READ)
async def read_push_subscription(call: Call) -> Answer:
    """Read a push subscription, without its keys."""
    found = await call.services.pushes.read_subscription(call.principal, call.path_uuid("subscription-id"))
    return json_answer(show_subscription(found, call.urls))


@operation("DELETE", SUBSCRIPTION, success=Success(description="deleted"), errors=(404,), **MODIFY)
async def delete_push_subscription(call: Call) -> Answer:
    """Tell a browser no more, nor of what is on its way."""
    await call.services.pushes.delete_subscription(call.principal, call.path_uuid("subscription-id"))
    return empty_answer()
