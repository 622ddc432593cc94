"""Transfers in their legacy form: ordered with credentials and TAN method, released with a TAN. Never sent twice."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from kontor_client.models.payments import LegacyTransferStatus, Order
from kontor_client.operations.accesses import customer_headers, encrypt_all
from kontor_client.plans import Call, Plan, fetch, path_of, send

TRANSFERS = "/customer/v2/ueberweisung"


def start_legacy_transfer(
    provider_id: str,
    product_id: str,
    order: Order,
    credentials: Mapping[str, str],
    *,
    method: str,
    medium: str | None = None,
    customer_ip: str,
    execution_date: date | None = None,
    idempotency_key: str | None = None,
    is_encrypted: bool = False,
) -> Plan[LegacyTransferStatus]:
    """Order a transfer; `method` is the code of a TAN method. `submit_text_tan` with its `transfer_id` releases it."""
    body: dict[str, Any] = {
        "credentials": credentials if is_encrypted else (yield from encrypt_all(credentials)),
        "empfaenger": order.recipient,
        "verwendungszweck": order.purpose,
        "iban": order.iban,
        "bic": order.bic,
        "waehrung": order.currency,
        "betrag": order.amount,
        "sicherheitsverfahrenKodierung": method,
    }
    body |= {"tanMediumName": medium} if medium is not None else {}
    body |= {"ausfuehrungsdatum": execution_date} if execution_date is not None else {}
    headers = customer_headers(customer_ip)
    headers |= {"Idempotency-Key": idempotency_key} if idempotency_key is not None else {}
    answer = yield from send(Call("POST", TRANSFERS + path_of(provider_id, product_id), json=body, headers=headers))
    return answer.decode(LegacyTransferStatus)


def submit_text_tan(provider_id: str, product_id: str, transfer_id: str, tan: str) -> Plan[LegacyTransferStatus]:
    """A wrong TAN keeps the transfer open, until the third of them."""
    path = TRANSFERS + path_of(provider_id, product_id, transfer_id)
    return fetch(LegacyTransferStatus, path, "PUT", json={"tan": tan}, is_repeatable=False)
