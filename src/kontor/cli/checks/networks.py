"""Addresses that Kontor calls: reached over TCP and TLS, without saying anything to the bank."""

import socket
import ssl
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from kontor.cli.checks.findings import Finding, State, ok, problem, warning
from kontor.config import Settings
from kontor.connectors.profiles import ProfileError
from kontor.egress import Destination, Purpose, open_socket

CONNECT_SECONDS, AT_ONCE = 5, 16


def check_networks(settings: Settings, *, all_banks: bool) -> Iterator[Finding]:
    if settings.otlp_endpoint is not None:
        failure = _connect(Purpose.TRACING, settings.otlp_endpoint, ssl.create_default_context())
        subject = "KONTOR_OTLP_ENDPOINT"
        if failure is None:
            yield ok(subject, f"{settings.otlp_endpoint} is reached.")
        else:
            yield warning(subject, f"{settings.otlp_endpoint}: {failure} Traces are lost meanwhile.")
    if settings.model_url is not None:
        failure = _connect(Purpose.MODEL, settings.model_url, ssl.create_default_context())
        subject = "KONTOR_MODEL_URL"
        if failure is None:
            yield ok(subject, f"{settings.model_url} is reached.")
        else:
            yield warning(subject, f"{settings.model_url}: {failure} Merchants stay unknown meanwhile.")
    yield from _check_banks(settings, all_banks=all_banks)


def _check_banks(settings: Settings, *, all_banks: bool) -> Iterator[Finding]:
    try:
        addresses = sorted(set(_list_addresses(settings, all_banks=all_banks)))
        trusted = ssl.create_default_context(cafile=settings.bank_authorities)
    except (ProfileError, OSError):  # the profiles and the authorities have a finding of their own
        return
    if not addresses:
        return
    with ThreadPoolExecutor(AT_ONCE) as threads:
        failures = list(threads.map(lambda address: _connect(Purpose.BANK, address, trusted), addresses))
    found = [
        problem("bank addresses", f"{address}: {failure}")
        for address, failure in zip(addresses, failures, strict=True)
        if failure is not None
    ]
    yield from found
    state = State.OK if len(found) < len(addresses) else State.PROBLEM
    yield Finding("bank addresses", state, f"{len(addresses) - len(found)} of {len(addresses)} are reached.")


def _list_addresses(settings: Settings, *, all_banks: bool) -> Iterable[str]:
    """Those that the operator described; with `all_banks` every FinTS address of the catalogue."""
    from kontor.connectors.catalogue import load_catalogue
    from kontor.connectors.profile_checks import load_bank_profiles

    profiles = load_bank_profiles(settings.banks)
    for bank in profiles.banks.values():
        if bank.xs2a:
            yield str(bank.xs2a["base_url"])
        if bank.fints and settings.fints_product_id is not None:
            yield bank.fints
    if all_banks:
        for provider in load_catalogue(frozenset(["fints"]), False, profiles).list():
            if provider.address:
                yield provider.address


def _connect(purpose: Purpose, address: str, trusted: ssl.SSLContext) -> str | None:
    """Why the address is not reached, or None."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with open_socket(Destination(purpose, frozenset({host})), host, port, CONNECT_SECONDS) as plain:
            if parts.scheme == "https":
                with trusted.wrap_socket(plain, server_hostname=host):
                    pass
    except socket.gaierror:
        return f"the name {host} is not known here. Check DNS."
    except ssl.SSLCertVerificationError as error:
        return f"its certificate is not trusted ({error.verify_message}). Check the system's authorities."
    except (TimeoutError, ConnectionRefusedError):
        return "nothing answers. Check the firewall, and whether the address is right."
    except (OSError, ValueError) as error:
        return f"{error}."
    return None
