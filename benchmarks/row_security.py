"""What row-level security costs on lists: `python -m benchmarks.row_security` (docs/benchmarks/row-security.md).

Two applications in one process answer the same requests on one database, in turn, round by round. One has the
application's role and binds its connections; the other has a role that sees all rows, and binds none. Each request
is another customer's, so that hardly a connection is bound to the right one already. Processor time is that of the
process and of its database connections, per request, over all rounds; elapsed time is the median ratio of the rounds.
"""

import asyncio
import statistics
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from psycopg.conninfo import make_conninfo

from benchmarks.cores import cpu_seconds
from benchmarks.environment import BenchmarkEnvironment, Customer, open_database
from kontor.api.app import make_app
from kontor.bootstrap import open_services
from kontor.config import Settings
from kontor.domain.secrets import Secret
from kontor.logs import configure_logs
from kontor.services.bundle import Services

ROUNDS, REQUESTS, CUSTOMERS = 101, 12, 12
SIZES = (20, 200, 1000)
FREE = "bench_free"


@dataclass(frozen=True)
class List:
    customer: Customer
    path: str


def free_settings(environment: BenchmarkEnvironment) -> Settings:
    """With the rights of the application, and all rows."""
    settings = environment.settings
    assert settings.database_url is not None
    with environment.owner() as owner:
        owner.execute(f"create role {FREE} login bypassrls password '{FREE}' in role kontor")
    address = make_conninfo(settings.database_url.reveal(), user=FREE, password=FREE)
    return replace(settings, database_url=Secret(address))


def leave_unbound(services: Services) -> None:
    """Every connection counts as bound to nobody, whom everything is asked for."""
    pool: Any = services.database._connections
    acquire, note_user = pool.acquire, pool.note_user
    pool.acquire = lambda user_id=None: acquire(None)
    pool.note_user = lambda connection, user_id: note_user(connection, None)


async def start(settings: Settings, services: Services, stack: AsyncExitStack) -> Any:
    @asynccontextmanager
    async def lend() -> Any:
        yield services

    edge: Any = make_app(settings, lend)
    await stack.enter_async_context(edge.app._fallback.lifespan())
    return edge.app


async def ask(app: Any, lists: list[List], callers: int) -> None:
    """Every caller asks for one list after the other; together `REQUESTS` times."""

    async def call(first: int) -> None:
        for number in range(first, REQUESTS, callers):
            await _get(app, lists[number % len(lists)])

    await asyncio.gather(*(call(first) for first in range(callers)))


async def _get(app: Any, wanted: List) -> None:
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": wanted.path, "raw_path": wanted.path.encode(), "query_string": b"", "root_path": "",
        "headers": [(b"authorization", f"Bearer {wanted.customer.token}".encode())],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
    }  # fmt: skip
    events: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(event: Any) -> None:
        events.append(event)

    await app(scope, receive, send)
    assert events[0]["status"] == 200, events
    assert sum(len(event.get("body", b"")) for event in events) > 1000


class Side:
    """An application, and the processor time of this process and of its database connections while it is asked."""

    def __init__(self, app: Any, name: str, environment: BenchmarkEnvironment) -> None:
        self.app, self._name, self._environment = app, name, environment
        self.seconds: list[float] = []
        self.busy = 0.0

    def read_backends(self) -> float:
        with self._environment.owner() as owner:
            query = "select pid from pg_stat_activity where application_name = %s"
            return sum(cpu_seconds(pid) for (pid,) in owner.execute(query, [self._name]).fetchall())

    async def ask(self, lists: list[List], callers: int) -> None:
        started, busy = time.perf_counter(), time.process_time()
        await ask(self.app, lists, callers)
        self.busy += time.process_time() - busy
        self.seconds.append(time.perf_counter() - started)


async def compare(name: str, free: Side, bound: Side, lists: list[List], callers: int, rounds: int) -> None:
    sides = (free, bound)
    for side in sides:
        for _ in range(3):
            await side.ask(lists, callers)
        side.seconds.clear()
        side.busy = -side.read_backends()
    for number in range(rounds):
        for side in sides if number % 2 else reversed(sides):
            await side.ask(lists, callers)
    elapsed = [with_it / without for with_it, without in zip(bound.seconds, free.seconds, strict=True)]
    low, median, high = statistics.quantiles(elapsed, n=4)
    busy = [(side.busy + side.read_backends()) / rounds / REQUESTS * 1000 for side in sides]
    figures = f"{busy[0]:.2f} | {busy[1]:.2f} | {busy[1] / busy[0]:.3f} | {median:.3f} ({low:.3f} – {high:.3f})"
    print(f"| {name} | {figures} |", flush=True)


async def main(rounds: int = ROUNDS) -> None:
    configure_logs("error", "json")
    with open_database() as settings:
        async with BenchmarkEnvironment(settings) as environment, AsyncExitStack() as stack:
            free = await stack.enter_async_context(open_services(free_settings(environment), FREE))
            leave_unbound(free)
            customers = [await environment.add_customer() for _ in range(CUSTOMERS)]
            sides = [
                Side(await start(settings, services, stack), name, environment)
                for services, name in ((free, FREE), (environment.services, "kontor bench"))
            ]
            print("| list | processor time without, ms | with, ms | ratio | ratio of elapsed time (quartiles) |")
            print("|---|---:|---:|---:|---:|")
            for size in SIZES:
                lists = [List(customer, await environment.add_transactions(customer, size)) for customer in customers]
                with environment.owner() as owner:
                    owner.execute("vacuum analyze")
                for callers in (1, 4):
                    name = f"{size:,} transactions, {callers} at a time"
                    await compare(name, sides[0], sides[1], lists, callers, rounds)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
