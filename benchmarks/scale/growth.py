"""The same ten customers, alone in one database and among ten thousand in another: what does the crowd cost them?"""

import asyncio
import http.client
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg

from benchmarks.endpoints import Request
from benchmarks.environment import BenchmarkEnvironment, open_database
from benchmarks.scale.population import Population, populate, set_careless
from benchmarks.servers import OURS, ServerProcess
from kontor.config import Settings
from kontor.logs import configure_logs

FEW, MANY, QUICK_MANY = 10, 10_000, 300
STRANGERS = 100
TARGET = 1.2
SMALL, LARGE = "few", "many"
SIDES = (SMALL, LARGE)
PAGE, ANALYSIS = "?limit=50", "/customer/v2/ai/contracts"
DUE = 10
TENANT = "bench-growth"


@dataclass
class Timings:
    """Of one operation: per side and round the median of its seconds."""

    name: str
    rounds: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    is_judged: bool = True

    def median(self, side: str) -> float:
        return statistics.median(self.rounds[side])

    @property
    def ratios(self) -> list[float]:
        return [large / small for small, large in zip(*(self.rounds[side] for side in SIDES), strict=True)]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)


@dataclass(frozen=True)
class GrowthResult:
    populations: dict[str, Population]
    sizes: dict[str, str]
    timings: list[Timings]


class Caller:
    """One connection that is kept, to one server."""

    def __init__(self, server: ServerProcess) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def time(self, request: Request) -> float:
        started = time.perf_counter()
        self._line.request("GET", request.path, headers={"Authorization": f"Bearer {request.token}"})
        answer = self._line.getresponse()
        answer.read()
        seconds = time.perf_counter() - started
        if answer.status != 200:
            raise RuntimeError(f"{request.path}: {answer.status}")
        return seconds

    def close(self) -> None:
        self._line.close()


@dataclass
class Side:
    """One of the two databases, with a server of its own."""

    settings: Settings
    population: Population
    caller: Caller
    owner: psycopg.Connection[Any]

    def forget_answers(self) -> None:
        self.owner.execute("delete from analysis_results")


@contextmanager
def open_side(users: int, strangers: int, say: Callable[[str], None]):
    with ExitStack() as exits:
        settings = exits.enter_context(open_database())
        population = asyncio.run(fill(settings, users, strangers, say))
        server = exits.enter_context(ServerProcess(OURS, settings, "", settings.data / "growth.log", set()))
        server.wait_for(population.measured[0])
        assert settings.migration_database_url is not None
        url = settings.migration_database_url.reveal()
        owner = exits.enter_context(psycopg.connect(url, autocommit=True))
        caller = Caller(server)
        exits.callback(caller.close)
        yield Side(settings, population, caller, owner)


async def fill(settings: Settings, users: int, strangers: int, say: Callable[[str], None]) -> Population:
    async with BenchmarkEnvironment(settings, tenant=TENANT) as environment:
        with environment.owner() as owner:
            set_careless(owner, is_careless=True)
            population = await populate(environment, users, strangers, say)
            set_careless(owner, is_careless=False)
        return population


