"""Standing orders: their list, and creating, changing and deleting them. Each action is a payment."""

from datetime import date
from typing import Any

from kontor.api.answers import Answer, json_answer
from kontor.api.customer_v2.payment_answers import (
    ANSWERED,
    STATUS,
    accept_payees,
    answer_body,
    answer_step,
    find_payment,
)
from kontor.api.customer_v2.payments import (
    ORDERED,
    PAYMENT,
    PRODUCT,
    TRANSFER,
    OrderQuery,
    explain_refusals,
    order_payment,
    read_circumstances,
    read_order_body,
    show_status,
)
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.payments import PaymentKind
from kontor.domain.sca_machine import AnswerKind
from kontor.domain.scopes import CUSTOMER_READ
from kontor.services.payments import PaymentRequest
from kontor.wire.consents import ScaAnswer
from kontor.wire.standing_orders import NewStandingOrder, StandingOrder, show_standing_order

ALL = PRODUCT + "/payment/standing-order"
ONE = ALL + "/{standing-order-id}"
STATUS_OF_ONE = PAYMENT + "/standing-order/{payment-id}"
KINDS = (PaymentKind.STANDING_ORDER,)
READ: dict[str, Any] = {"tag": "Payments", "security": Security.USER_TOKEN, "scope": CUSTOMER_READ}


@operation("GET", ALL, success=Success(shape=list[StandingOrder]), errors=(404,), **READ)
async def list_standing_orders(call: Call) -> Answer:
    """List a product's standing orders as of the last update.

    The bank is not asked.
    """
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    standing = call.services.payments.standing_orders
    orders = await standing.list_orders(call.principal, access_id, product_id)
    product = await call.services.payments.debtors.find_product(call.principal, access_id, product_id)
    actions, today = product.standing_order_actions, _find_today(call)
    return json_answer([show_standing_order(order, access_id, actions, today, call.urls) for order in orders])


@operation("GET", ONE, success=Success(shape=StandingOrder), errors=(404,), **READ)
async def read_standing_order(call: Call) -> Answer:
    """Read a standing order as of the last update.

    The bank is not asked.
    """
    access_id, product_id, order_id = _read_path(call)
    standing = call.services.payments.standing_orders
    order, product = await standing.find_order(call.principal, access_id, product_id, order_id)
    shown = show_standing_order(order, access_id, product.standing_order_actions, _find_today(call), call.urls)
    return json_answer(shown)


@operation("POST", ALL, query=OrderQuery, body=NewStandingOrder, **ORDERED, **TRANSFER)
@explain_refusals
async def initiate_standing_order(call: Call) -> Answer:
    """Create a standing order with the stored credentials of the product's access.

    The payee is verified as for a single transfer. Redirect tenants get 451.
    """
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    standing = call.services.payments.standing_orders
    product = await call.services.payments.debtors.find_product(call.principal, access_id, product_id)
    request, body = await _read_request(call)
    return await _order(call, standing.create(request, product, body.to_schedule()))


@operation("PUT", ONE, query=OrderQuery, body=NewStandingOrder, **ORDERED, **TRANSFER)
@explain_refusals
async def change_standing_order(call: Call) -> Answer:
    """Change a standing order.

    The payee is verified where the IBAN is a new one. Redirect tenants get 451.
    """
    standing = call.services.payments.standing_orders
    known, product = await standing.find_order(call.principal, *_read_path(call))
    request, body = await _read_request(call)
    return await _order(call, standing.change(request, product, known, body.to_schedule()))


@operation("DELETE", ONE, query=OrderQuery, **ORDERED, **TRANSFER)
@explain_refusals
async def delete_standing_order(call: Call) -> Answer:
    """Delete a standing order at the bank.

    It stays listed as ended. Redirect tenants get 451.
    """
    standing = call.services.payments.standing_orders
    known, product = await standing.find_order(call.principal, *_read_path(call))
    facts = await read_circumstances(call)
    request = PaymentRequest(kind=PaymentKind.STANDING_ORDER, given=(known.standing.order,), **facts)
    return await _order(call, standing.delete(request, product, known))


# Status and answers


@operation("GET", STATUS_OF_ONE, **STATUS, **TRANSFER)
async def get_standing_order(call: Call) -> Answer:
    """Read where an order about a standing order stands.

    The bank is not asked.
    """
    return await show_status(call, await find_payment(call, KINDS))


@operation("POST", STATUS_OF_ONE, body=ScaAnswer, **ANSWERED, **TRANSFER)
@explain_refusals
async def answer_standing_order(call: Call) -> Answer:
    """Answer the open step: a method, a medium, a TAN, or a confirmation in the app.

    The relations of the status tell which step is open; 409 where it is another.
    """
    return await answer_body(call, KINDS)


@operation("GET", STATUS_OF_ONE + "/poll", **ANSWERED, **TRANSFER)
async def poll_standing_order(call: Call) -> Answer:
    """Ask the bank whether the user has confirmed in the app.

    409 where no app has anything to confirm.
    """
    return await answer_step(call, await find_payment(call, KINDS), AnswerKind.CONFIRMED, "")


@operation("POST", STATUS_OF_ONE + "/cancel", **ANSWERED, **TRANSFER)
async def cancel_standing_order(call: Call) -> Answer:
    """Cancel what was not sent yet.

    The standing order itself is deleted by DELETE.
    """
    return await answer_step(call, await find_payment(call, KINDS), AnswerKind.CANCEL, "")


@operation("POST", STATUS_OF_ONE + "/confirm-vop", **ANSWERED, **TRANSFER)
async def confirm_payee_of_standing_order(call: Call) -> Answer:
    """Go on although the bank could not match the payee.

    Money may then go to another payee. The bank is not liable.
    """
    return await accept_payees(call, await find_payment(call, KINDS))


# Parts


def _find_today(call: Call) -> date:
    return call.services.payments.standing_orders.find_today()


def _read_path(call: Call) -> tuple[str, Any, Any]:
    return call.path("access-id"), call.path_uuid("product-id"), call.path_uuid("standing-order-id")


async def _read_request(call: Call) -> tuple[PaymentRequest, NewStandingOrder]:
    """Headers, query and body, in that order."""
    facts = await read_circumstances(call)
    body = await read_order_body(call, NewStandingOrder)
    verification_id = body.vopId if call.principal.is_regulated else None
    request = PaymentRequest(
        kind=PaymentKind.STANDING_ORDER, given=(body.to_order(),), verification_id=verification_id, **facts
    )
    return request, body


async def _order(call: Call, request: PaymentRequest) -> Answer:
    access_id, product_id = call.path("access-id"), call.path_uuid("product-id")
    debtor = await call.services.payments.debtors.find_stored(call.principal, access_id, product_id, request.kind)
    return await order_payment(call, debtor, request)
