"""Opening a connection to a named host, and counting what goes over it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from kontor.egress.connection_counters import CONNECTION_COUNTERS, Counts
from kontor.egress.destinations import Destination, EgressRefusedError
from kontor.egress.guard import permit


class Tally:
    """Counts for one host of a destination."""

    def __init__(self, destination: Destination, host: str) -> None:
        self._purpose = destination.purpose
        self._host = destination.name or host

    def count(self, counts: Counts) -> None:
        CONNECTION_COUNTERS.add(self._purpose, self._host, counts)

    def count_sent(self, size: int) -> None:
        self.count(Counts(bytes_sent=size))

    def count_received(self, size: int) -> None:
        self.count(Counts(bytes_received=size))


def check_host(destination: Destination, host: str) -> Tally:
    """Raises EgressRefusedError for a host that the destination does not name."""
    tally = Tally(destination, host.lower())
    if host.lower() not in destination.hosts:
        CONNECTION_COUNTERS.add(destination.purpose, host.lower(), Counts(refused=1))
        raise EgressRefusedError(f"{host} is not a host of this destination")
    return tally


@contextmanager
def opening(tally: Tally) -> Iterator[None]:
    """Around the moment of connecting."""
    try:
        with permit():
            yield
    except BaseException:
        tally.count(Counts(failures=1))
        raise
    tally.count(Counts(connections=1))


def open_socket(destination: Destination, host: str, port: int, seconds: float) -> socket.socket:
    with opening(check_host(destination, host)):
        return socket.create_connection((host, port), seconds)