def measure_growth(rounds: int, repeats: int, many: int, say: Callable[[str], None]) -> GrowthResult:
    configure_logs("warning", "json")
    with open_side(FEW, 0, say) as small, open_side(many, min(STRANGERS, many // 3), say) as large:
        sides = {SMALL: small, LARGE: large}
        timings = measure_requests(sides, rounds, repeats, say)
        timings += asyncio.run(measure_scheduling(sides, rounds, repeats, say))
        return GrowthResult(
            {name: side.population for name, side in sides.items()},
            {name: read_size(side.owner) for name, side in sides.items()},
            timings,
        )


def read_size(owner: psycopg.Connection[Any]) -> str:
    row = owner.execute("select pg_size_pretty(pg_database_size(current_database()))").fetchone()
    assert row is not None
    return row[0]


# Requests


def measure_requests(sides: dict[str, Side], rounds: int, repeats: int, say: Callable[[str], None]) -> list[Timings]:
    def ask(suffix: str) -> Callable[[Side, Request], float]:
        return lambda side, request: side.caller.time(Request(request.path + suffix, request.token))

    def ask_kept(side: Side, request: Request) -> float:
        return side.caller.time(Request(ANALYSIS, request.token))

    def ask_computed(side: Side, request: Request) -> float:
        side.forget_answers()
        return ask_kept(side, request)

    operations: list[tuple[str, Callable[[Side, Request], float]]] = [
        ("listing, all transactions", ask("")),
        ("listing, a page of 50", ask(PAGE)),
        ("tag view, all transactions", ask("?tag=true")),
        ("analysis, computed", ask_computed),
        ("analysis, kept", ask_kept),
    ]
    all_timings = []
    for name, operation in operations:
        timings = Timings(name)
        for number in range(-1, rounds):  # the first one warms everything up
            medians = time_pairs(sides, operation, repeats)
            if number >= 0:
                for side in SIDES:
                    timings.rounds[side].append(medians[side])
        say(describe_timings(timings))
        all_timings.append(timings)
    return [*all_timings, measure_strangers(sides, rounds, say)]


def time_pairs(sides: dict[str, Side], operation: Callable[[Side, Request], float], repeats: int) -> dict[str, float]:
    """Each customer in turn, here and there; who comes first changes. Medians over all requests."""
    times: dict[str, list[float]] = {name: [] for name in SIDES}
    for number in range(repeats):
        for place in range(len(sides[SMALL].population.measured)):
            for name in SIDES if (number + place) % 2 else SIDES[::-1]:
                side = sides[name]
                times[name].append(operation(side, side.population.measured[place]))
    return {name: add_medians(times[name], len(sides[name].population.measured)) for name in SIDES}


def add_medians(times: Sequence[float], people: int) -> float:
    """The mean over customers, whose lists are of different lengths, of each one's median."""
    return statistics.fmean(statistics.median(times[place::people]) for place in range(people))


def measure_strangers(sides: dict[str, Side], rounds: int, say: Callable[[str], None]) -> Timings:
    """Always somebody else of the crowd, beside the ten in turn: what the caches do not hold is in it."""
    timings = Timings("listing, always another user", is_judged=False)
    for number in range(-1, rounds):
        times: dict[str, list[float]] = {name: [] for name in SIDES}
        people = {SMALL: sides[SMALL].population.measured, LARGE: sides[LARGE].population.strangers}
        for place in range(len(people[LARGE])):
            for name in SIDES:
                request = people[name][place % len(people[name])]
                times[name].append(sides[name].caller.time(request))
        if number >= 0:
            for name in SIDES:
                timings.rounds[name].append(statistics.fmean(times[name]))
    say(describe_timings(timings))
    return timings


# Scheduling


async def measure_scheduling(
    sides: dict[str, Side], rounds: int, repeats: int, say: Callable[[str], None]
) -> list[Timings]:
    """In this process, as a worker looks: with as many due on both sides, and with nothing due."""
    from kontor.bootstrap import open_services

    due, idle = Timings(f"scheduling, {DUE} due"), Timings("scheduling, nothing due")
    async with (
        open_services(sides[SMALL].settings, "kontor bench") as few,
        open_services(sides[LARGE].settings, "kontor bench") as many,
    ):
        looks = {SMALL: few.refreshing.schedule_due, LARGE: many.refreshing.schedule_due}
        for timings, count in ((due, DUE), (idle, 0)):
            for number in range(-1, rounds):
                times = await time_looks(sides, looks, count, repeats * (4 if count else 20))
                for name in SIDES if number >= 0 else ():
                    timings.rounds[name].append(statistics.median(times[name]))
            say(describe_timings(timings))
    return [due, idle]


async def time_looks(
    sides: dict[str, Side], looks: dict[str, Callable[[], Awaitable[int]]], due: int, repeats: int
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in SIDES}
    for number in range(repeats):
        for name in SIDES if number % 2 else SIDES[::-1]:
            prepare_due(sides[name].owner, due)
            started = time.perf_counter()
            count = await looks[name]()
            times[name].append(time.perf_counter() - started)
            assert count == due, f"{count} were due"
    return times


def prepare_due(owner: psycopg.Connection[Any], count: int) -> None:
    """Take back what the look before has done, and make so many due, as if their slot had come now."""
    rows = owner.execute("delete from fetches where state = 'QUEUED' returning user_id").fetchall()
    owner.execute("delete from pgqueuer")
    if not count:
        owner.execute(
            "update accesses set next_refresh_at = now() + interval '3 hours' where next_refresh_at <= now() + interval"
            " '10 minutes'"
        )
        return
    users: list[UUID] = [row[0] for row in rows]
    if len(users) != count:  # the first time
        users = [row[0] for row in owner.execute("select user_id from accesses order by 1 limit %s", [count])]
        # The rest of the crowd shall not come in between.
        owner.execute(
            "update accesses set next_refresh_at = next_refresh_at + interval '2 hours'"
            " where next_refresh_at < now() + interval '1 hour'"
        )
        for table, instant in (("fetches", "slot_at"), ("unattended_calls", "called_at")):
            owner.execute(
                f"delete from {table} where user_id = any(%s) and {instant} > now() - interval '13 hours'", [users]
            )
    owner.execute(
        "update accesses set next_refresh_at = now() - interval '1 second', scheduled_since = now() - interval '1 hour'"
        " where user_id = any(%s)",
        [users],
    )


# What is said about it

GROWTH_HEADINGS = ("", "few users, ms", "many users, ms", "many / few", "least – most")


def make_growth_rows(result: GrowthResult) -> list[tuple[str, ...]]:
    return [
        (
            timings.name,
            *(f"{timings.median(side) * 1000:.2f}" for side in SIDES),
            f"{timings.ratio:.2f}",
            f"{min(timings.ratios):.2f} – {max(timings.ratios):.2f}",
        )
        for timings in result.timings
    ]


def describe_timings(timings: Timings) -> str:
    return (
        f"{timings.name}: {timings.median(SMALL) * 1000:.2f} ms with few users,"
        f" {timings.median(LARGE) * 1000:.2f} ms with many, {timings.ratio:.2f} ×"
    )


def describe_growth(result: GrowthResult) -> list[str]:
    judged = [timings for timings in result.timings if timings.is_judged]
    worst = max(judged, key=lambda timings: timings.ratio)
    verdict = "reached" if worst.ratio <= TARGET else "not reached"
    few, many = (result.populations[side] for side in SIDES)
    return [
        f"Few: {few.users:,} users with {few.transactions:,} transactions, {result.sizes[SMALL]}. Many: {many.users:,}"
        f" users with {many.transactions:,} transactions, {result.sizes[LARGE]}.",
        f"Target: at most {TARGET:g} × as long with many users. Measured: at most {worst.ratio:.2f} × ({worst.name}),"
        f" {verdict}.",
    ]
