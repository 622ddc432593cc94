"""The guard of a process: no socket connects to another machine unless `permit` is in force.

Python reports each connection of its sockets before it is made (audit event `socket.connect`), whichever library asks.
uvloop connects below Python's sockets, so its two methods that connect are guarded too. The driver of PostgreSQL also
connects below Python: the database is the one that the settings name.
"""

import functools
import ipaddress
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from kontor.egress.connection_counters import CONNECTION_COUNTERS, Counts
from kontor.egress.destinations import EgressRefusedError, Purpose

GUARDED_EVENTS = frozenset(("socket.connect", "socket.sendto", "socket.sendmsg"))
NETWORK_FAMILIES = (socket.AF_INET, socket.AF_INET6)

_is_permitted: ContextVar[bool] = ContextVar("is_permitted", default=False)
_installed: list[Callable[[str, tuple[Any, ...]], None]] = []


@contextmanager
def permit() -> Iterator[None]:
    """For `connections` and `transports` of this package, around the moment of connecting."""
    token = _is_permitted.set(True)
    try:
        yield
    finally:
        _is_permitted.reset(token)


def close_egress() -> None:
    """For good: the interpreter never forgets a hook."""
    if _installed:
        return
    _installed.append(_inspect)
    sys.addaudithook(_inspect)
    with suppress(ImportError):  # it is not there on Windows
        import uvloop

        for name in ("create_connection", "create_datagram_endpoint"):
            setattr(uvloop.Loop, name, _guard_method(getattr(uvloop.Loop, name)))


def _inspect(event: str, arguments: tuple[Any, ...]) -> None:
    if event in GUARDED_EVENTS and not _is_permitted.get():
        line, address = arguments[0], arguments[-1]
        if line.family in NETWORK_FAMILIES and isinstance(address, tuple):
            _require_own_machine(str(address[0]))


def _guard_method(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    async def guarded(self: Any, protocol: Any, host: Any = None, *others: Any, **named: Any) -> Any:
        # The datagram method takes pairs of host and port; a socket that is passed in has connected already.
        place = named.get("remote_addr") or host
        if place is not None and not _is_permitted.get():
            _require_own_machine(str(place[0] if isinstance(place, tuple) else place))
        return await method(self, protocol, host, *others, **named)

    return guarded


def _require_own_machine(host: str) -> None:
    if not _is_own_machine(host):
        CONNECTION_COUNTERS.add(Purpose.OTHER, host, Counts(refused=1))
        raise EgressRefusedError(f"connections to {host} are closed")


def _is_own_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host in ("localhost", "")
