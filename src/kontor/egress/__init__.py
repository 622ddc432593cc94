"""Connections that leave the machine: every one is opened here, for a purpose and to hosts that are named before.

The guard refuses all others. They are counted: host, purpose, connections and bytes, per day.
"""

from kontor.egress.connection_counters import CONNECTION_COUNTERS, ConnectionCounters, Counts, Key
from kontor.egress.connections import Tally, check_host, open_socket, opening
from kontor.egress.destinations import Destination, EgressRefusedError, Purpose, find_host
from kontor.egress.guard import close_egress
from kontor.egress.transports import GuardedAsyncTransport, GuardedTransport, make_guarded_adapter

__all__ = [
    "CONNECTION_COUNTERS",
    "ConnectionCounters",
    "Counts",
    "Destination",
    "EgressRefusedError",
    "GuardedAsyncTransport",
    "GuardedTransport",
    "Key",
    "Purpose",
    "Tally",
    "check_host",
    "close_egress",
    "find_host",
    "make_guarded_adapter",
    "open_socket",
    "opening",
]
