"""`./dev fuzz --requests`: sends generated requests to a service of its own, and writes a page about it.

Results add up in a file. A run that was stopped goes on where it was.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from request_fuzzing.environment import FuzzedService
from request_fuzzing.report import write_page
from request_fuzzing.requests import Requests
from request_fuzzing.results import Results, load_results, store_results
from request_fuzzing.sending import send_batch

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/benchmarks/requests.md"
RESULTS = ROOT / "docs/benchmarks/requests.json"
BATCH = 1_000


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev fuzz --requests", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, help="send this request alone, and show it with its answer")
    parser.add_argument("--minutes", type=float, default=10, help="begin no batch after this time")
    parser.add_argument("--count", type=int, help="stop after this number of requests")
    parser.add_argument("--at-once", type=int, default=8, help="connections")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    console = Console(soft_wrap=True)
    results = load_results(options.results)
    folder = Path(tempfile.mkdtemp(prefix="kontor-requests-"))
    with FuzzedService(folder) as service:
        requests = Requests(service.document, options.seed)
        if options.number is not None:
            asyncio.run(show(service, requests, options, console))
            return 0
        asyncio.run(run(service, requests, results, options, console))
    if results.findings:
        console.print(f"The server's log is in {folder}.")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    write_page(results, options.page)
    console.print(f"{results.count:,} requests, {len(results.findings)} findings. Wrote {options.page}.")
    return 1 if results.findings else 0


async def run(
    service: FuzzedService, requests: Requests, results: Results, options: argparse.Namespace, console: Console
) -> None:
    end = time.monotonic() + 60 * options.minutes
    start = results.next_numbers.get(options.seed, 0)
    last = sys.maxsize if options.count is None else start + options.count
    while start < last and time.monotonic() < end:
        world = await service.make_world()
        stop = min(start + BATCH, last)
        began = time.monotonic()
        batch = await send_batch(service.port, requests, options.seed, range(start, stop), world, options.at_once)
        results.add(options.seed, stop, batch, time.monotonic() - began)
        store_results(options.results, results)
        for finding in batch.findings:
            console.print(finding)
        start = stop


async def show(service: FuzzedService, requests: Requests, options: argparse.Namespace, console: Console) -> None:
    world = await service.make_world()
    request = requests.draw(options.number, world)
    console.print(request.encode(f"127.0.0.1:{service.port}"), highlight=False, markup=False)
    numbers = range(options.number, options.number + 1)
    console.print(await send_batch(service.port, requests, options.seed, numbers, world, 1))
    console.print(service.log[-5000:], highlight=False, markup=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
