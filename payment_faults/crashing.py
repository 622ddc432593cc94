"""Simulated crashes: a process of Kontor within this one that stops at a point and does nothing from then on.

The points are those of `tests/faults/fault_hooks.py`, and besides each message to a bank over HTTP: before it is sent,
when it is sent and the process does not live to read the answer, and when the answer is read.
"""

import asyncio
import contextlib
import ssl
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
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


@dataclass(frozen=True, slots=True)
class Message:
    """To a bank, over HTTP."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes

    def __str__(self) -> str:
        """Method and path without numbers."""
        parts = ["…" if len(part) > 30 else part for part in httpx.URL(self.url).path.split("/")]
        return f"{self.method} {'/'.join(parts)}"


class Crashes:
    """Decides at each point whether the process dies there. One process at a time lives."""

    def __init__(self) -> None:
        self.record: list[Point] = []
        self.is_dead = False
        self._counts: Counter[str] = Counter()
        self._wanted: int | None = None
        self._late: list[Message] = []

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

    def meet_in_flight(self, name: str, message: Message) -> None:
        """The process dies; its message has left, and the bank reads it later."""
        if self._note(name):
            self.is_dead = True
            self._late.append(message)
            raise CrashError(name)

    def take_late_messages(self) -> list[Message]:
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
    from kontor.connectors.bank_http import BankHttp, HttpAnswer

    stream = BankHttp.stream

    @contextlib.contextmanager
    def watched(
        self: BankHttp, method: str, url: str, headers: Mapping[str, str], content: bytes
    ) -> Iterator[HttpAnswer]:
        message = Message(method, url, headers, content)
        crashes.meet(f"send {message}")
        crashes.meet_in_flight(f"in flight {message}", message)
        with stream(self, method, url, headers, content) as answer:
            body = answer.read()
            crashes.meet(f"receive {message}")
            answer.read = lambda: body  # type: ignore[method-assign]
            yield answer

    BankHttp.stream = watched  # type: ignore[method-assign]


def _refuse_dead(crashes: Crashes) -> None:
    """A dead process gets no connection: what it held stays held, and a lease is not given back."""
    from kontor.storage.connection_pool import ConnectionPool

    acquire = ConnectionPool._acquire

    async def watched(self: ConnectionPool, *given: Any) -> Any:
        if crashes.is_dead:
            raise CrashError("database")
        return await acquire(self, *given)

    ConnectionPool._acquire = watched  # type: ignore[method-assign]


def deliver_late_messages(crashes: Crashes, authority: Path) -> None:
    """What was in flight arrives at the bank. Nobody reads the answer."""
    late = crashes.take_late_messages()
    trusted = ssl.create_default_context(cafile=authority) if late else None
    for message in late:
        assert trusted is not None
        with httpx.Client(verify=trusted, trust_env=False) as http, contextlib.suppress(httpx.HTTPError):
            http.request(message.method, message.url, headers=dict(message.headers), content=message.content)


async def bury_tasks(before: set["asyncio.Task[Any]"]) -> None:
    """End what is left of a dead process. The pool's own tasks end with the pool."""
    left = [task for task in asyncio.all_tasks() - before if not task.get_name().startswith("pool-")]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
