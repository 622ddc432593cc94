"""Services of others that the installation uses: those that settings name, and those that the ledger has counted."""

import ipaddress
from collections.abc import Iterable, Iterator

from kontor.config import Settings
from kontor.domain.egress import EgressRow
from kontor.domain.secrets import Secret
from kontor.egress import Purpose, find_host
from kontor.wire.dora.registers import Host, OutsideService

DATABASE = "database"
# Types of annex III of Implementing Regulation (EU) 2024/2956 that are proposed.
SERVICE_TYPES = {
    Purpose.ENABLE_BANKING: "S05",  # provision of data
    Purpose.PUSH: "S19",  # cloud services: SaaS
    Purpose.VAULT: "S04",  # ICT security management services
    Purpose.TRACING: "S14",  # ICT operation management
    Purpose.MODEL: "S19",  # cloud services: SaaS
}
REASONS = {
    Purpose.BANK: "no: a bank of a user, in banks.csv",
    Purpose.WEBHOOK: "no: a receiver that a tenant has named",
    Purpose.OTHER: "no: refused",
}
OWN_MACHINE = "no: the operator's own machine"
NEVER_REACHED = "only where a setting names it: no connection"


def find_services(settings: Settings, rows: Iterable[EgressRow]) -> list[OutsideService]:
    """By purpose and host, each once. What settings name counts also without a connection."""
    named = {(service.purpose, service.host): service for service in _list_counted(rows)}
    named |= {(service.purpose, service.host): service for service in _list_named(settings)}
    return [named[key] for key in sorted(named)]


def describe_hosts(rows: Iterable[EgressRow]) -> list[Host]:
    return [
        Host(
            row.host, row.purpose, row.connections, row.failures, row.refused, row.bytes_sent, row.bytes_received,
            row.first_day, row.last_day, _explain_place(row),
        )
        for row in rows
    ]  # fmt: skip


def _explain_place(row: EgressRow) -> str:
    if row.purpose in REASONS:
        return REASONS[Purpose(row.purpose)]
    if is_own_machine(row.host):
        return OWN_MACHINE
    return "yes" if row.connections else NEVER_REACHED


def _list_counted(rows: Iterable[EgressRow]) -> Iterator[OutsideService]:
    for row in rows:
        if row.purpose in SERVICE_TYPES and row.connections and not is_own_machine(row.host):
            yield _make_service(Purpose(row.purpose), row.host, "the ledger of connections")


def _list_named(settings: Settings) -> Iterator[OutsideService]:
    addresses = [
        (Purpose.VAULT, settings.vault_address, "KONTOR_VAULT_ADDRESS"),
        (Purpose.TRACING, settings.otlp_endpoint, "KONTOR_OTLP_ENDPOINT"),
        (Purpose.MODEL, settings.model_url, "KONTOR_MODEL_URL"),
    ]
    if settings.enable_banking_application is not None:
        addresses.append((Purpose.ENABLE_BANKING, settings.enable_banking_url, "KONTOR_ENABLE_BANKING_APPLICATION"))
    for purpose, address, variable in addresses:
        host = find_host(address) if address else ""
        if host and not is_own_machine(host):
            yield _make_service(purpose, host, variable)
    if settings.database_url is not None and not settings.is_embedded:
        for host in find_database_hosts(settings.database_url):
            yield OutsideService(host, DATABASE, "KONTOR_DATABASE_URL", None)


def _make_service(purpose: Purpose, host: str, named_by: str) -> OutsideService:
    return OutsideService(host, str(purpose), named_by, SERVICE_TYPES[purpose])


def find_database_hosts(url: Secret) -> list[str]:
    """Other machines only; a socket of this machine has no host."""
    from psycopg.conninfo import conninfo_to_dict

    hosts = str(conninfo_to_dict(url.reveal()).get("host") or "").split(",")
    return sorted({host.lower() for host in hosts if host and not host.startswith("/") and not is_own_machine(host)})


def is_own_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
