"""Standing orders. Each change is a payment: nothing here is ever sent twice by itself."""

from datetime import date
from typing import Any
from uuid import uuid4

from kontor_client.authentication import Authenticator, authenticate
from kontor_client.models.payments import Order, StandingOrder, TransferStatus
from kontor_client.operations.accesses import access_path, customer_headers
from kontor_client.operations.consents import AUTHENTICATION_SECONDS
from kontor_client.operations.payments import PAYMENT, show_order
from kontor_client.plans import Plan, fetch, path_of

KIND = "standing-order"


def list_standing_orders(access_id: str, product_id: str) -> Plan[list[StandingOrder]]:
    """As of the last update; the bank is not asked."""
    return fetch(list[StandingOrder], access_path(access_id, product_id, "payment", KIND))


def read_standing_order(access_id: str, product_id: str, standing_order_id: str) -> Plan[StandingOrder]:
    return fetch(StandingOrder, access_path(access_id, product_id, "payment", KIND, standing_order_id))


def create_standing_order(
    access_id: str,
    product_id: str,
    order: Order,
    *,
    period: str,
    first_execution_date: date,
    callback_url: str,
    customer_ip: str,
    last_execution_date: date | None = None,
    payment_id: str | None = None,
    verification_id: str | None = None,
) -> Plan[TransferStatus]:
    """Order a new one. `period` is MONTH_ONE, MONTH_TWO, MONTH_THREE, MONTH_SIX, YEAR_ONE, WEEK_ONE or WEEK_TWO.

    Give a `payment_id` of your own (a UUID) and keep it: the same one never orders twice.
    """
    body = _show(order, period, first_execution_date, last_execution_date, verification_id)
    path = access_path(access_id, product_id, "payment", KIND)
    return _send("POST", path, body, callback_url, customer_ip, payment_id)


def change_standing_order(
    access_id: str,
    product_id: str,
    standing_order_id: str,
    order: Order,
    *,
    period: str,
    first_execution_date: date,
    callback_url: str,
    customer_ip: str,
    last_execution_date: date | None = None,
    payment_id: str | None = None,
    verification_id: str | None = None,
) -> Plan[TransferStatus]:
    """Order what it is to become. What stays the same is given as it was."""
    body = _show(order, period, first_execution_date, last_execution_date, verification_id)
    path = access_path(access_id, product_id, "payment", KIND, standing_order_id)
    return _send("PUT", path, body, callback_url, customer_ip, payment_id)


def delete_standing_order(
    access_id: str,
    product_id: str,
    standing_order_id: str,
    *,
    callback_url: str,
    customer_ip: str,
    payment_id: str | None = None,
) -> Plan[TransferStatus]:
    path = access_path(access_id, product_id, "payment", KIND, standing_order_id)
    return _send("DELETE", path, None, callback_url, customer_ip, payment_id)


def read_standing_order_status(payment_id: str) -> Plan[TransferStatus]:
    """Where an order about a standing order stands; the bank is not asked."""
    return fetch(TransferStatus, PAYMENT + path_of(KIND, payment_id))


def cancel_standing_order(payment_id: str) -> Plan[TransferStatus]:
    """Cancel what was not sent yet."""
    return fetch(TransferStatus, PAYMENT + path_of(KIND, payment_id, "cancel"), "POST")


def authenticate_standing_order(
    payment_id: str, authenticator: Authenticator, *, timeout_seconds: float = AUTHENTICATION_SECONDS
) -> Plan[TransferStatus]:
    """Let the user answer until nothing is asked any more, as `authenticate_transfer`."""
    status = yield from read_standing_order_status(payment_id)
    return (yield from authenticate(status, TransferStatus, authenticator, timeout_seconds))


def _show(order: Order, period: str, first: date, last: date | None, verification_id: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "transferDetails": show_order(order),
        "period": period,
        "firstExecutionDate": first,
    }
    body |= {"lastExecutionDate": last} if last is not None else {}
    return body | ({"vopId": verification_id} if verification_id is not None else {})


def _send(
    method: str, path: str, body: dict[str, Any] | None, callback_url: str, customer_ip: str, payment_id: str | None
) -> Plan[TransferStatus]:
    params = {"callbackUrl": callback_url, "paymentId": payment_id or str(uuid4())}
    return fetch(TransferStatus, path, method, params=params, json=body, headers=customer_headers(customer_ip))
