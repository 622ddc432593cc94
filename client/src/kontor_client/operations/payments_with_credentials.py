"""Transfers from accounts of which no access is stored: credentials come with the order. Nothing is ever sent twice."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import uuid4

from kontor_client.models.payments import Order, TransferStatus, Verification
from kontor_client.operations.accesses import customer_headers, encrypt_all
from kontor_client.operations.payments import PAYMENT, describe_transfer, name_kind, show_orders
from kontor_client.plans import Plan, fetch, path_of


def order_transfer_with_credentials(
    provider_id: str,
    credentials: Mapping[str, str],
    product: str,
    order: Order | Sequence[Order],
    *,
    callback_url: str,
    customer_ip: str,
    payment_id: str | None = None,
    is_instant: bool = False,
    execution_date: date | None = None,
    verification_id: str | None = None,
    is_encrypted: bool = False,
) -> Plan[TransferStatus]:
    """As `order_transfer`. `product` is the IBAN or number of the account to pay from."""
    details = show_orders(order)
    source = yield from _show_source(provider_id, credentials, product, is_encrypted=is_encrypted)
    body = describe_transfer(details, execution_date, verification_id, is_instant=is_instant) | source
    params = {"callbackUrl": callback_url, "paymentId": payment_id or str(uuid4())}
    path = PAYMENT + path_of(name_kind(isinstance(details, list)))
    headers = customer_headers(customer_ip)
    return (yield from fetch(TransferStatus, path, "POST", params=params, json=body, headers=headers))


def verify_payee_with_credentials(
    provider_id: str,
    credentials: Mapping[str, str],
    product: str,
    order: Order | Sequence[Order],
    *,
    payment_id: str | None = None,
    is_encrypted: bool = False,
) -> Plan[Verification]:
    """As `verify_payee`."""
    source = yield from _show_source(provider_id, credentials, product, is_encrypted=is_encrypted)
    body = {"transferDetails": show_orders(order)} | source
    params = {"paymentId": payment_id or str(uuid4())}
    return (yield from fetch(Verification, f"{PAYMENT}/vop", "POST", params=params, json=body))


def _show_source(
    provider_id: str, credentials: Mapping[str, str], product: str, *, is_encrypted: bool
) -> Plan[dict[str, Any]]:
    sealed = credentials if is_encrypted else (yield from encrypt_all(credentials))
    return {"provider": provider_id, "credentials": sealed, "product": product}
