"""Direct debits. Nothing here is ever sent twice by itself."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import msgspec

from kontor_client.authentication import Authenticator, authenticate
from kontor_client.models.payments import Debit, TransferStatus
from kontor_client.operations.accesses import access_path, customer_headers
from kontor_client.operations.consents import AUTHENTICATION_SECONDS
from kontor_client.operations.payments import PAYMENT, PAYMENTS
from kontor_client.plans import Call, Plan, fetch, path_of, send

KIND = "direct-debit"


def collect_direct_debits(
    access_id: str,
    product_id: str,
    debits: Debit | Sequence[Debit],
    *,
    creditor_id: str,
    collection_date: date,
    callback_url: str,
    customer_ip: str,
    scheme: str = "CORE",
    payment_id: str | None = None,
) -> Plan[TransferStatus]:
    """Collect one direct debit for a product, or several at once. `scheme` is CORE or B2B.

    The client must be made for direct debits. Give a `payment_id` of your own (a UUID) and keep it: the same one never
    collects twice. All debits have the same sequence type.
    """
    given = [debits] if isinstance(debits, Debit) else debits
    body: dict[str, Any] = {
        "scheme": scheme,
        "creditorId": creditor_id,
        "requestedCollectionDate": collection_date,
        "debits": [_show(debit) for debit in given],
    }
    params = {"callbackUrl": callback_url, "paymentId": payment_id or str(uuid4())}
    path = access_path(access_id, product_id, "payment", KIND)
    return fetch(TransferStatus, path, "POST", params=params, json=body, headers=customer_headers(customer_ip))


def read_direct_debit(payment_id: str) -> Plan[TransferStatus]:
    """Where direct debits stand; the bank is not asked."""
    return fetch(TransferStatus, PAYMENT + path_of(KIND, payment_id))


def cancel_direct_debit(payment_id: str) -> Plan[TransferStatus]:
    """Cancel what was not sent yet."""
    return fetch(TransferStatus, PAYMENT + path_of(KIND, payment_id, "cancel"), "POST")


def authenticate_direct_debit(
    payment_id: str, authenticator: Authenticator, *, timeout_seconds: float = AUTHENTICATION_SECONDS
) -> Plan[TransferStatus]:
    """Let the user answer until nothing is asked any more, as `authenticate_transfer`."""
    status = yield from read_direct_debit(payment_id)
    return (yield from authenticate(status, TransferStatus, authenticator, timeout_seconds))


def export_direct_debit(payment_id: str) -> Plan[bytes]:
    """As pain.008."""
    answer = yield from send(Call("GET", PAYMENTS + path_of(payment_id, "pain008"), headers={"Accept": "*/*"}))
    return answer.content


def _show(debit: Debit) -> dict[str, Any]:
    """What was not given is left out, except the currency, which has to be named."""
    shown: dict[str, Any] = msgspec.to_builtins(debit, builtin_types=(Decimal, date))
    return shown | {"currency": debit.currency}
