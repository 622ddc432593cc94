"""What this process has connected to. Services add it to the database every minute and at the end of the process."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime

from kontor.egress.destinations import Purpose

MAX_KEYS = 2000  # between two looks; beyond, hosts are counted together
MAX_HOST_LENGTH = 253  # as DNS allows
MANY_HOSTS = "(other hosts)"


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """The day is that of UTC."""

    day: date
    host: str
    purpose: Purpose


@dataclass(slots=True)
class Counts:
    """`failures` were tried without success, `refused` were not tried. Bytes are those of HTTP, inside TLS."""

    connections: int = 0
    failures: int = 0
    refused: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0

    def add(self, other: "Counts") -> None:
        for attribute in fields(self):
            setattr(self, attribute.name, getattr(self, attribute.name) + getattr(other, attribute.name))


class ConnectionCounters:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[Key, Counts] = {}

    def add(self, purpose: Purpose, host: str, counts: Counts) -> None:
        with self._lock:
            self._add(Key(datetime.now(UTC).date(), host[:MAX_HOST_LENGTH], purpose), counts)

    def drain(self) -> dict[Key, Counts]:
        """All counts since the last time. Whoever cannot store them puts them back."""
        with self._lock:
            drained, self._counts = self._counts, {}
        return drained

    def put_back(self, drained: Mapping[Key, Counts]) -> None:
        with self._lock:
            for key, counts in drained.items():
                self._add(key, counts)

    def _add(self, key: Key, counts: Counts) -> None:
        if key not in self._counts and len(self._counts) >= MAX_KEYS:
            key = Key(key.day, MANY_HOSTS, key.purpose)
        self._counts.setdefault(key, Counts()).add(counts)


CONNECTION_COUNTERS = ConnectionCounters()
