"""Jobs: how many a second, beside the library alone; how soon one starts; how many can be put into the queue."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from uuid import UUID, uuid4

import psycopg
from pgqueuer import PsycopgDriver, Queries

from benchmarks.measure import rotate
from benchmarks.scale.job_worker import BARE_ASYNCPG, BARE_PSYCOPG, PLAIN, WHOLE
from kontor.config import Settings, export_settings
from kontor.storage import queue
from kontor.storage.database import Database

TARGET, LATENCY_TARGET = 0.5, 0.1
PAUSE_SECONDS = 0.05
SETTLE_SECONDS = 1.0  # a worker that is ready looks around first
NAMES = {
    BARE_PSYCOPG: "pgqueuer alone, psycopg",
    BARE_ASYNCPG: "pgqueuer alone, asyncpg",
    PLAIN: "Kontor's worker, a job that does nothing",
    WHOLE: "Kontor's worker, a fetch that is gone",
}


@dataclass(frozen=True)
class JobPlan:
    rounds: int
    jobs: int  # of a round
    enqueued: int  # one by one
    starts: int  # of jobs in a queue at rest


@dataclass
class JobsResult:
    """Jobs a second of each round; jobs enqueued a second; seconds from before the commit until a job starts."""

    rates: dict[str, list[float]]
    enqueue_rates: dict[str, list[float]] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)

    @property
    def bare(self) -> str:
        """The faster one of the library's drivers."""
        alone = [kind for kind in self.rates if kind.startswith("bare")]
        return max(alone, key=lambda kind: statistics.median(self.rates[kind]))

    def ratios(self, kind: str) -> list[float]:
        return [ours / bare for ours, bare in zip(self.rates[kind], self.rates[self.bare], strict=True)]


def measure_jobs(settings: Settings, plan: JobPlan, say: Callable[[str], None]) -> JobsResult:
    kinds = [kind for kind in NAMES if kind != BARE_ASYNCPG or find_spec("asyncpg") is not None]
    result = JobsResult({kind: [] for kind in kinds})
    for number in range(plan.rounds):
        for kind in rotate(kinds, number):
            result.rates[kind].append(drain(settings, kind, plan.jobs))
        shown = ", ".join(f"{kind} {result.rates[kind][-1]:,.0f}" for kind in kinds)
        say(f"round {number + 1} of {plan.rounds}: {shown} jobs/s")
    result.enqueue_rates = asyncio.run(measure_enqueuing(settings, plan))
    result.latencies = asyncio.run(measure_latencies(settings, plan.starts))
    return result


def drain(settings: Settings, kind: str, count: int) -> float:
    """A worker waits; jobs come, all at once. From the first one's start to the last one's."""
    clear_queue(settings)
    with start_worker(settings, kind, count) as process:
        time.sleep(SETTLE_SECONDS)
        asyncio.run(fill_queue(settings, count, is_ours=not kind.startswith("bare")))
        notes = json.loads(read_line(process))
    times = sorted(notes["starts"].values())
    return (len(times) - 1) / (times[-1] - times[0])


def clear_queue(settings: Settings) -> None:
    assert settings.migration_database_url is not None
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as owner:
        owner.execute("truncate pgqueuer, pgqueuer_log")
        owner.execute("vacuum analyze pgqueuer")


async def fill_queue(settings: Settings, count: int, *, is_ours: bool) -> None:
    async with open_pool(settings) as database, database.transaction() as connection:
        ids = [uuid4() for _ in range(count)]
        await Queries(PsycopgDriver(connection)).enqueue(
            [queue.FETCH] * count,
            [job_id.bytes for job_id in ids],
            [0] * count,
            dedupe_key=[f"{queue.FETCH} {job_id}" for job_id in ids] if is_ours else None,
        )


class open_pool:  # noqa: N801 (used like a function)
    """Kontor's pool, for the time of an `async with`."""

    def __init__(self, settings: Settings) -> None:
        assert settings.database_url is not None
        self._database = Database(settings.database_url, 2, "kontor bench")

    async def __aenter__(self) -> Database:
        await self._database.open()
        return self._database

    async def __aexit__(self, *_: object) -> None:
        await self._database.close()


