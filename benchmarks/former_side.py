"""One of two programs that `benchmarks.beside_former` compares: a database, a server and a worker of its own.

It runs with the packages of its checkout, also of one that does not have this file. It reads names of measurements from
its standard input, and answers each with a line of JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import psycopg

from benchmarks.cores import children_cpu_seconds
from benchmarks.endpoints import Request, load_endpoint
from benchmarks.environment import BenchmarkEnvironment, open_database
from benchmarks.fetching import ACCESSES, Visit, count_transactions, make_visits
from benchmarks.measure import Plan, find_postgres, run_load
from benchmarks.servers import LARGE_WORKER, OURS, ServerProcess
from kontor.config import Settings

FETCHED = 4500
# The demo bank makes up the first one's life for each fetch. Of the second it is known beforehand.
LOGINS = {"fetch from the demo bank": "familie+{}", "fetch and store": f"test_large+{FETCHED}"}
LISTS = {"list": "listing", "tag view": "tag-view", "single read": "single-read"}
FIND_COMPLETE = "select 1 from accesses where user_id = %s and status = 'COMPLETE'"
CONNECTIONS, WARMING_SECONDS, POLL_SECONDS = 4, 1.0, 0.1
Figures = dict[str, float]
Measures = dict[str, Callable[[], Figures]]


def fetch(settings: Settings, server: ServerProcess, visit: Visit) -> None:
    """Until all is stored. The server is asked once: answers to somebody who waits are not part of a fetch."""
    server.ask(Request(ACCESSES, visit.customer.token), visit.body)
    assert settings.migration_database_url is not None
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as connection:
        while not connection.execute(FIND_COMPLETE, [visit.customer.id]).fetchone():
            time.sleep(POLL_SECONDS)


def choose(measurements: dict[str, str], only: str) -> dict[str, str]:
    return {name: value for name, value in measurements.items() if name.startswith(only)}


async def prepare_lists(settings: Settings, only: str) -> dict[str, list[Request]]:
    requests = {}
    for name, endpoint in choose(LISTS, only).items():
        async with BenchmarkEnvironment(settings, tenant=f"bench-{endpoint}") as environment:
            requests[name] = await load_endpoint(endpoint).prepare(environment)
    return requests


def measure_fetches(
    settings: Settings, server: ServerProcess, worker: ServerProcess, only: str, count: int
) -> Measures:
    postgres = find_postgres(settings)

    def measure(visits: Iterator[Visit]) -> Figures:
        visit = next(visits)
        processes = (server.cpu_seconds, worker.cpu_seconds, lambda: children_cpu_seconds(postgres))
        before = [read() for read in processes]
        fetch(settings, server, visit)
        used = [read() - start for read, start in zip(processes, before, strict=True)]
        return {
            "count": count_transactions(settings, visit.customer),
            "program": (used[0] + used[1]) * 1000,
            "database": used[2] * 1000,
        }

    measures: Measures = {}
    for name, login in choose(LOGINS, only).items():
        logins = [login.format(number) for number in range(count)]
        visits = iter(asyncio.run(make_visits(settings, f"bench-{name.replace(' ', '-')}", logins)))
        fetch(settings, server, next(visits))
        measures[name] = partial(measure, visits)
    return measures


def measure_lists(
    settings: Settings, server: ServerProcess, requests: dict[str, list[Request]], seconds: float
) -> Measures:
    postgres = find_postgres(settings)

    def measure(asked: list[Request]) -> Figures:
        before, database_before = server.cpu_seconds(), children_cpu_seconds(postgres)
        load = run_load(server.port, asked, Plan(1, seconds, CONNECTIONS))
        used, database_used = server.cpu_seconds() - before, children_cpu_seconds(postgres) - database_before
        assert not load.failures
        return {
            "count": load.answers,
            "program": used * 1000 / load.answers,
            "database": database_used * 1000 / load.answers,
        }

    for asked in requests.values():
        for request in asked[:8]:
            server.ask(request)
        run_load(server.port, asked, Plan(1, WARMING_SECONDS, CONNECTIONS))
    return {name: partial(measure, asked) for name, asked in requests.items()}


def main() -> None:
    rounds, seconds, only = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    with open_database() as settings:
        requests = asyncio.run(prepare_lists(settings, only))
        environment = {"BENCH_SIZES": str(FETCHED)}
        logs = settings.data / "server.log", settings.data / "worker.log"
        with (
            ServerProcess(OURS, settings, "", logs[0], set()) as server,
            ServerProcess(LARGE_WORKER, settings, "", logs[1], set(), environment) as worker,
        ):
            server.wait_for(Request("/health/live", ""))
            measures = measure_lists(settings, server, requests, seconds) | measure_fetches(
                settings, server, worker, only, rounds + 1
            )
            print(json.dumps(list(measures)), flush=True)
            for line in sys.stdin:
                print(json.dumps(measures[line.strip()]()), flush=True)


if __name__ == "__main__":
    main()
