"""All analyses of one user, as the number of transactions grows; tagging is not part of it."""

import asyncio
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from benchmarks.fetching import find_growth
from benchmarks.stage import Stage
from kontor.analysis.records import Account, Record
from kontor.api.app import OPERATIONS
from kontor.config import Settings
from kontor.connectors.demo.people import Person, large_person
from kontor.domain.tags import TransactionTags
from kontor.services.analyses.analyses import Facts
from kontor.wire.analyses import ANALYSES, make_record
from kontor.wire.encoding import encode_json
from kontor.wire.urls import Urls

TODAY = date(2026, 11, 15)
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
QUICK_SIZES = (1_000, 2_000, 5_000, 10_000)
USUAL = 10_000
TARGET_SECONDS = 0.2
ROUNDS_ROWS = 50_000  # beyond that many rows, fewer rounds are enough to be sure
URLS = Urls("https://kontor.example", [one.id for one in OPERATIONS])


@dataclass(frozen=True)
class Point:
    """Of each round, the processor time of each analysis in seconds."""

    count: int
    parts: list[dict[str, float]]

    @property
    def totals(self) -> list[float]:
        return [sum(one.values()) for one in self.parts]

    @property
    def median(self) -> float:
        return statistics.median(self.totals)

    def part(self, name: str) -> float:
        return statistics.median(one[name] for one in self.parts)


@dataclass(frozen=True)
class AnalysesResult:
    curve: list[Point]
    reading_seconds: float  # processor time of reading a user's rows from the database
    reading_rows: int

    def find(self, count: int) -> Point:
        return next(one for one in self.curve if one.count == count)


def make_facts(person: Person, today: date) -> Facts:
    records: list[Record] = []
    for account in person.accounts:
        for entry in account.entries:
            truth, number = entry.truth, len(records)
            tags = TransactionTags(
                truth.category, truth.insurance_type, truth.partner or "UNKNOWN", truth.freelancer_category, 1, 1, 1, 1
            )
            record = make_record(str(UUID(int=number)), account.key, entry.transaction, tags)
            records.append(replace(record, is_pending=entry.transaction.is_pending))
    records.sort(key=lambda one: (one.day, one.id))
    accounts = [
        Account(
            one.key, one.product.category, iban=one.product.iban or "", balance=one.product.balance, data_until=today
        )
        for one in person.accounts
    ]
    return Facts("user", records, accounts, today)


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
    async with Stage(settings, tenant="bench-reading") as stage:
        customer = await stage.add_customer()
        await stage.add_transactions(customer, USUAL)
        await stage.services.analyses.load_facts_by_operator(customer.id)
        times = []
        for _ in range(rounds):
            start = time.process_time()
            await stage.services.analyses.load_facts_by_operator(customer.id)
            times.append(time.process_time() - start)
    return statistics.median(times)


def measure_analyses(settings: Settings, rounds: int, *, is_quick: bool, say: Callable[[str], None]) -> AnalysesResult:
    curve = measure_curve(QUICK_SIZES if is_quick else SIZES, rounds, say)
    return AnalysesResult(curve, asyncio.run(measure_reading(settings, rounds)), USUAL)


# What is said about it


def find_excess(curve: Sequence[Point]) -> float:
    """How many times as much the longest list costs as n log n from the usual one on would make it."""
    usual = next(one for one in curve if one.count == USUAL)
    last = curve[-1]
    expected = last.count * math.log(last.count) / (usual.count * math.log(usual.count))
    return last.median / usual.median / expected


CURVE_HEADINGS = ("transactions", "ms of processor time", "least – most", "µs for each", "by n log n", *ANALYSES)


def make_curve_rows(result: AnalysesResult) -> list[tuple[str, ...]]:
    usual = result.find(USUAL)
    scale = usual.median / (usual.count * math.log(usual.count))
    return [
        (
            f"{one.count:,}",
            f"{one.median * 1000:,.0f}",
            f"{min(one.totals) * 1000:,.0f} – {max(one.totals) * 1000:,.0f}",
            f"{one.median / one.count * 1e6:.1f}",
            f"{one.median / (scale * one.count * math.log(one.count)):.2f}",
            *(f"{one.part(name) * 1000:,.0f}" for name in ANALYSES),
        )
        for one in result.curve
    ]


def describe_analyses(result: AnalysesResult) -> list[str]:
    usual, excess = result.find(USUAL), find_excess(result.curve)
    growth = find_growth([one.count for one in result.curve], [one.median for one in result.curve])
    reached = "reached" if usual.median <= TARGET_SECONDS else "not reached"
    kept = "reached" if excess <= 1.1 else "not reached"
    return [
        f"Target: {TARGET_SECONDS * 1000:.0f} ms for all analyses of {USUAL:,} transactions. Measured:"
        f" {usual.median * 1000:,.0f} ms of processor time, the best round {min(usual.totals) * 1000:,.0f} ms:"
        f" {reached}.",
        f"Target: growth no worse than n log n. Measured: {result.curve[-1].count:,} transactions cost {excess:.2f}"
        f" times what n log n makes of the time for {USUAL:,}: {kept}. Over the whole curve, time grows with the"
        f" number of transactions to the power of {growth:.2f} (1 is linear, 2 quadratic).",
        f"A first call also reads the rows of the user: {result.reading_seconds * 1000:,.0f} ms of processor time for"
        f" {result.reading_rows:,}, the database's own not counted.",
    ]