@contextmanager
def start_worker(settings: Settings, kind: str, count: int):
    log = settings.data / "jobs.log"
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scale.job_worker", kind, str(count)],
            env=os.environ | export_settings(settings),
            stdout=subprocess.PIPE,
            stderr=file,
        )
    try:
        if read_line(process).strip() != b"ready":
            raise RuntimeError(f"the worker did not start:\n{log.read_text()}")
        yield process
    finally:
        process.kill()  # nothing is lost: its jobs are done, or belong to nobody
        process.communicate()


def read_line(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


# Into the queue

ALONE, OURS_ONE, OURS_MANY = (
    "pgqueuer alone, one by one",
    "Kontor, one by one, in a transaction with a key",
    "Kontor, 200 in a transaction with keys",
)


async def measure_enqueuing(settings: Settings, plan: JobPlan) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {ALONE: [], OURS_ONE: [], OURS_MANY: []}
    async with open_pool(settings) as database:
        for _ in range(plan.rounds):
            clear_queue(settings)
            async with database.connect() as connection:
                queries = Queries(PsycopgDriver(connection))
                started = time.perf_counter()
                for _ in range(plan.enqueued):
                    await queries.enqueue(queue.FETCH, uuid4().bytes)
                rates[ALONE].append(plan.enqueued / (time.perf_counter() - started))
            started = time.perf_counter()
            for _ in range(plan.enqueued):
                async with database.transaction() as connection:
                    await queue.enqueue_fetch(connection, uuid4())
            rates[OURS_ONE].append(plan.enqueued / (time.perf_counter() - started))
            started = time.perf_counter()
            for _ in range(max(1, plan.enqueued // 200)):
                async with database.transaction() as connection:
                    await queue.enqueue_refreshes(connection, [uuid4() for _ in range(200)])
            rates[OURS_MANY].append(200 * max(1, plan.enqueued // 200) / (time.perf_counter() - started))
    return rates


async def measure_latencies(settings: Settings, count: int) -> list[float]:
    """One job at a time for a worker that has nothing else to do."""
    clear_queue(settings)
    asked: dict[UUID, float] = {}
    async with open_pool(settings) as database:
        with start_worker(settings, PLAIN, count) as process:
            await asyncio.sleep(SETTLE_SECONDS)
            for _ in range(count):
                fetch_id = uuid4()
                asked[fetch_id] = time.time()
                async with database.transaction() as connection:
                    await queue.enqueue_fetch(connection, fetch_id)
                await asyncio.sleep(PAUSE_SECONDS + 0.3 * (fetch_id.int % 100) / 100)
            notes = json.loads(await asyncio.to_thread(read_line, process))
    return [notes["starts"][str(fetch_id)] - at for fetch_id, at in asked.items()]


# What is said about it

JOB_HEADINGS = ("", "jobs/s", "spread", "beside the library alone")


def make_job_rows(result: JobsResult) -> list[tuple[str, ...]]:
    return [
        (
            NAMES[kind],
            f"{statistics.median(rates):,.0f}",
            f"{min(rates):,.0f} – {max(rates):,.0f}",
            "" if kind.startswith("bare") else f"{statistics.median(result.ratios(kind)):.2f} ×",
        )
        for kind, rates in result.rates.items()
    ]


ENQUEUE_HEADINGS = ("", "jobs/s", "spread")


def make_enqueue_rows(result: JobsResult) -> list[tuple[str, ...]]:
    return [
        (name, f"{statistics.median(rates):,.0f}", f"{min(rates):,.0f} – {max(rates):,.0f}")
        for name, rates in result.enqueue_rates.items()
    ]


def find_percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def describe_jobs(result: JobsResult) -> list[str]:
    ratio = statistics.median(result.ratios(PLAIN))
    median, late = statistics.median(result.latencies), find_percentile(result.latencies, 0.95)
    return [
        f"Target: at least {TARGET:g} × the library alone ({NAMES[result.bare]}, its faster driver here)."
        f" Measured: {ratio:.2f} ×, {'reached' if ratio >= TARGET else 'not reached'}.",
        f"Target: a job in a queue at rest starts within {LATENCY_TARGET * 1000:.0f} ms of the transaction's begin."
        f" Measured: median {median * 1000:.0f} ms, p95 {late * 1000:.0f} ms,"
        f" {'reached' if late <= LATENCY_TARGET else 'not reached' if median > LATENCY_TARGET else 'by the median'}.",
    ]
