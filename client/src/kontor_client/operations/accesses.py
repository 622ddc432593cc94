"""Accesses: add, wait for, refresh, delete."""

import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from kontor_client.errors import AccessFailedError, AuthenticationNeededError, KontorClientError, TimeLimitError
from kontor_client.models.accesses import Access, AccessIssues, Customer
from kontor_client.plans import Call, Pause, Plan, fetch, path_of, send

ACCESSES = "/customer/v2/bankzugaenge"
POLL_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0)  # between two polls; the last one repeats


def access_path(access_id: str, *parts: object) -> str:
    return ACCESSES + path_of(access_id, *parts)


def customer_headers(customer_ip: str | None) -> dict[str, str]:
    """Says that the user is present."""
    return {} if customer_ip is None else {"Customer-IP-Address": customer_ip}


def read_customer() -> Plan[Customer]:
    """The customer with all accesses."""
    return fetch(Customer, "/customer/v2")


def list_accesses() -> Plan[dict[str, Access]]:
    """The accesses by their ids."""
    return fetch(dict[str, Access], ACCESSES)


def read_access(access_id: str) -> Plan[Access]:
    """One access with its products."""
    return fetch(Access, access_path(access_id))


def read_issues(access_id: str) -> Plan[AccessIssues]:
    """What the last attempt to fetch an access had to say."""
    return fetch(AccessIssues, access_path(access_id, "issues"))


def encrypt(text: str) -> Plan[str]:
    """A value for credentials, encrypted for the token's tenant by the service."""
    content = b64encode(text.encode())
    headers = {"Content-Type": "application/octet-stream+base64"}
    answer = yield from send(Call("PUT", "/encrypt", content=content, headers=headers, is_repeatable=True))
    return answer.content.decode("ascii")


def encrypt_all(credentials: Mapping[str, str]) -> Plan[dict[str, str]]:
    sealed = dict(credentials)
    for name, value in sealed.items():
        sealed[name] = yield from encrypt(value)
    return sealed


def describe_access(
    provider_id: str | None,
    credentials: Mapping[str, str] | None,
    *,
    is_encrypted: bool,
    is_synced: bool | None = None,
    products: Sequence[str] | None = None,
    purpose: str | None = None,
    usable_until: date | None = None,
) -> Plan[dict[str, Any]]:
    """The object that adds an access."""
    given: dict[str, Any] = {"providerId": provider_id, "sync": is_synced, "selectedBankProducts": products}
    given |= {"zweck": purpose, "nutzungBis": None if usable_until is None else usable_until.isoformat()}
    if credentials is not None:
        given["credentials"] = credentials if is_encrypted else (yield from encrypt_all(credentials))
    return {name: value for name, value in given.items() if value is not None}


def add_access(
    provider_id: str,
    credentials: Mapping[str, str],
    *,
    access_id: str | None = None,
    is_encrypted: bool = False,
    is_synced: bool | None = None,
    products: Sequence[str] | None = None,
    purpose: str | None = None,
    usable_until: date | None = None,
    customer_ip: str | None = None,
) -> Plan[Access]:
    """Add an access. Its products are known when this returns; transactions follow: `wait_until_complete`.

    `credentials` are values by the provider's field keys. They are encrypted on the way, unless they already are.
    Whatever the bank said, the access is stored: see its messages, and `needs_authentication`. `purpose` and
    `usable_until` (the last day) are shown in the customer's permissions.
    """
    chosen = access_id or str(uuid4())
    given = yield from describe_access(
        provider_id,
        credentials,
        is_encrypted=is_encrypted,
        is_synced=is_synced,
        products=products,
        purpose=purpose,
        usable_until=usable_until,
    )
    yield from send(Call("POST", ACCESSES, json={chosen: given}, headers=customer_headers(customer_ip)))
    return (yield from read_access(chosen))


def set_statements(access_id: str, *, wanted: bool) -> Plan[None]:
    """Whether fetches of this access bring account statements from now on."""
    yield from send(Call("POST", ACCESSES, json={access_id: {"kontoauszuege": wanted}}))


def refresh_access(access_id: str, *, customer_ip: str | None = None) -> Plan[Access]:
    """Fetch everything again with the stored credentials."""
    headers = customer_headers(customer_ip)
    yield from send(Call("POST", ACCESSES, params={"refresh": True}, json={access_id: {}}, headers=headers))
    return (yield from read_access(access_id))


def wait_until_complete(access_id: str, timeout_seconds: float = 120) -> Plan[Access]:
    """Wait until everything was fetched.

    Raises AuthenticationNeededError when the bank wants the user, AccessFailedError when the last attempt failed.
    """
    end = time.monotonic() + timeout_seconds
    polls = 0
    while True:
        access = yield from read_access(access_id)
        if access.needs_authentication:
            raise AuthenticationNeededError(f"The bank wants the user to authenticate for {access_id}.")
        if access.is_complete:
            return access
        issues = yield from read_issues(access_id)
        if any(message.level == "ERROR" for message in issues.messages):
            raise AccessFailedError(access_id, issues.messages)
        if time.monotonic() >= end:
            raise TimeLimitError(f"The access {access_id} is not complete after {timeout_seconds} seconds.")
        yield Pause(POLL_SECONDS[min(polls, len(POLL_SECONDS) - 1)])
        polls += 1


def delete_access(access_id: str) -> Plan[None]:
    """Delete an access with its data and credentials."""
    yield from send(Call("DELETE", access_path(access_id)))


def delete_accesses() -> Plan[None]:
    """Delete all accesses with their data and credentials."""
    yield from send(Call("DELETE", ACCESSES))


def start_web_form(callback_url: str, *, access_id: str | None = None, customer_ip: str | None = None) -> Plan[str]:
    """For tenants with the redirect frontend: the address to send the user to, where an access is added.

    The user comes back to `callback_url`, with `baReentry` and `accessId` added to its query.
    """
    body: dict[str, Any] = {access_id or str(uuid4()): {}}
    return (
        yield from open_web_form(Call("POST", ACCESSES, json=body, headers=customer_headers(customer_ip)), callback_url)
    )


def renew_in_web_form(access_id: str, callback_url: str, *, customer_ip: str) -> Plan[str]:
    """For tenants with the redirect frontend: the address to send the user to, where a consent is renewed."""
    call = Call("POST", access_path(access_id, "consent"), headers=customer_headers(customer_ip))
    return (yield from open_web_form(call, callback_url))


def open_web_form(call: Call, callback_url: str) -> Plan[str]:
    answer = yield from send(call)
    if answer.status != 451:
        raise KontorClientError("This tenant handles credentials itself; the service has no form for it.")
    address = answer.headers["location"]
    return f"{address}{'&' if '?' in address else '?'}{urlencode({'callbackUrl': callback_url})}"


def end_web_forms() -> Plan[None]:
    """End all sessions of the user in the redirect frontend."""
    yield from send(Call("DELETE", "/customer/v2/regprotect/sessions"))
