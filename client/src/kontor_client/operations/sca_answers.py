"""Single answers to strong customer authentication, for callers who drive a dialogue themselves.

`authenticate_consent` and its like ask and answer until the end. Here, give one of `method`, `medium` and `data`: a
TAN, or the query with which a bank's page sent the user back. None of them says that the user has confirmed in the app.
"""

from typing import Any

from kontor_client.models.authentication import ConsentStatus
from kontor_client.models.payments import TransferStatus
from kontor_client.operations.consents import CONSENTS
from kontor_client.operations.payments import PAYMENT, name_kind
from kontor_client.plans import Plan, fetch, path_of

STANDING_ORDER, DIRECT_DEBIT = "standing-order", "direct-debit"


def answer_consent(
    consent_id: str, *, method: int | None = None, medium: str | None = None, data: str | None = None
) -> Plan[ConsentStatus]:
    """Answer what a consent asks."""
    return fetch(ConsentStatus, CONSENTS + path_of(consent_id), "POST", json=_show(method, medium, data))


def poll_consent(consent_id: str) -> Plan[ConsentStatus]:
    """Ask the bank whether the user has confirmed in the app."""
    return fetch(ConsentStatus, CONSENTS + path_of(consent_id, "poll"))


def answer_transfer(
    payment_id: str,
    *,
    is_bulk: bool = False,
    method: int | None = None,
    medium: str | None = None,
    data: str | None = None,
) -> Plan[TransferStatus]:
    """Answer what a transfer asks."""
    return _answer(name_kind(is_bulk), payment_id, _show(method, medium, data))


def poll_transfer(payment_id: str, *, is_bulk: bool = False) -> Plan[TransferStatus]:
    """Ask the bank whether the user has confirmed in the app."""
    return _poll(name_kind(is_bulk), payment_id)


def confirm_payee(payment_id: str, *, is_bulk: bool = False) -> Plan[TransferStatus]:
    """Pay, although name and IBAN of the payee do not fit, or could not be compared."""
    return _confirm(name_kind(is_bulk), payment_id)


def answer_standing_order(
    payment_id: str, *, method: int | None = None, medium: str | None = None, data: str | None = None
) -> Plan[TransferStatus]:
    """Answer what an order about a standing order asks."""
    return _answer(STANDING_ORDER, payment_id, _show(method, medium, data))


def poll_standing_order(payment_id: str) -> Plan[TransferStatus]:
    """Ask the bank whether the user has confirmed in the app."""
    return _poll(STANDING_ORDER, payment_id)


def confirm_payee_of_standing_order(payment_id: str) -> Plan[TransferStatus]:
    """Go on, although name and IBAN of the payee do not fit, or could not be compared."""
    return _confirm(STANDING_ORDER, payment_id)


def answer_direct_debit(
    payment_id: str, *, method: int | None = None, medium: str | None = None, data: str | None = None
) -> Plan[TransferStatus]:
    """Answer what a direct debit asks."""
    return _answer(DIRECT_DEBIT, payment_id, _show(method, medium, data))


def poll_direct_debit(payment_id: str) -> Plan[TransferStatus]:
    """Ask the bank whether the user has confirmed in the app."""
    return _poll(DIRECT_DEBIT, payment_id)


def _answer(kind: str, payment_id: str, body: dict[str, Any]) -> Plan[TransferStatus]:
    return fetch(TransferStatus, PAYMENT + path_of(kind, payment_id), "POST", json=body)


def _poll(kind: str, payment_id: str) -> Plan[TransferStatus]:
    return fetch(TransferStatus, PAYMENT + path_of(kind, payment_id, "poll"))


def _confirm(kind: str, payment_id: str) -> Plan[TransferStatus]:
    return fetch(TransferStatus, PAYMENT + path_of(kind, payment_id, "confirm-vop"), "POST")


def _show(method: int | None, medium: str | None, data: str | None) -> dict[str, Any]:
    given = {"chosenScaMethodId": method, "chosenScaMedia": medium, "scaAuthenticationData": data}
    return {name: value for name, value in given.items() if value is not None}
