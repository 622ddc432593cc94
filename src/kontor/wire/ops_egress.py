"""Connections to other hosts, counted, as operators see them."""

from datetime import date
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kontor.domain.egress import EgressRow

EgressPurpose = Annotated[
    Literal["bank", "enable-banking", "webhook", "push", "vault", "tracing", "model", "other"],
    Meta(title="OpsEgressPurpose", description="other: nobody asked for it, and it was refused"),
]


class OpsEgress(msgspec.Struct):
    """One host and purpose, over the days that were asked for."""

    host: Annotated[str, Meta(examples=["fints.example-bank.de"])]
    purpose: EgressPurpose
    connections: Annotated[int, Meta(ge=0, description="that were opened")]
    failures: Annotated[int, Meta(ge=0, description="that could not be opened, or ended without an answer")]
    refused: Annotated[int, Meta(ge=0, description="that were not tried, as the host is not named anywhere")]
    bytesSent: Annotated[int, Meta(ge=0, description="of HTTP, inside TLS")]  # noqa: N815
    bytesReceived: Annotated[int, Meta(ge=0, description="of HTTP, inside TLS")]  # noqa: N815
    firstDay: date  # noqa: N815
    lastDay: date  # noqa: N815


def show_egress(row: EgressRow) -> OpsEgress:
    return OpsEgress(
        host=row.host,
        purpose=row.purpose,  # type: ignore[arg-type]
        connections=row.connections,
        failures=row.failures,
        refused=row.refused,
        bytesSent=row.bytes_sent,
        bytesReceived=row.bytes_received,
        firstDay=row.first_day,
        lastDay=row.last_day,
    )
