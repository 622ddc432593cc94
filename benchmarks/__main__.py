"""`./dev bench`: run the benchmarks, print a table, and write `docs/benchmarks`."""

import argparse
import asyncio
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.cores import pin, split_cores
from benchmarks.endpoints import Request, list_endpoints, load_endpoint
from benchmarks.machine import describe_machine, read_load
from benchmarks.measure import Plan, Result, measure_endpoint
from benchmarks.report import show, write_page
from benchmarks.stage import Stage, open_database
from kontor.config import Settings

DOCUMENTATION = Path(__file__).parents[1] / "docs/benchmarks"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short look; docs/benchmarks stays as it is")
    parser.add_argument("--endpoint", choices=list_endpoints(), help="only this one; docs/benchmarks stays as it is")
    parser.add_argument("--rounds", type=int, help="rounds of all three (default 9, quick 3)")
    parser.add_argument("--seconds", type=float, help="length of one measurement (default 2, quick 0.7)")
    parser.add_argument("--connections", type=int, help="requests in flight (default: as each endpoint says)")
    return parser.parse_args(arguments)


async def prepare(name: str, settings: Settings) -> list[Request]:
    async with Stage(settings, tenant=f"bench-{name}") as stage:
        return await load_endpoint(name).prepare(stage)


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120)
    load_before = read_load()
    server_cores, other_cores = split_cores()
    pin(other_cores)()
    rounds, seconds = (3, 0.7) if options.quick else (9, 2.0)
    plan = Plan(options.rounds or rounds, options.seconds or seconds, options.connections, server_cores)
    if not server_cores:
        console.print("Server and load generator share a core: there is only one, or it cannot be chosen here.")
    results: list[Result] = []
    with open_database() as settings:
        for name in [options.endpoint] if options.endpoint else list_endpoints():
            requests = asyncio.run(prepare(name, settings))
            result = measure_endpoint(load_endpoint(name), requests, settings, plan, console.print)
            show(result, console)
            results.append(result)
        machine = describe_machine(settings, load_before)
    if not options.quick and not options.endpoint:
        write_documentation(results, machine, plan)
        console.print(f"Written to {DOCUMENTATION}.")


def write_documentation(results: list[Result], machine: dict[str, str], plan: Plan) -> None:
    from benchmarks.plot import draw

    DOCUMENTATION.mkdir(parents=True, exist_ok=True)
    write_page(DOCUMENTATION / "results.md", results, machine, plan)
    for result in results:
        draw(result, DOCUMENTATION / f"{result.endpoint.name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
