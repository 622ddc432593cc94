"""What `./dev bench --reads` shows, and writes as reads.md."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from rich.console import Console

from benchmarks.environment import open_database
from benchmarks.machine import describe_machine
from benchmarks.reads.population import MIX
from benchmarks.reads.running import AIM_SECONDS, Minute, ReadPlan, ReadsResult, measure_reads
from benchmarks.report import show_table, write_table_page
from kontor.logs import configure_logs

FULL = ReadPlan(customers=40, rate=250, connections=64, intervals=30, interval_seconds=60, refreshes_per_second=1)
QUICK = ReadPlan(customers=4, rate=100, connections=64, intervals=3, interval_seconds=4, refreshes_per_second=1)
ROWS = 6  # of the table
WARM_PART = 6  # the first sixth of a run: caches and pools fill
HEADINGS = (
    "minutes", "answers", "failed", "p99 ms", "p99 ms from outside", "refreshes", "webhooks", "API MB", "worker MB",
    "machine load",
)  # fmt: skip
TITLE = "Benchmarks: reads for half an hour"
INTRODUCTION = (
    "Written by `./dev bench --reads`; do not edit. One API process, one worker, PostgreSQL and the load generator"
    " share the machine; nothing is bound to a core. Requests begin at a steady rate, whether or not earlier ones are"
    " answered. Meanwhile accesses are refreshed, the bank has new bookings each time, and each refresh is told by a"
    " webhook. The bank and its data are ours. p99 is the server's own measure (`kontor_request_seconds`), between two"
    " bounds of its histogram by interpolation; from outside it is the load generator's, from the moment a request was"
    " due. Both are the longest of a minute; megabytes and the machine's load are means of what is read each minute."
)


def run_reads(console: Console, target: Path | None, load_before: float, *, is_quick: bool) -> None:
    configure_logs("warning", "json")
    with open_database() as settings:
        machine = describe_machine(settings, load_before)
        result = measure_reads(settings, QUICK if is_quick else FULL, console.print)
    rows, lines = make_rows(result), describe(result)
    show_table(TITLE, HEADINGS, rows, lines, console)
    if target is not None:
        write_table_page(target / "reads.md", TITLE, INTRODUCTION, HEADINGS, rows, lines, machine)
        console.print(f"Written to {target}.")


def make_rows(result: ReadsResult) -> list[tuple[str, ...]]:
    minutes = result.minutes
    size = max(1, len(minutes) // ROWS)
    return [make_row(start, minutes[start : start + size]) for start in range(0, len(minutes), size)]


def make_row(start: int, minutes: Sequence[Minute]) -> tuple[str, ...]:
    """Sums, the longest p99 of an interval, and means of what is read at its end."""
    return (
        f"{start + 1} – {start + len(minutes)}",
        f"{sum(minute.load.answers for minute in minutes):,}",
        f"{sum(minute.load.failures for minute in minutes):,}",
        f"{max(minute.p99 for minute in minutes) * 1000:.0f}",
        f"{max(minute.load.p99 for minute in minutes) * 1000:.0f}",
        f"{sum(minute.refreshes for minute in minutes):,}",
        f"{sum(minute.deliveries for minute in minutes):,}",
        f"{mean(minute.server_megabytes for minute in minutes):.0f}",
        f"{mean(minute.worker_megabytes for minute in minutes):.0f}",
        f"{mean(minute.machine_load for minute in minutes):.1f}",
    )


def describe(result: ReadsResult) -> list[str]:
    plan, minutes = result.plan, result.minutes
    answers = sum(minute.load.answers for minute in minutes)
    failures = sum(minute.load.failures for minute in minutes)
    seconds = plan.intervals * plan.interval_seconds
    refreshes = ", ".join(f"{count:,} {state}" for state, count in sorted(result.refreshes.items())) or "none"
    mix = ", ".join(f"{name} ({weight})" for name, (_, weight) in MIX.items())
    return [
        f"{answers:,} reads in {seconds / 60:.0f} minutes, {plan.rate:g} a second over {plan.connections} connections,"
        f" of {plan.customers} customers with 300 bookings each: {failures} failed, {result.log_errors} errors in the"
        " server's log.",
        f"Aim: p99 {AIM_SECONDS * 1000:.0f} ms by the server's own measure. Measured: {result.p99 * 1000:.0f} ms;"
        f" {result.within_aim:.2%} of all answers within the aim.",
        f"Memory from the end of the first sixth to the end: {describe_growth(minutes)}.",
        f"Refreshes by their end: {refreshes}. Webhooks delivered: {result.deliveries:,}.",
        f"Reads, of twenty: {mix}.",
    ]


def describe_growth(minutes: Sequence[Minute]) -> str:
    warm, last = minutes[len(minutes) // WARM_PART], minutes[-1]
    return (
        f"API {warm.server_megabytes:.0f} to {last.server_megabytes:.0f} MB, worker {warm.worker_megabytes:.0f} to"
        f" {last.worker_megabytes:.0f} MB"
    )
