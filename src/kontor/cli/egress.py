"""Connections to other hosts: what the ledger of the installation has counted."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter

from kontor.cli.context import AsJson, use_services
from kontor.cli.output import show_rows
from kontor.domain.egress import KEPT_DAYS, EgressRow
from kontor.domain.errors import InvalidError
from kontor.services.bundle import Services

NAMES = (
    "host",
    "purpose",
    "connections",
    "failures",
    "refused",
    "bytes sent",
    "bytes received",
    "first day",
    "last day",
)
KEYS = (
    "host", "purpose", "connections", "failures", "refused", "bytesSent", "bytesReceived", "firstDay", "lastDay",
)  # fmt: skip


def egress(
    *,
    days: Annotated[int, Parameter(help="Of so many days, today included, in UTC.")] = 30,
    as_json: AsJson = False,
) -> None:
    """List the hosts that the installation has connected to: what for, how often, how many bytes."""
    if not 1 <= days <= KEPT_DAYS:
        raise InvalidError(f"--days must be 1 to {KEPT_DAYS}")
    today = datetime.now(UTC).date()

    async def read(services: Services) -> list[EgressRow]:
        return await services.ops.egress.list_hosts(today - timedelta(days=days - 1), today)

    rows = [
        (row.host, row.purpose, row.connections, row.failures, row.refused, row.bytes_sent, row.bytes_received,
         row.first_day, row.last_day)
        for row in use_services(read)
    ]  # fmt: skip
    show_rows(NAMES, rows, as_json=as_json, keys=KEYS)
