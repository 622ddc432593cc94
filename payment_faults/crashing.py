"""Simulated crashes: a process of Kontor within this one that stops at a point and does nothing from then on.

The points are those of `tests/faults/fault_hooks.py`, and besides each message to a bank over HTTP: before it is sent,
when it is sent and the process does not live to read the answer, and when the answer is read.
"""

import asyncio
import contextlib
import ssl
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

HOOKS = Path(__file__).parents[1] / "tests" / "faults"


class CrashError(BaseException):
    """Not an `Exception`: no handler of Kontor swallows it."""


@dataclass(frozen=True, slots=True)
class Point:
    """The `count`th time that `name` is reached, counted from 1."""

    name: str
    count: int

    def __str__(self) -> str:
        return f"{self.name} #{self.count}"


class Crashes:
    """Decides at each point whether the process dies there. One process at a time lives."""

    def __init__(self) -> None:
        self.record: list[Point] = []
        self.is_dead = False
        self._counts: Counter[str] = Counter()
        self._wanted: int | None = None
        self._late: list[httpx.Request] = []
        self.transmit = httpx.HTTPTransport.handle_request  # as it was before `install`

    def begin(self, wanted: int | None = None) -> None:
        """A new process, which dies at its point of that place, counted from 0."""
        self.record, self.is_dead, self._wanted = [], False, wanted
        self._counts.clear()

    def meet(self, name: str, _: str = "") -> None:
        if self.is_dead:
            raise CrashError(name)
        if "DemoBank" in name:
            return  # the bank's own commits
        if self._note(name):
            self.is_dead = True
            raise CrashError(name)

    def meet_in_flight(self, name: str, request: httpx.Request) -> None:
        """The process dies; its message has left, and the bank reads it later."""
        if self._note(name):
            self.is_dead = True
            self._late.append(request)
            raise CrashError(name)

    def take_late_messages(self) -> list[httpx.Request]:
        late, self._late = self._late, []
        return late

    def _note(self, name: str) -> bool:
        self._counts[name] += 1
        self.record.append(Point(name, self._counts[name]))
        return len(self.record) - 1 == self._wanted


def install(crashes: Crashes) -> None:
    """For the rest of this process, which does nothing else."""
    sys.path.insert(0, str(HOOKS))
    import fault_hooks

    fault_hooks.meet = crashes.meet
    fault_hooks.watch_points()
    fault_hooks.watch_transactions()
    fault_hooks.watch_lone_writes()
    fault_hooks.watch_bank()
    _watch_http(crashes)
    _refuse_dead(crashes)


def _watch_http(crashes: Crashes) -> None:
    handle = crashes.transmit

    def watched(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        name = _name_message(request)
        crashes.meet(f"send {name}")
        crashes.meet_in_flight(f"in flight {name}", request)
        response = handle(self, request)
        assert isinstance(response.stream, httpx.SyncByteStream)
        body = b"".join(response.stream)
        response.stream.close()
        crashes.meet(f"receive {name}")
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=httpx.ByteStream(body),
            extensions=response.extensions,
        )

    httpx.HTTPTransport.handle_request = watched  # type: ignore[method-assign]


def _name_message(request: httpx.Request) -> str:
    """Method and path without numbers."""
    parts = ["…" if len(part) > 30 else part for part in request.url.path.split("/")]
    return f"{request.method} {'/'.join(parts)}"


def _refuse_dead(crashes: Crashes) -> None:
    """A dead process gets no connection: what it held stays held, and a lease is not given back."""
    from kontor.storage.connection_pool import ConnectionPool

    acquire = ConnectionPool.acquire

    async def watched(self: ConnectionPool) -> Any:
        if crashes.is_dead:
            raise CrashError("database")
        return await acquire(self)

    ConnectionPool.acquire = watched  # type: ignore[method-assign]


def deliver_late_messages(crashes: Crashes, authority: Path) -> None:
    """What was in flight arrives at the bank. Nobody reads the answer."""
    late = crashes.take_late_messages()
    trusted = ssl.create_default_context(cafile=authority) if late else None
    for request in late:
        assert trusted is not None
        with httpx.HTTPTransport(verify=trusted) as transport, contextlib.suppress(httpx.HTTPError):
            crashes.transmit(transport, request).read()


async def bury_tasks(before: set["asyncio.Task[Any]"]) -> None:
    """End what is left of a dead process. The pool's own tasks end with the pool."""
    left = [task for task in asyncio.all_tasks() - before if not task.get_name().startswith("pool-")]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
