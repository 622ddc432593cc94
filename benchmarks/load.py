"""The load generator, a process of its own: `python -m benchmarks.load`, a `Load` as JSON on standard input.

Connections are kept alive; each sends its next request only when its answer is complete (no pipelining).
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import cycle

import uvloop

from benchmarks.endpoints import Request

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_END = b"\r\n\r\n"
LAST_SECONDS = 20


@dataclass(frozen=True)
class Load:
    port: int
    connections: int
    warmup: float
    seconds: float
    requests: list[dict[str, str]]


@dataclass(frozen=True)
class Measurement:
    """`answers` and `cpu` include the warm-up and the last answers;
    everything else is of the measured seconds alone.
    """

    rate: float
    p50: float
    p99: float
    failures: int
    answers: int
    cpu: float


def format_request(request: Request) -> bytes:
    lines = (
        f"GET {request.path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {request.token}",
        "Accept: application/json",
    )
    return "\r\n".join(lines).encode() + _END


class Counter:
    """What all connections share."""

    def __init__(self, requests: list[bytes]) -> None:
        self.requests: Iterator[bytes] = cycle(requests)
        self.latencies: list[float] = []
        self.failures = 0
        self.lost = 0
        self.open = 0  # requests without their whole answer
        self.is_over = False
        self.is_quiet = asyncio.Event()  # set when it is over and none is open

    def close_one(self) -> None:
        self.open -= 1
        if self.is_over and not self.open:
            self.is_quiet.set()


class Connection(asyncio.Protocol):
    """One request at a time. `end` is told whether the answer was 200, `lose` that none will come."""

    def __init__(self) -> None:
        self.head = b""
        self.missing = -1  # bytes of the body still to come; -1 before the head is complete
        self.is_waiting = False
        self.is_success = False

    def end(self, *, is_success: bool) -> None:
        raise NotImplementedError

    def lose(self) -> None:
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self.is_waiting:
            self.is_waiting = False
            self.lose()

    def send(self, request: bytes) -> None:
        self.is_waiting = True
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        if self.missing < 0:
            if self.head:
                data = self.head + data
            end = data.find(_END)
            if end < 0:
                self.head = data
                return
            length = _LENGTH.search(data, 0, end)
            self.is_success = length is not None and data.startswith(b"HTTP/1.1 200")
            self.head = b""
            self.missing = (int(length[1]) if length else 0) + end + 4
        self.missing -= len(data)
        if self.missing <= 0:
            self.missing = -1
            self.is_waiting = False
            self.end(is_success=self.is_success)


class RepeatingConnection(Connection):
    """Sends its next request when its answer is complete."""

    def __init__(self, counter: Counter) -> None:
        super().__init__()
        self.counter = counter

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.ask()

    def ask(self) -> None:
        self.counter.open += 1
        self.asked_at = time.perf_counter()
        self.send(next(self.counter.requests))

    def end(self, *, is_success: bool) -> None:
        self.counter.failures += not is_success
        self.counter.latencies.append(time.perf_counter() - self.asked_at)
        self.counter.close_one()
        if not self.counter.is_over:
            self.ask()

    def lose(self) -> None:
        self.counter.lost += 1
        self.counter.close_one()


async def measure(load: Load) -> Measurement:
    counter = Counter([format_request(Request(**request)) for request in load.requests])
    loop = asyncio.get_running_loop()
    transports = [
        (await loop.create_connection(lambda: RepeatingConnection(counter), "127.0.0.1", load.port))[0]
        for _ in range(load.connections)
    ]
    await asyncio.sleep(load.warmup)
    warm, started = len(counter.latencies), time.perf_counter()
    await asyncio.sleep(load.seconds)
    latencies, seconds = sorted(counter.latencies[warm:]), time.perf_counter() - started
    counter.is_over = True
    # The server works on the last ones too, so they belong to the answers that its processor time is divided by.
    if counter.open:
        with suppress(TimeoutError):
            await asyncio.wait_for(counter.is_quiet.wait(), LAST_SECONDS)
    for transport in transports:
        transport.close()
    await asyncio.sleep(0)
    if not latencies:
        raise SystemExit("no answer came")
    return Measurement(
        rate=len(latencies) / seconds,
        p50=latencies[len(latencies) // 2],
        p99=latencies[len(latencies) * 99 // 100],
        failures=counter.failures + counter.lost,
        answers=len(counter.latencies),
        cpu=time.process_time(),
    )


if __name__ == "__main__":
    print(json.dumps(asdict(uvloop.run(measure(Load(**json.load(sys.stdin)))))))
