"""`./dev bench`: check that all answer the same, run the benchmarks, print tables, and write `docs/benchmarks`."""

import argparse
import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pkgutil import resolve_name

from rich.console import Console

from benchmarks.cores import pin, split_cores
from benchmarks.endpoints import Request, list_endpoints, load_endpoint
from benchmarks.environment import BenchmarkEnvironment, open_database
from benchmarks.fetching import measure_fetches
from benchmarks.machine import describe_machine, read_load
from benchmarks.measure import Plan, Result, measure_endpoint
from benchmarks.memory import measure_memory
from benchmarks.report import Report, show, show_fetches, show_memory, write_page
from kontor.config import Settings

ROOT = Path(__file__).parents[1]
DOCUMENTATION = ROOT / "docs/benchmarks"
FETCH_TIMES, QUICK_FETCH_TIMES = 5, 1


@dataclass(frozen=True)
class Run:
    """What was asked for, and where it is told."""

    options: argparse.Namespace
    console: Console
    load_before: float

    @property
    def is_quick(self) -> bool:
        return bool(self.options.quick)

    @property
    def target(self) -> Path | None:
        return None if self.is_quick else DOCUMENTATION


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short look; docs/benchmarks stays as it is")
    parser.add_argument("--endpoint", choices=list_endpoints(), help="only this one; docs/benchmarks stays as it is")
    for name, (description, _) in PAGES.items():
        parser.add_argument(f"--{name}", action="store_true", help=description)
    parser.add_argument("--rounds", type=int, help="rounds of all three (default 9, quick 3)")
    parser.add_argument("--seconds", type=float, help="length of one measurement (default 2, quick 0.7)")
    parser.add_argument("--connections", type=int, help="requests in flight (default: as each endpoint says)")
    return parser.parse_args(arguments)


def check_equivalence() -> None:
    """Figures of servers that do not answer the same would mean nothing."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-m", "bench", "tests/benchmarks"], cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit("The implementations do not answer the same, so nothing was measured.")


async def prepare(name: str, settings: Settings) -> list[Request]:
    async with BenchmarkEnvironment(settings, tenant=f"bench-{name}") as environment:
        return await load_endpoint(name).prepare(environment)


def measure_named(name: str, settings: Settings, plan: Plan, console: Console) -> Result:
    requests = asyncio.run(prepare(name, settings))
    return measure_endpoint(load_endpoint(name), requests, settings, plan, console.print)


def run_endpoint(name: str, settings: Settings, plan: Plan, console: Console) -> Result:
    result = measure_named(name, settings, plan, console)
    show(result, console)
    return result


def run_everything(settings: Settings, plan: Plan, fetch_times: int, console: Console, load_before: float) -> Report:
    results = [run_endpoint(name, settings, plan, console) for name in list_endpoints()]
    memory = measure_memory(settings, plan.server_cores)
    show_memory(memory, console)
    fetches = measure_fetches(settings, plan.server_cores, fetch_times, console.print)
    show_fetches(fetches, console)
    return Report(results, memory, fetches, describe_machine(settings, load_before), plan)


# Pages of their own. Their modules are imported when they are asked for: some need libraries that others do not.


def run_page(function: str, run: Run) -> None:
    resolve_name(function)(run.console, run.target, is_quick=run.is_quick)


def run_with_load(function: str, run: Run) -> None:
    resolve_name(function)(run.console, run.target, run.load_before, is_quick=run.is_quick)


def run_scale(function: str, run: Run) -> None:
    resolve_name(function)(run.console, run.target, run.load_before, run.options.rounds, is_quick=run.is_quick)


def run_understanding(function: str, endpoint: str, run: Run) -> None:
    with open_measured(run) as (settings, plan):
        result = measure_named(endpoint, settings, plan, run.console)
        resolve_name(function)(settings, result, plan, run.load_before, run.console, run.target)


PAGES: dict[str, tuple[str, Callable[[Run], None]]] = {
    "tagging": (
        "the tagger and the tag view; writes tagging.md",
        partial(run_understanding, "benchmarks.understanding.pages:run_tagging", "tag-view"),
    ),
    "analyses": (
        "analyses as data grows; writes analyses.md",
        partial(run_understanding, "benchmarks.understanding.pages:run_analyses", "kept-answer"),
    ),
    "statements": (
        "parsers of statement files; writes statements.md",
        partial(run_page, "benchmarks.statements:run_statements"),
    ),
    "files": ("kontor analyse of one file; writes files.md", partial(run_page, "benchmarks.files:run_files")),
    "actual": (
        "beside Actual Budget's server and client; writes actual.md",
        partial(run_page, "benchmarks.actual.comparing:run_actual"),
    ),
    "fints": ("a refresh over FinTS; writes fints.md", partial(run_page, "benchmarks.fints:run_fints")),
    "jobs": (
        "the queue, refreshes, the schedule; writes jobs.md",
        partial(run_scale, "benchmarks.scale.pages:run_jobs"),
    ),
    "growth": (
        "few users beside many; writes growth.md (minutes, 6 GB)",
        partial(run_scale, "benchmarks.scale.pages:run_growth"),
    ),
    "reads": (
        "250 reads a second for half an hour; writes reads.md",
        partial(run_with_load, "benchmarks.reads.page:run_reads"),
    ),
    "merging": ("identity of bookings; writes merging.md", partial(run_page, "benchmarks.merging.pages:run_merging")),
}


@contextmanager
def open_measured(run: Run) -> Iterator[tuple[Settings, Plan]]:
    """A database for implementations that answer the same, and the plan of their rounds."""
    check_equivalence()
    server_cores, other_cores = split_cores()
    pin(other_cores)()
    rounds, seconds = (3, 0.7) if run.is_quick else (9, 2.0)
    options = run.options
    plan = Plan(options.rounds or rounds, options.seconds or seconds, options.connections, server_cores)
    if not server_cores:
        run.console.print("Server and load generator share a core: there is only one, or it cannot be chosen here.")
    with open_database() as settings:
        yield settings, plan


def run_results(run: Run) -> None:
    """The endpoints, memory and the first fetch; writes results.md."""
    with open_measured(run) as (settings, plan):
        if run.options.endpoint:
            run_endpoint(run.options.endpoint, settings, plan, run.console)
            return
        times = QUICK_FETCH_TIMES if run.is_quick else FETCH_TIMES
        report = run_everything(settings, plan, times, run.console, run.load_before)
    if run.target is not None:
        write_documentation(report)
        run.console.print(f"Written to {run.target}.")


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    run = Run(options, Console(width=None if sys.stdout.isatty() else 120), read_load())
    for run_asked in [run_asked for name, (_, run_asked) in PAGES.items() if getattr(options, name)] or [run_results]:
        run_asked(run)


def write_documentation(report: Report) -> None:
    from benchmarks.plot import draw, draw_fetches

    DOCUMENTATION.mkdir(parents=True, exist_ok=True)
    write_page(DOCUMENTATION / "results.md", report)
    for result in report.results:
        draw(result, DOCUMENTATION / f"{result.endpoint.name}.svg")
    draw_fetches(report.fetches, DOCUMENTATION / "fetch-curve.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
