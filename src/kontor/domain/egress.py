"""What the ledger of connections to other hosts says."""

from dataclasses import dataclass
from datetime import date

KEPT_DAYS = 731  # two years


@dataclass(frozen=True, slots=True)
class EgressRow:
    """One host and purpose over some days. `failures` were tried without success, `refused` were not tried."""

    host: str
    purpose: str
    connections: int
    failures: int
    refused: int
    bytes_sent: int
    bytes_received: int
    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class PurposeTotal:
    """Of one day."""

    purpose: str
    hosts: int
    connections: int
    failures: int
    refused: int
    bytes_sent: int
    bytes_received: int
