"""One run: a server, a worker, the load, and what the server itself measures meanwhile."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.endpoints import Request
from benchmarks.fetching import ACCESSES
from benchmarks.machine import read_load
from benchmarks.memory import read_megabytes, read_process
from benchmarks.reads.background import keep_due, run_receiver
from benchmarks.reads.pace import Interval, Pace
from benchmarks.reads.population import TENANT, Population, make_population, make_webhook
from benchmarks.servers import OURS, REFRESHER, ServerProcess
from kontor.config import Settings

AIM_SECONDS = 0.1
Buckets = dict[float, float]  # upper bound in seconds, and how many were answered within it


@dataclass(frozen=True)
class ReadPlan:
    customers: int
    rate: float
    connections: int
    intervals: int
    interval_seconds: float
    refreshes_per_second: float


@dataclass(frozen=True)
class Minute:
    """An interval. `p99` and `within_aim` are the server's own, over all its answers; megabytes are resident sets."""

    load: Interval
    p99: float
    within_aim: float
    refreshes: int
    deliveries: int
    server_megabytes: float
    worker_megabytes: float
    machine_load: float


@dataclass(frozen=True)
class ReadsResult:
    """`p99` and `within_aim` are those of the whole run, by the server's own measure."""

    plan: ReadPlan
    minutes: list[Minute]
    p99: float
    within_aim: float
    refreshes: Counter[str]
    deliveries: int
    log_errors: int


def measure_reads(settings: Settings, plan: ReadPlan, say: Callable[[str], None]) -> ReadsResult:
    settings = replace(settings, allow_loopback=True)
    population = asyncio.run(make_population(settings, plan.customers, say))
    log = settings.data / "reads-server.log"
    logins = {"BENCH_LOGINS": str(plan.customers)}
    with (
        ServerProcess(OURS, settings, "", log, set()) as server,
        ServerProcess(REFRESHER, settings, "", settings.data / "reads-worker.log", set(), logins) as worker,
        run_receiver() as (receiver, url),
    ):
        server.wait_for(Request(ACCESSES, population.requests[0].token))
        webhooks = f"/auth/mgmt/v1/tenants/{TENANT}/webhooks"
        server.ask(Request(webhooks, population.client_token), make_webhook(url))
        for request in population.requests:  # what is computed once and kept is not what is measured
            server.ask(request)
        minutes: list[Minute] = []
        with keep_due(settings, population.users, plan.refreshes_per_second) as refreshes:
            first = before = read_buckets(server)
            seen = (0, 0)
            for load in send(server.port, plan, population):
                after, now = read_buckets(server), (sum(refreshes.ended.values()), receiver.count)
                minutes.append(
                    Minute(
                        load,
                        *judge(before, after),
                        refreshes=now[0] - seen[0],
                        deliveries=now[1] - seen[1],
                        server_megabytes=read_megabytes(server, "VmRSS"),
                        worker_megabytes=read_process(worker.process.pid, "VmRSS"),
                        machine_load=read_load(),
                    )
                )
                before, seen = after, now
                say(describe_minute(len(minutes), minutes[-1]))
        errors = count_errors(log.read_text())
        return ReadsResult(plan, minutes, *judge(first, before), refreshes.ended, receiver.count, errors)


def send(port: int, plan: ReadPlan, population: Population) -> Iterator[Interval]:
    requests = [asdict(request) for request in population.requests]
    pace = Pace(port, plan.rate, plan.connections, plan.intervals, plan.interval_seconds, requests)
    with start_generator() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        json.dump(asdict(pace), process.stdin)
        process.stdin.close()
        for _ in range(plan.intervals):
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"The load generator ended with {process.wait()}.")
            yield Interval(**json.loads(line))


@contextmanager
def start_generator() -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "benchmarks.reads.pace"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


# The server's own measure


def read_buckets(server: ServerProcess) -> Buckets:
    """Of `kontor_request_seconds`, over all operations."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    buckets: Buckets = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == "kontor_request_seconds_bucket":
                bound = float(sample.labels["le"])
                buckets[bound] = buckets.get(bound, 0) + sample.value
    return buckets


def judge(before: Buckets, after: Buckets) -> tuple[float, float]:
    """The 99th percentile, between two bounds by interpolation, and the share of answers within the aim."""
    counts = {bound: count - before.get(bound, 0) for bound, count in sorted(after.items())}
    total = max(counts.values(), default=0)
    if not total:
        return 0.0, 1.0
    wanted, lower, below = total * 0.99, 0.0, 0.0
    for bound, count in counts.items():
        if count >= wanted:
            if bound == float("inf"):
                return lower, counts[AIM_SECONDS] / total
            part = (wanted - below) / (count - below) if count > below else 1.0
            return lower + (bound - lower) * part, counts[AIM_SECONDS] / total
        lower, below = bound, count
    return lower, counts[AIM_SECONDS] / total


def count_errors(log: str) -> int:
    """Lines of the server's log that tell of an error."""
    return sum(
        '"level": "error"' in line or '"level":"error"' in line or "Traceback" in line for line in log.splitlines()
    )


def describe_minute(number: int, minute: Minute) -> str:
    load = minute.load
    return (
        f"{number}: {load.answers:,} answers, {load.failures} failed, p99 {minute.p99 * 1000:.0f} ms"
        f" ({load.p99 * 1000:.0f} ms from outside), {minute.refreshes} refreshes, {minute.deliveries} webhooks,"
        f" {minute.server_megabytes:.0f} MB, load {minute.machine_load:.1f}"
    )
