"""`./dev bench`: check that all answer the same, run the benchmarks, print tables, and write `docs/benchmarks`."""

import argparse
import asyncio
import subprocess
import sys
from pathlib import Path

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


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short look; docs/benchmarks stays as it is")
    parser.add_argument("--endpoint", choices=list_endpoints(), help="only this one; docs/benchmarks stays as it is")
    parser.add_argument("--tagging", action="store_true", help="the tagger and the tag view; writes tagging.md")
    parser.add_argument("--analyses", action="store_true", help="analyses as data grows; writes analyses.md")
    parser.add_argument("--statements", action="store_true", help="parsers of statement files; writes statements.md")
    parser.add_argument("--files", action="store_true", help="kontor analyse of one file; writes files.md")
    parser.add_argument(
        "--actual", action="store_true", help="beside Actual Budget's server and client; writes actual.md"
    )
    parser.add_argument("--fints", action="store_true", help="a refresh over FinTS; writes fints.md")
    parser.add_argument("--jobs", action="store_true", help="the queue, refreshes, the schedule; writes jobs.md")
    parser.add_argument("--growth", action="store_true", help="few users beside many; writes growth.md (minutes, 6 GB)")
    parser.add_argument("--merging", action="store_true", help="identity of bookings; writes merging.md")
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


def run_endpoint(name: str, settings: Settings, plan: Plan, console: Console) -> Result:
    requests = asyncio.run(prepare(name, settings))
    result = measure_endpoint(load_endpoint(name), requests, settings, plan, console.print)
    show(result, console)
    return result


def run_everything(settings: Settings, plan: Plan, fetch_times: int, console: Console, load_before: float) -> Report:
    results = [run_endpoint(name, settings, plan, console) for name in list_endpoints()]
    memory = measure_memory(settings, plan.server_cores)
    show_memory(memory, console)
    fetches = measure_fetches(settings, plan.server_cores, fetch_times, console.print)
    show_fetches(fetches, console)
    return Report(results, memory, fetches, describe_machine(settings, load_before), plan)


def run_understanding(
    options: argparse.Namespace, settings: Settings, plan: Plan, console: Console, load_before: float
) -> None:
    from benchmarks.understanding.pages import run_analyses, run_tagging

    target = None if options.quick else DOCUMENTATION
    for is_asked, name, run in (
        (options.tagging, "tag-view", run_tagging),
        (options.analyses, "kept-answer", run_analyses),
    ):
        if is_asked:
            requests = asyncio.run(prepare(name, settings))
            result = measure_endpoint(load_endpoint(name), requests, settings, plan, console.print)
            run(settings, result, plan, load_before, console, target)


def run_scale(options: argparse.Namespace, console: Console, load_before: float) -> None:
    from benchmarks.scale.pages import run_growth, run_jobs

    for is_asked, run in ((options.jobs, run_jobs), (options.growth, run_growth)):
        if is_asked:
            target = None if options.quick else DOCUMENTATION
            run(console, target, load_before, options.rounds, is_quick=options.quick)


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120)
    load_before = read_load()
    if options.statements:
        from benchmarks.statements import run_statements

        run_statements(console, None if options.quick else DOCUMENTATION, is_quick=options.quick)
        return
    if options.files:
        from benchmarks.files import run_files

        run_files(console, None if options.quick else DOCUMENTATION, is_quick=options.quick)
        return
    if options.actual:
        from benchmarks.actual.comparing import run_actual

        run_actual(console, None if options.quick else DOCUMENTATION, is_quick=options.quick)
        return
    if options.fints:
        from benchmarks.fints import run_fints

        run_fints(console, None if options.quick else DOCUMENTATION, is_quick=options.quick)
        return
    if options.merging:
        from benchmarks.merging.pages import run_merging

        run_merging(console, None if options.quick else DOCUMENTATION, is_quick=options.quick)
        return
    if options.jobs or options.growth:
        run_scale(options, console, load_before)
        return
    check_equivalence()
    server_cores, other_cores = split_cores()
    pin(other_cores)()
    rounds, seconds = (3, 0.7) if options.quick else (9, 2.0)
    plan = Plan(options.rounds or rounds, options.seconds or seconds, options.connections, server_cores)
    if not server_cores:
        console.print("Server and load generator share a core: there is only one, or it cannot be chosen here.")
    with open_database() as settings:
        if options.endpoint:
            run_endpoint(options.endpoint, settings, plan, console)
            return
        if options.tagging or options.analyses:
            run_understanding(options, settings, plan, console, load_before)
            return
        times = QUICK_FETCH_TIMES if options.quick else FETCH_TIMES
        report = run_everything(settings, plan, times, console, load_before)
    if not options.quick:
        write_documentation(report)
        console.print(f"Written to {DOCUMENTATION}.")


def write_documentation(report: Report) -> None:
    from benchmarks.plot import draw, draw_fetches

    DOCUMENTATION.mkdir(parents=True, exist_ok=True)
    write_page(DOCUMENTATION / "results.md", report)
    for result in report.results:
        draw(result, DOCUMENTATION / f"{result.endpoint.name}.svg")
    draw_fetches(report.fetches, DOCUMENTATION / "fetch-curve.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
