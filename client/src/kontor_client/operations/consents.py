"""Consents: strong customer authentication for an access, on its creation or to renew it."""

from collections.abc import Mapping
from typing import Any

from kontor_client.authentication import Authenticator, authenticate
from kontor_client.models.authentication import ConsentStatus
from kontor_client.operations.accesses import access_path, customer_headers, describe_access
from kontor_client.plans import Call, Plan, fetch, path_of, send

CONSENTS = "/customer/v2/consent"
AUTHENTICATION_SECONDS = 15 * 60


def start_consent(
    access_id: str,
    *,
    callback_url: str,
    customer_ip: str,
    provider_id: str | None = None,
    credentials: Mapping[str, str] | None = None,
    is_encrypted: bool = False,
    asks_settings: bool = False,
    max_transactions: str = "all",
) -> Plan[str]:
    """Ask the bank for consent; the id of the consent.

    With provider and credentials the access is added, without them the stored ones are used. `asks_settings` asks for
    method and medium even where they are known. `max_transactions`: `none` older than 90 days, `all`, or those of
    `paymentAccounts`.
    """
    body: dict[str, Any] = {}
    if provider_id is not None or credentials is not None:
        body = {access_id: (yield from describe_access(provider_id, credentials, is_encrypted=is_encrypted))}
    params = {"callbackUrl": callback_url, "queryTanSettings": asks_settings, "maxTransactions": max_transactions}
    path = access_path(access_id, "consent")
    answer = yield from send(Call("POST", path, params, body, headers=customer_headers(customer_ip)))
    return answer.headers["location"].rpartition("/")[2]


def read_consent(consent_id: str) -> Plan[ConsentStatus]:
    """Where it stands; the bank is not asked."""
    return fetch(ConsentStatus, CONSENTS + path_of(consent_id))


def cancel_consent(consent_id: str) -> Plan[ConsentStatus]:
    return fetch(ConsentStatus, CONSENTS + path_of(consent_id, "cancel"), "POST")


def authenticate_consent(
    consent_id: str, authenticator: Authenticator, timeout_seconds: float = AUTHENTICATION_SECONDS
) -> Plan[ConsentStatus]:
    """Let the user answer until the consent is given or has failed: see `is_given`."""
    status = yield from read_consent(consent_id)
    return (yield from authenticate(status, ConsentStatus, authenticator, timeout_seconds))


def give_consent(
    access_id: str,
    authenticator: Authenticator,
    *,
    callback_url: str,
    customer_ip: str,
    provider_id: str | None = None,
    credentials: Mapping[str, str] | None = None,
    is_encrypted: bool = False,
    asks_settings: bool = False,
    max_transactions: str = "all",
    timeout_seconds: float = AUTHENTICATION_SECONDS,
) -> Plan[ConsentStatus]:
    """`start_consent` and `authenticate_consent` in one; then `wait_until_complete`."""
    consent_id = yield from start_consent(
        access_id,
        callback_url=callback_url,
        customer_ip=customer_ip,
        provider_id=provider_id,
        credentials=credentials,
        is_encrypted=is_encrypted,
        asks_settings=asks_settings,
        max_transactions=max_transactions,
    )
    return (yield from authenticate_consent(consent_id, authenticator, timeout_seconds))
