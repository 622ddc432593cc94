"""The load generator, a process of its own: `python -m benchmarks.reads.pace`, a `Pace` as JSON on standard input.

Requests begin when they are due, whether or not earlier ones are answered: a slow answer does not lower the rate. Where
all connections are in use a request waits, and its time counts from the moment it was due. After each interval a line
with an `Interval` as JSON is printed.
"""

import asyncio
import json
import random
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field

import uvloop

from benchmarks.endpoints import Request
from benchmarks.load import Connection, format_request

LAST_SECONDS = 60
SEED = 20


@dataclass(frozen=True)
class Pace:
    port: int
    rate: float
    connections: int
    intervals: int
    interval_seconds: float
    requests: list[dict[str, str]]


@dataclass
class Interval:
    """`waiting` is how many requests at most have waited for a connection."""

    answers: int = 0
    failures: int = 0
    waiting: int = 0
    p50: float = 0.0
    p99: float = 0.0


@dataclass
class Pacer:
    """Hands out what is due to connections that are free, in turn: a server closes what is idle for long."""

    requests: list[bytes]
    free: "deque[PacedConnection]" = field(default_factory=deque)
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)
    latencies: list[float] = field(default_factory=list)
    failures: int = 0
    longest_queue: int = 0
    open: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(SEED)

    def begin(self, due: float) -> None:
        self.open += 1
        request = self._random.choice(self.requests)
        if self.free:
            self.free.popleft().begin(due, request)
        else:
            self.waiting.append((due, request))
            self.longest_queue = max(self.longest_queue, len(self.waiting))

    def end(self, connection: "PacedConnection | None", due: float, *, is_success: bool) -> None:
        """Without a connection, if it was lost."""
        self.open -= 1
        self.failures += not is_success
        self.latencies.append(time.perf_counter() - due)
        if connection is None:
            return
        if self.waiting:
            connection.begin(*self.waiting.popleft())
        else:
            self.free.append(connection)

    def forget(self, connection: "PacedConnection") -> None:
        if connection in self.free:
            self.free.remove(connection)

    def finish_interval(self) -> Interval:
        latencies = sorted(self.latencies) or [0.0]
        count = len(latencies)
        interval = Interval(
            len(self.latencies), self.failures, self.longest_queue, latencies[count // 2], latencies[count * 99 // 100]
        )
        self.latencies, self.failures, self.longest_queue = [], 0, len(self.waiting)
        return interval


class PacedConnection(Connection):
    def __init__(self, pacer: Pacer) -> None:
        super().__init__()
        self._pacer = pacer
        self._due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._pacer.free.append(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._pacer.forget(self)
        super().connection_lost(error)

    def begin(self, due: float, request: bytes) -> None:
        self._due = due
        self.send(request)

    def end(self, *, is_success: bool) -> None:
        self._pacer.end(self, self._due, is_success=is_success)

    def lose(self) -> None:
        self._pacer.end(None, self._due, is_success=False)


async def keep_pace(pace: Pace, tell: Callable[[Interval], None]) -> None:
    pacer = Pacer([format_request(Request(**request)) for request in pace.requests])
    loop = asyncio.get_running_loop()
    connections = [
        (await loop.create_connection(lambda: PacedConnection(pacer), "127.0.0.1", pace.port))[1]
        for _ in range(pace.connections)
    ]
    started = time.perf_counter()
    sent = 0
    for number in range(1, pace.intervals + 1):
        end = number * pace.interval_seconds
        while (due := sent / pace.rate) < end:
            await asyncio.sleep(max(0.0, started + due - time.perf_counter()))
            pacer.begin(started + due)
            sent += 1
        if number == pace.intervals:
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    while pacer.open:  # noqa: ASYNC110 (the end of a run, once)
                        await asyncio.sleep(0.01)
            pacer.failures += pacer.open
        tell(pacer.finish_interval())
    for connection in connections:
        connection.transport.close()
    await asyncio.sleep(0)


def print_interval(interval: Interval) -> None:
    print(json.dumps(asdict(interval)), flush=True)


if __name__ == "__main__":
    uvloop.run(keep_pace(Pace(**json.load(sys.stdin)), print_interval))
