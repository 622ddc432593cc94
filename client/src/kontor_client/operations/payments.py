"""Transfers, in their newer form. Nothing here is ever sent twice by itself."""

import time
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import msgspec

from kontor_client.authentication import Authenticator, authenticate
from kontor_client.errors import TimeLimitError
from kontor_client.models.payments import Order, TransferStatus, Verification
from kontor_client.operations.accesses import access_path, customer_headers
from kontor_client.operations.consents import AUTHENTICATION_SECONDS
from kontor_client.plans import Call, Pause, Plan, fetch, path_of, send

PAYMENT = "/customer/v2/payment"
PAYMENTS = "/customer/v2/payments"
POLL_SECONDS = 2.0


def order_transfer(
    access_id: str,
    product_id: str,
    order: Order | Sequence[Order],
    *,
    callback_url: str,
    customer_ip: str,
    payment_id: str | None = None,
    is_instant: bool = False,
    execution_date: date | None = None,
    verification_id: str | None = None,
    asks_settings: bool = False,
    prefers_rejection: bool = False,
) -> Plan[TransferStatus]:
    """Order a transfer from a product, or several at once (a bulk transfer).

    Give a `payment_id` of your own (a UUID) and keep it: the same one never pays twice, so a call that got no answer
    can be made again with it. Tenants with the redirect frontend send the user on to the status's `web_form`.
    """
    details = show_orders(order)
    body = describe_transfer(details, execution_date, verification_id, is_instant=is_instant)
    params = {
        "callbackUrl": callback_url,
        "paymentId": payment_id or str(uuid4()),
        "queryTanSettings": True if asks_settings else None,
    }
    headers = customer_headers(customer_ip)
    headers |= {"Rejection-NoFunds-Preferred": "true"} if prefers_rejection else {}
    path = access_path(access_id, product_id, "payment", name_kind(isinstance(details, list)))
    return fetch(TransferStatus, path, "POST", params=params, json=body, headers=headers)


def order_file(
    access_id: str,
    product_id: str,
    document: bytes,
    *,
    callback_url: str,
    customer_ip: str,
    payment_id: str | None = None,
) -> Plan[list[TransferStatus]]:
    """Order what a pain.001.001.03 or .09 document contains, one transfer per PmtInf.

    The same document again is the same payments, unless you give a `payment_id`.
    """
    params = {"callbackUrl": callback_url, "paymentId": payment_id}
    headers = customer_headers(customer_ip) | {"Content-Type": "application/xml"}
    path = access_path(access_id, product_id, "payment", "file")
    return fetch(list[TransferStatus], path, "POST", params=params, content=document, headers=headers)


def verify_payee(
    access_id: str, product_id: str, order: Order | Sequence[Order], *, payment_id: str | None = None
) -> Plan[Verification]:
    """Ask whether name and IBAN fit, before paying. Give the result's ids with the order."""
    path = access_path(access_id, product_id, "payment", "vop")
    params = {"paymentId": payment_id or str(uuid4())}
    return fetch(Verification, path, "POST", params=params, json={"transferDetails": show_orders(order)})


def read_transfer(payment_id: str, *, is_bulk: bool = False) -> Plan[TransferStatus]:
    """Where it stands; the bank is not asked."""
    return fetch(TransferStatus, PAYMENT + path_of(name_kind(is_bulk), payment_id))


def read_transfer_of_product(
    access_id: str, product_id: str, payment_id: str, *, is_bulk: bool = False
) -> Plan[TransferStatus]:
    """The same, found only if it is a transfer from this product."""
    return fetch(TransferStatus, access_path(access_id, product_id, "payment", name_kind(is_bulk), payment_id))


def list_payments(*, limit: int | None = None) -> Plan[list[TransferStatus]]:
    """The user's payments, newest first."""
    return fetch(list[TransferStatus], PAYMENTS, params={"limit": limit})


def cancel_transfer(payment_id: str, *, is_bulk: bool = False) -> Plan[TransferStatus]:
    """Cancel what was not sent yet."""
    return fetch(TransferStatus, PAYMENT + path_of(name_kind(is_bulk), payment_id, "cancel"), "POST")


def authenticate_transfer(
    payment_id: str,
    authenticator: Authenticator,
    *,
    is_bulk: bool = False,
    timeout_seconds: float = AUTHENTICATION_SECONDS,
) -> Plan[TransferStatus]:
    """Let the user answer until nothing is asked any more.

    Then look: `is_executed`, `is_accepted`, `is_failed`, or `is_unknown`, after which nothing may be ordered again
    before `wait_for_outcome` has told what became of it.
    """
    status = yield from read_transfer(payment_id, is_bulk=is_bulk)
    return (yield from authenticate(status, TransferStatus, authenticator, timeout_seconds))


def pay(
    access_id: str,
    product_id: str,
    order: Order | Sequence[Order],
    authenticator: Authenticator,
    *,
    callback_url: str,
    customer_ip: str,
    payment_id: str | None = None,
    is_instant: bool = False,
    execution_date: date | None = None,
    verification_id: str | None = None,
    timeout_seconds: float = AUTHENTICATION_SECONDS,
) -> Plan[TransferStatus]:
    """`order_transfer` and `authenticate_transfer` in one."""
    status = yield from order_transfer(
        access_id,
        product_id,
        order,
        callback_url=callback_url,
        customer_ip=customer_ip,
        payment_id=payment_id,
        is_instant=is_instant,
        execution_date=execution_date,
        verification_id=verification_id,
    )
    return (yield from authenticate(status, TransferStatus, authenticator, timeout_seconds))


def wait_for_outcome(payment_id: str, timeout_seconds: float = 300, *, is_bulk: bool = False) -> Plan[TransferStatus]:
    """Read a transfer whose outcome is unknown until the bank has told."""
    end = time.monotonic() + timeout_seconds
    while True:
        status = yield from read_transfer(payment_id, is_bulk=is_bulk)
        if status.messages and not status.is_unknown:
            return status
        if time.monotonic() >= end:
            raise TimeLimitError(f"The bank has not told what became of {payment_id}. Do not order again.")
        yield Pause(POLL_SECONDS)


def export_transfer(payment_id: str) -> Plan[bytes]:
    """As pain.001."""
    answer = yield from send(Call("GET", PAYMENTS + path_of(payment_id, "pain001"), headers={"Accept": "*/*"}))
    return answer.content


def describe_transfer(
    details: Any, execution_date: date | None, verification_id: str | None, *, is_instant: bool
) -> dict[str, Any]:
    """The body of an order; `details` as `show_orders` makes them."""
    body: dict[str, Any] = {"instant": is_instant, "transferDetails": details}
    body |= {"requestedExecutionDate": execution_date} if execution_date is not None else {}
    return body | ({"vopId": verification_id} if verification_id is not None else {})


def show_orders(order: Order | Sequence[Order]) -> dict[str, Any] | list[dict[str, Any]]:
    """What was not given is left out, except the currency, which has to be named."""
    if not isinstance(order, Order):
        return [show_order(single_order) for single_order in order]
    return show_order(order)


def show_order(order: Order) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(order, builtin_types=(Decimal,))
    return shown | {"currency": order.currency}


def name_kind(is_bulk: bool) -> str:
    return "bulk-transfer" if is_bulk else "single-transfer"
