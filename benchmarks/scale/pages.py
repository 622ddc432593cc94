"""What `--jobs` and `--growth` show in the terminal, and write as pages of the documentation."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.environment import open_database
from benchmarks.machine import describe_machine, read_load
from benchmarks.report import make_table, show_table
from benchmarks.scale import due, growth
from benchmarks.scale.due import DUE_HEADINGS, DueResult, describe_due, make_due_rows, measure_due
from benchmarks.scale.growth import GROWTH_HEADINGS, GrowthResult, describe_growth, make_growth_rows, measure_growth
from benchmarks.scale.jobs import (
    ENQUEUE_HEADINGS,
    JOB_HEADINGS,
    JobPlan,
    JobsResult,
    describe_jobs,
    make_enqueue_rows,
    make_job_rows,
    measure_jobs,
)
from benchmarks.scale.refreshes import (
    REFRESH_HEADINGS,
    RefreshResult,
    describe_refreshes,
    make_refresh_rows,
    measure_refreshes,
)
from benchmarks.understanding.pages import NOISE, make_machine_section, wrap
from kontor.logs import configure_logs

FULL_JOBS, QUICK_JOBS = JobPlan(5, 2_000, 300, 200), JobPlan(2, 500, 50, 20)
FULL_REFRESHES, QUICK_REFRESHES = (100, 3), (10, 1)  # accesses, rounds
FULL_DUE, QUICK_DUE = (5, 30, due.MANY), (2, 5, due.QUICK_MANY)  # rounds, repeats, accesses
FULL_GROWTH, QUICK_GROWTH = (5, 5, growth.MANY), (2, 2, growth.QUICK_MANY)  # rounds, repeats, users


def run_jobs(
    console: Console, target: Path | None, load_before: float, rounds: int | None = None, *, is_quick: bool
) -> None:
    configure_logs("warning", "json")
    plan = QUICK_JOBS if is_quick else FULL_JOBS
    plan = replace(plan, rounds=rounds or plan.rounds)
    with open_database() as settings:
        machine = describe_machine(settings, load_before)
        jobs = measure_jobs(settings, plan, console.print)
    show_table("Dispatch", JOB_HEADINGS, make_job_rows(jobs), describe_jobs(jobs), console)
    show_table("Into the queue", ENQUEUE_HEADINGS, make_enqueue_rows(jobs), [], console)
    with open_database() as settings:
        refreshes = measure_refreshes(settings, *(QUICK_REFRESHES if is_quick else FULL_REFRESHES), console.print)
    rows = make_refresh_rows(refreshes)
    show_table("Refreshes from end to end", REFRESH_HEADINGS, rows, describe_refreshes(refreshes), console)
    due_result = measure_due(*(QUICK_DUE if is_quick else FULL_DUE), console.print)
    show_table("Finding what is due", DUE_HEADINGS, make_due_rows(due_result), describe_due(due_result), console)
    machine["Load after"] = describe_load()
    write(target, "jobs.md", lambda: make_jobs_page(jobs, refreshes, due_result, machine), console)


def run_growth(
    console: Console, target: Path | None, load_before: float, rounds: int | None = None, *, is_quick: bool
) -> None:
    usual, repeats, users = QUICK_GROWTH if is_quick else FULL_GROWTH
    with open_database() as settings:
        machine = describe_machine(settings, load_before)
    growth_result = measure_growth(rounds or usual, repeats, users, console.print)
    show_table("Growth", GROWTH_HEADINGS, make_growth_rows(growth_result), describe_growth(growth_result), console)
    machine["Load after"] = describe_load()
    write(target, "growth.md", lambda: make_growth_page(growth_result, machine), console)


def describe_load() -> str:
    return f"{read_load():.1f} processes wanted to run, ours among them"


def write(target: Path | None, name: str, make: Callable[[], list[str]], console: Console) -> None:
    if target is not None:
        (target / name).write_text("\n".join(make()), encoding="utf-8")
        console.print(f"Written to {target / name}.")


def make_jobs_page(
    jobs: JobsResult, refreshes: RefreshResult, due_result: DueResult, machine: dict[str, str]
) -> list[str]:
    return [
        "# Benchmarks: jobs",
        "",
        *wrap(f"Written by `./dev bench --jobs`; do not edit. {NOISE}"),
        "",
        "## Dispatch",
        "",
        *wrap(
            "One worker is idle, then all jobs arrive at once; the time is from the start of the first to the start"
            " of the last. The library alone is pgqueuer as in its manual: one connection, jobs without keys that do"
            " nothing. Kontor's worker is complete: two connections, jobs with keys, and meanwhile it polls for due"
            " refreshes, abandoned work and payments. Its job does nothing in the first case; in the second it is a"
            " deleted fetch, which adds one query."
        ),
        "",
        *make_table(JOB_HEADINGS, make_job_rows(jobs)),
        "",
        *(f"* {line}" for line in describe_jobs(jobs)),
        "",
        "## Into the queue",
        "",
        *wrap("One caller enqueues jobs one by one; each transaction waits for the disk."),
        "",
        *make_table(ENQUEUE_HEADINGS, make_enqueue_rows(jobs)),
        "",
        "## Refreshes from end to end",
        "",
        *make_table(REFRESH_HEADINGS, make_refresh_rows(refreshes)),
        "",
        *(f"* {line}" for line in describe_refreshes(refreshes)),
        "",
        "## Finding what is due",
        "",
        *wrap(
            "A worker runs this query twice a second: lock and read at most 200 due accesses. Two databases are"
            " queried in turn, with the same number of due accesses."
        ),
        "",
        *make_table(DUE_HEADINGS, make_due_rows(due_result)),
        "",
        *(f"* {line}" for line in describe_due(due_result)),
        "",
        *make_machine_section(machine),
    ]


def make_growth_page(growth_result: GrowthResult, machine: dict[str, str]) -> list[str]:
    return [
        "# Benchmarks: growth",
        "",
        *wrap(f"Written by `./dev bench --growth`; do not edit. {NOISE}"),
        "",
        *wrap(
            "Two databases have a server each. One has ten customers; the other has ten with the same bookings among"
            " thousands of others. Each request is sent to both in turn over a persistent connection, one at a time,"
            " after a warm-up round. Milliseconds are the mean of the customers' medians. Scheduling is one poll of a"
            " worker, including the rows it writes. `always another user` iterates over a hundred other users: it"
            " includes reads that are not in PostgreSQL's cache, and has no target."
        ),
        "",
        *make_table(GROWTH_HEADINGS, make_growth_rows(growth_result)),
        "",
        *(f"* {line}" for line in describe_growth(growth_result)),
        "",
        *wrap(
            "The other users are written with COPY: people of the demo bank with 100 to 1,500 bookings, tagged by the"
            " tagger. The order of rows on disk is that of years of use: first fetches, then the rows of all users"
            " month by month. A week of refreshes and their calls is included. `shared_buffers` is 128 MB,"
            " PostgreSQL's default."
        ),
        "",
        *make_machine_section(machine),
    ]
