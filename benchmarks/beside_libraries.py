"""Kontor's own code beside the library it stands next to: `python -m benchmarks.beside_libraries`.

Both sides run in one process on one database, in turn, round by round. The figure is the median over the rounds of
what the library takes divided by what Kontor's own code takes: 2.0 means that the library alone takes twice as long.
`elapsed` is the time of the clock; `processor` is the time that this process was busy, which other load changes less.
docs/decisions/0032-own-code-beside-libraries.md says what follows from it.
"""

import asyncio
import logging
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from pgqueuer import Job, PgQueuer, PsycopgDriver
from pgqueuer.ports.repository import EntrypointExecutionParameter
from pgqueuer.queries import Queries

from benchmarks.environment import BenchmarkEnvironment, open_database
from kontor.api.app import make_app
from kontor.config import Settings
from kontor.jobs.concurrency import LimitedQueue
from kontor.jobs.queue_driver import TwoConnectionDriver
from kontor.logs import configure_logs
from kontor.storage.database import Database

ROUNDS = 21
Side = Callable[[], Awaitable[None]]


async def compare(name: str, library: Side, own: Side, rounds: int = ROUNDS) -> None:
    sides = {"library": library, "own": own}
    times: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    for run in sides.values():
        await run()
    for number in range(rounds):
        for side in sides if number % 2 else reversed(sides):
            started, busy = time.perf_counter(), time.process_time()
            await sides[side]()
            times[side].append((time.perf_counter() - started, time.process_time() - busy))
    for kind, label in enumerate(("elapsed", "processor")):
        samples = {side: [pair[kind] for pair in pairs] for side, pairs in times.items()}
        ratios = [
            library_time / own_time for library_time, own_time in zip(samples["library"], samples["own"], strict=True)
        ]
        low, median, high = statistics.quantiles(ratios, n=4)
        middle = {side: statistics.median(values) * 1000 for side, values in samples.items()}
        print(
            f"{name}, {label}: library {middle['library']:.1f} ms, own {middle['own']:.1f} ms,"
            f" ratio {median:.2f} (quartiles {low:.2f} to {high:.2f})",
            flush=True,
        )


# storage/connection_pool.py beside psycopg_pool


async def compare_pools(settings: Settings) -> None:
    assert settings.database_url is not None

    async def query(connect: Callable[[], Any], count: int) -> None:
        for _ in range(count):
            async with connect() as connection:
                await connection.execute("select 1")

    async def query_together(connect: Callable[[], Any], callers: int, count: int) -> None:
        await asyncio.gather(*(query(connect, count) for _ in range(callers)))

    own, library = Database(settings.database_url, 10, "own"), Database(settings.database_url, 10, "library")
    await own.open()
    await library.open()
    await library._connections.close()  # all its connections are the library's
    for callers, count in ((1, 200), (10, 30), (40, 10)):
        await compare(
            f"pool, {callers} callers, {callers * count} small queries",
            lambda c=callers, n=count: query_together(library._pool.connection, c, n),  # type: ignore[misc]
            lambda c=callers, n=count: query_together(own.connect, c, n),  # type: ignore[misc]
        )
    for database in (own, library):
        await database.close()


# api/dispatch.py beside Litestar's router


async def compare_routing(environment: BenchmarkEnvironment) -> None:
    @asynccontextmanager
    async def lend() -> Any:
        yield environment.services

    edge: Any = make_app(environment.settings, lend)
    customer = await environment.add_customer()
    path = await environment.add_transactions(customer, 1)

    async def ask(app: Any, path: str, count: int) -> None:
        for _ in range(count):
            scope = {
                "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
                "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
                "headers": [(b"authorization", f"Bearer {customer.token}".encode()), (b"accept", b"application/json")],
                "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
            }  # fmt: skip
            events: list[Any] = []

            async def receive() -> Any:
                return {"type": "http.request", "body": b"", "more_body": False}

            async def send(event: Any, events: list[Any] = events) -> None:
                events.append(event)

            await app(scope, receive, send)
            assert events[0]["status"] == 200, events

    dispatch = edge.app
    router = dispatch._fallback
    async with router.lifespan():
        product = path.rpartition("/")[0]
        for name, target in (("liveness", "/health/live"), ("one product", product), ("list of one booking", path)):
            await compare(
                f"routing, {name}, 100 requests",
                lambda t=target: ask(router, t, 100),  # type: ignore[misc]
                lambda t=target: ask(dispatch, t, 100),  # type: ignore[misc]
            )


# jobs/concurrency.py beside pgqueuer's own limits


async def compare_limits(settings: Settings) -> None:
    assert settings.database_url is not None
    connection = await psycopg.AsyncConnection.connect(settings.database_url.reveal(), autocommit=True)
    queries = Queries(PsycopgDriver(connection))
    names = ["fetch", "refresh", "deliver", "retag"]
    limits = {"refresh": 20, "deliver": 20, "retag": 1}
    manager = uuid4()

    async def dequeue(is_limited: bool) -> None:
        parameters = {
            name: EntrypointExecutionParameter(concurrency_limit=limits.get(name, 0) if is_limited else 0)
            for name in names
        }
        for _ in range(20):
            await queries.dequeue(10, parameters, manager, None, timedelta(seconds=30))  # type: ignore[arg-type]

    for count in (0, 2_000):
        if count:
            later = [timedelta(hours=1)] * count  # as refreshes wait for their time
            await queries.enqueue(["refresh"] * count, [b""] * count, [0] * count, later)
        await compare(f"limits, 20 queries for jobs, {count} waiting", lambda: dequeue(True), lambda: dequeue(False))
    await connection.execute("delete from pgqueuer")
    await connection.close()


# jobs/queue_driver.py beside pgqueuer's own driver


async def compare_drivers(settings: Settings) -> None:
    assert settings.database_url is not None
    url = settings.database_url.reveal()
    sides: dict[str, Any] = {}

    async def connect() -> Any:
        return await psycopg.AsyncConnection.connect(url, autocommit=True)

    started: asyncio.Queue[bytes] = asyncio.Queue()
    client = await connect()
    enqueue = Queries(PsycopgDriver(client)).enqueue

    async def start(name: str, queuer: PgQueuer) -> None:
        @queuer.entrypoint(name)
        async def note(job: Job) -> None:
            await started.put(job.payload or b"")

        sides[name] = asyncio.create_task(queuer.run())

    await start("library", PgQueuer(PsycopgDriver(await connect())))
    driver = TwoConnectionDriver(await connect(), await connect())
    queue = LimitedQueue(driver)
    await driver.begin_listening(queue.channel)
    await start("own", queue)
    await asyncio.sleep(2)

    async def run_one(name: str) -> None:
        for _ in range(3):
            await enqueue(name, UUID(int=1).bytes)
            await asyncio.wait_for(started.get(), 60)

    await compare("driver, 3 jobs one after the other", lambda: run_one("library"), lambda: run_one("own"), rounds=11)
    for task in sides.values():
        task.cancel()
    await asyncio.gather(*sides.values(), return_exceptions=True)
    await client.close()


async def main(parts: list[str]) -> None:
    with open_database() as settings:
        async with BenchmarkEnvironment(settings) as environment:
            if not parts or "pool" in parts:
                await compare_pools(settings)
            if not parts or "routing" in parts:
                await compare_routing(environment)
            if not parts or "limits" in parts:
                await compare_limits(settings)
            if not parts or "driver" in parts:
                await compare_drivers(settings)


if __name__ == "__main__":
    configure_logs("error", "json")
    logging.disable(logging.WARNING)
    asyncio.run(main(sys.argv[1:]))
