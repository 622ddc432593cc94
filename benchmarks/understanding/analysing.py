"""All analyses of one user, as the number of transactions grows; tagging is not part of it."""

import asyncio
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from msgspec import structs

from benchmarks.environment import BenchmarkEnvironment
from benchmarks.fetching import find_growth
from kontor.analysis.day_order import order_records
from kontor.analysis.records import Account, Record, make_record
from kontor.api.app import OPERATIONS
from kontor.config import Settings
from kontor.connectors.demo.people import Person, large_person
from kontor.domain.tags import TransactionTags
from kontor.services.analyses.analyses import Facts
from kontor.wire.analyses import ANALYSES
from kontor.wire.encoding import encode_json
from kontor.wire.urls import Urls

TODAY = date(2026, 11, 15)
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
QUICK_SIZES = (1_000, 2_000, 5_000, 10_000)
USUAL = 10_000
TARGET_SECONDS = {1_000: 0.025, 10_000: 0.15}
ROUNDS_ROWS = 50_000  # beyond that many rows, fewer rounds are enough to be sure
URLS = Urls("https://kontor.example", [operation.id for operation in OPERATIONS])


@dataclass(frozen=True)
class Point:
    """Of each round, the processor time of each analysis in seconds."""

    count: int
    parts: list[dict[str, float]]

    @property
    def totals(self) -> list[float]:
        return [sum(part.values()) for part in self.parts]

    @property
    def median(self) -> float:
        return statistics.median(self.totals)

    def part(self, name: str) -> float:
        return statistics.median(part[name] for part in self.parts)


@dataclass(frozen=True)
class AnalysesResult:
    curve: list[Point]
    reading_seconds: float  # processor time of reading a user's rows from the database
    reading_rows: int

    def find(self, count: int) -> Point:
        return next(point for point in self.curve if point.count == count)


def make_facts(person: Person, today: date) -> Facts:
    records: list[Record] = []
    for account in person.accounts:
        for entry in account.entries:
            truth, number = entry.truth, len(records)
            tags = TransactionTags(
                truth.category, truth.insurance_type, truth.partner or "UNKNOWN", truth.freelancer_category, 1, 1, 1, 1
            )
            record = make_record(str(UUID(int=number)), account.key, entry.transaction, tags)
            records.append(structs.replace(record, is_pending=entry.transaction.is_pending))
    records.sort(key=lambda record: (record.day, record.id))
    accounts = [
        Account(
            account.key,
            account.product.category,
            iban=account.product.iban or "",
            balance=account.product.balance,
            data_until=today,
        )
        for account in person.accounts
    ]
    return Facts("user", order_records(records), accounts, today)


def time_analyses(facts: Facts) -> dict[str, float]:
    """Each as the API answers it, JSON included. The first one finds the contracts that the others read."""
    fresh = Facts(facts.user, facts.records, facts.accounts, facts.today)
    times = {}
    for name, show in ANALYSES.items():
        start = time.process_time()
        encode_json(show(fresh, URLS, False))
        times[name] = time.process_time() - start
    return times


def measure_curve(sizes: Sequence[int], rounds: int, say: Callable[[str], None]) -> list[Point]:
    curve = []
    for size in sizes:
        facts = make_facts(large_person(size, TODAY), TODAY)
        if not curve:
            time_analyses(facts)  # code is warm
        times = rounds if size <= ROUNDS_ROWS else max(1, rounds // 3)
        curve.append(Point(size, [time_analyses(facts) for _ in range(times)]))
        say(f"all analyses of {size:,} transactions: {curve[-1].median * 1000:,.0f} ms of processor time")
    return curve


async def measure_reading(settings: Settings, rounds: int) -> float:
    """What a first call pays beside the analyses: reading the rows of the user."""
    async with BenchmarkEnvironment(settings, tenant="bench-reading") as environment:
        customer = await environment.add_customer()
        await environment.add_transactions(customer, USUAL)
        await environment.services.analyses.load_facts_by_operator(customer.id)
        times = []
        for _ in range(rounds):
            start = time.process_time()
            await environment.services.analyses.load_facts_by_operator(customer.id)
            times.append(time.process_time() - start)
    return statistics.median(times)


def measure_analyses(settings: Settings, rounds: int, *, is_quick: bool, say: Callable[[str], None]) -> AnalysesResult:
    curve = measure_curve(QUICK_SIZES if is_quick else SIZES, rounds, say)
    return AnalysesResult(curve, asyncio.run(measure_reading(settings, rounds)), USUAL)


# What is said about it


def find_excess(curve: Sequence[Point]) -> float:
    """How many times as much the longest list costs as n log n from the usual one on would make it."""
    usual = next(point for point in curve if point.count == USUAL)
    last = curve[-1]
    expected = last.count * math.log(last.count) / (usual.count * math.log(usual.count))
    return last.median / usual.median / expected


CURVE_HEADINGS = ("transactions", "ms of processor time", "least – most", "µs for each", "by n log n", *ANALYSES)


def make_curve_rows(result: AnalysesResult) -> list[tuple[str, ...]]:
    usual = result.find(USUAL)
    scale = usual.median / (usual.count * math.log(usual.count))
    return [
        (
            f"{point.count:,}",
            f"{point.median * 1000:,.0f}",
            f"{min(point.totals) * 1000:,.0f} – {max(point.totals) * 1000:,.0f}",
            f"{point.median / point.count * 1e6:.1f}",
            f"{point.median / (scale * point.count * math.log(point.count)):.2f}",
            *(f"{point.part(name) * 1000:,.0f}" for name in ANALYSES),
        )
        for point in result.curve
    ]


def describe_target(point: Point, seconds: float) -> str:
    reached = "reached" if point.median <= seconds else "not reached"
    return (
        f"Target: {seconds * 1000:.0f} ms for all analyses of {point.count:,} transactions. Measured:"
        f" {point.median * 1000:,.0f} ms of processor time, the best round {min(point.totals) * 1000:,.0f} ms:"
        f" {reached}."
    )


def describe_analyses(result: AnalysesResult) -> list[str]:
    excess = find_excess(result.curve)
    growth = find_growth([point.count for point in result.curve], [point.median for point in result.curve])
    kept = "reached" if excess <= 1.1 else "not reached"
    return [
        *(
            describe_target(point, TARGET_SECONDS[point.count])
            for point in result.curve
            if point.count in TARGET_SECONDS
        ),
        f"Target: growth no worse than n log n. Measured: {result.curve[-1].count:,} transactions cost {excess:.2f}"
        f" times what n log n makes of the time for {USUAL:,}: {kept}. Over the whole curve, time grows with the"
        f" number of transactions to the power of {growth:.2f} (1 is linear, 2 quadratic).",
        f"A first call also reads the rows of the user: {result.reading_seconds * 1000:,.0f} ms of processor time for"
        f" {result.reading_rows:,}, the database's own not counted.",
    ]
