"""Payees, their limits and holds, and what is kept about their verification."""

from decimal import Decimal
from typing import Any

from msgspec import UNSET, UnsetType

from kontor_client.models.payees import Payee, PayeeEvidence
from kontor_client.plans import Call, Plan, fetch, path_of, send

PAYEES = "/customer/v2/zahlungsempfaenger"
PAYMENTS = "/customer/v2/payments"


def list_payees() -> Plan[list[Payee]]:
    """Whom the user has paid, the latest first."""
    return fetch(list[Payee], PAYEES)


def read_payee(payee_id: str) -> Plan[Payee]:
    return fetch(Payee, PAYEES + path_of(payee_id))


def update_payee(
    payee_id: str,
    *,
    limit: Decimal | UnsetType | None = UNSET,
    hold_hours: int | UnsetType | None = UNSET,
) -> Plan[None]:
    """A limit for all orders of a day, and hours after the first use in which orders are refused; None resets."""
    given = {"limit": limit, "sperrfristStunden": hold_hours}
    body: dict[str, Any] = {name: value for name, value in given.items() if value is not UNSET}
    yield from send(Call("PUT", PAYEES + path_of(payee_id), json=body))


def read_payment_evidence(payment_id: str) -> Plan[PayeeEvidence]:
    """Verdict, text shown and choice; 404 where no payee was verified."""
    return fetch(PayeeEvidence, PAYMENTS + path_of(payment_id, "evidence"))
