"""The first fetch of an access: from POST until all is stored, by a server and a worker as an operator runs them."""

import asyncio
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import uuid4

import psycopg

from benchmarks.endpoints import Request
from benchmarks.environment import DEMO_BANK, BenchmarkEnvironment, Customer
from benchmarks.servers import LARGE_WORKER, OURS, WORKER, ServerProcess
from kontor.config import Settings

ACCESSES = "/customer/v2/bankzugaenge"
PERSONA = "familie"
SIZES = (5_000, 10_000, 20_000, 40_000)
POLL_SECONDS = 0.02
WAIT_TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Fetch:
    """`count` transactions of all accounts; of each fetch, how long it took and the processor time of the worker."""

    login: str
    count: int
    seconds: list[float]
    cpu: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def median_cpu(self) -> float:
        return statistics.median(self.cpu)


@dataclass(frozen=True)
class Fetches:
    persona: Fetch
    curve: list[Fetch]


@dataclass(frozen=True)
class Visit:
    """A new customer, ready to add an access."""

    login: str
    customer: Customer
    body: bytes
    access_id: str


async def make_visits(settings: Settings, tenant: str, logins: Iterable[str]) -> list[Visit]:
    visits = []
    async with BenchmarkEnvironment(settings, tenant=tenant) as environment:
        for login in logins:
            customer, access_id = await environment.add_customer(), str(uuid4())
            credentials = {
                "userid": await environment.encrypt(customer, login),
                "pin": await environment.encrypt(customer, "demo"),
            }
            access = {"providerId": str(DEMO_BANK), "credentials": credentials}
            visits.append(Visit(login, customer, json.dumps({access_id: access}).encode(), access_id))
    return visits


def measure_fetches(settings: Settings, cores: set[int], times: int, say: Callable[[str], None]) -> Fetches:
    """A demo customer with a worker as it is, whose bank makes up a life each time; then the curve, where it has."""
    logins = [f"{PERSONA}+{number}" for number in range(times)]
    fetches = run_fetches(settings, cores, WORKER, ["leer"], logins, say)
    persona = join_fetches(PERSONA, fetches)
    larges = [f"test_large+{size}" for size in SIZES]
    fetches = run_fetches(settings, cores, LARGE_WORKER, [larges[0]], larges * times, say)
    return Fetches(
        persona, [join_fetches(login, [fetch for fetch in fetches if fetch.login == login]) for login in larges]
    )


def join_fetches(login: str, fetches: list[Fetch]) -> Fetch:
    count = round(statistics.median(fetch.count for fetch in fetches))
    return Fetch(login, count, [fetch.seconds[0] for fetch in fetches], [fetch.cpu[0] for fetch in fetches])


def run_fetches(
    settings: Settings, cores: set[int], worker: str, first: list[str], logins: list[str], say: Callable[[str], None]
) -> list[Fetch]:
    """One after the other; those of `first` only wait until everybody is there."""
    visits = asyncio.run(make_visits(settings, f"bench-{worker.replace(' ', '-')}", [*first, *logins]))
    environment = {"BENCH_SIZES": ",".join(map(str, SIZES))}
    log = settings.data / f"{worker}.log"
    fetches = []
    with (
        ServerProcess(OURS, settings, "", settings.data / "fetch-server.log", cores) as server,
        ServerProcess(worker, settings, "", log, cores, environment) as working,
    ):
        server.wait_for(Request(ACCESSES, visits[0].customer.token))
        for visit in visits:
            before = working.cpu_seconds()
            seconds = time_fetch(server, visit)
            cpu = working.cpu_seconds() - before
            fetches.append(Fetch(visit.login, count_transactions(settings, visit.customer), [seconds], [cpu]))
            if len(fetches) > len(first):
                say(f"first fetch of {visit.login}: {fetches[-1].count:,} transactions in {seconds:.2f} s")
    return fetches[len(first) :]


def time_fetch(server: ServerProcess, visit: Visit) -> float:
    token = visit.customer.token
    started = time.perf_counter()
    server.ask(Request(ACCESSES, token), visit.body)
    while time.perf_counter() - started < WAIT_TIMEOUT_SECONDS:
        access = json.loads(server.ask(Request(f"{ACCESSES}/{visit.access_id}", token)))
        if access["status"] == "VOLLSTAENDIG":
            return time.perf_counter() - started
        time.sleep(POLL_SECONDS)
    raise RuntimeError(f"{visit.login} is not complete")


def count_transactions(settings: Settings, customer: Customer) -> int:
    assert settings.migration_database_url is not None
    with psycopg.connect(settings.migration_database_url.reveal()) as connection:
        row = connection.execute("select count(*) from transactions where user_id = %s", [customer.id]).fetchone()
    assert row is not None
    return row[0]


def find_growth(counts: list[int], times: list[float]) -> float:
    """The exponent e of time = a * count^e, by least squares: 1 is linear, 2 quadratic."""
    if min(times) <= 0:
        return math.nan
    return statistics.linear_regression(
        [math.log(count) for count in counts], [math.log(duration) for duration in times]
    ).slope


def describe_fetches(fetches: Fetches) -> list[str]:
    persona, curve = fetches.persona, fetches.curve
    counts = [fetch.count for fetch in curve]
    growth = find_growth(counts, [fetch.median for fetch in curve])
    cpu_growth = find_growth(counts, [fetch.median_cpu for fetch in curve])
    return [
        f"The first fetch of `{persona.login}` with {persona.count:,} transactions takes {persona.median:.2f} s"
        f" ({min(persona.seconds):.2f} – {max(persona.seconds):.2f}), the demo bank's own time included.",
        f"Time grows with the number of transactions to the power of {growth:.2f}, the worker's processor time to the"
        f" power of {cpu_growth:.2f} (1 is linear, 2 quadratic).",
    ]


FETCH_HEADINGS = ("transactions", "seconds", "spread", "ms for 1,000", "worker CPU s", "CPU ms for 1,000")


def make_fetch_rows(fetches: Fetches) -> list[tuple[str, ...]]:
    return [
        (
            f"{fetch.count:,}",
            f"{fetch.median:.2f}",
            f"{min(fetch.seconds):.2f} – {max(fetch.seconds):.2f}",
            f"{fetch.median / fetch.count * 1e6:.0f}",
            f"{fetch.median_cpu:.2f}",
            f"{fetch.median_cpu / fetch.count * 1e6:.0f}",
        )
        for fetch in fetches.curve
    ]
