"""The memory of one API process while it sends a very long list, again and again."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cores import list_children
from benchmarks.endpoints import Request
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.servers import OURS, ServerProcess
from kontor.config import Settings

TRANSACTIONS = 50_000
TARGET_MEGABYTES = 200
TIMES = 6
AT_ONCE = 4


@dataclass(frozen=True)
class Memory:
    """In megabytes (10^6 bytes), as the kernel counts the process's own pages; `size` is the length of the answer."""

    transactions: int
    size: float
    at_rest: float
    peak: float
    peak_at_once: float


async def prepare(settings: Settings, transactions: int) -> Request:
    async with BenchmarkEnvironment(settings, tenant="bench-memory") as environment:
        customer = await environment.add_customer()
        return Request(await environment.add_transactions(customer, transactions), customer.token)


def measure_memory(settings: Settings, cores: set[int], transactions: int = TRANSACTIONS) -> Memory:
    request = asyncio.run(prepare(settings, transactions))
    page = Request(f"{request.path}?limit=1", request.token)
    with ServerProcess(OURS, settings, "", settings.data / "memory.log", cores) as server:
        server.wait_for(page)
        at_rest = read_megabytes(server, "VmRSS")
        body = server.ask(request)
        assert len(json.loads(body)) == transactions
        for _ in range(TIMES - 1):
            assert len(server.ask(request)) == len(body)
        peak = read_megabytes(server, "VmHWM")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            assert {len(answer) for answer in pool.map(server.ask, [request] * AT_ONCE)} == {len(body)}
        return Memory(transactions, len(body) / 1e6, at_rest, peak, read_megabytes(server, "VmHWM"))


def read_megabytes(server: ServerProcess, field: str) -> float:
    """Of the process that answers requests, a child of the one that was started. VmHWM is the peak since its start."""
    return max(read_process(pid, field) for pid in list_children(server.process.pid))


def read_process(pid: int, field: str) -> float:
    return read_status(Path(f"/proc/{pid}/status").read_text(), field)


def read_status(text: str, field: str) -> float:
    line = next((line for line in text.splitlines() if line.startswith(f"{field}:")), f"{field}: 0 kB")
    return int(line.split()[1]) * 1024 / 1e6


def describe_memory(memory: Memory) -> list[str]:
    verdict = "reached" if memory.peak < TARGET_MEGABYTES else "not reached"
    return [
        f"Target: under {TARGET_MEGABYTES} MB. Measured: {memory.peak:.0f} MB, {verdict}.",
        f"The list of {memory.transactions:,} transactions is {memory.size:.1f} MB long.",
    ]


def make_memory_rows(memory: Memory) -> list[tuple[str, str]]:
    return [
        ("at rest, after the first small request", f"{memory.at_rest:.0f} MB"),
        (f"peak, after {TIMES} lists in a row", f"{memory.peak:.0f} MB"),
        (f"peak, after {AT_ONCE} more at once", f"{memory.peak_at_once:.0f} MB"),
    ]
