"""`./dev fuzz --requests`: sends generated requests to a service of its own, and writes a page about it.

Results add up in a file. A run that is stopped (SIGINT, SIGTERM) writes its page; the next one goes on after its last
complete batch.
"""

import argparse
import asyncio
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from fuzzing.requests.environment import FuzzedService
from fuzzing.requests.report import write_page
from fuzzing.requests.requests import Requests, Worlds
from fuzzing.requests.results import Results, load_results, store_results
from fuzzing.requests.sending import send_batch
from fuzzing.runs import list_batches, make_parser

BATCH = 2_000
FIRST_SEED = 2  # numbers of seed 1 drew other requests: all were for a customer with a full history


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = make_parser("./dev fuzz --requests", __doc__, "requests")
    parser.add_argument("--at-once", type=int, default=16, help="connections")
    parser.set_defaults(seed=FIRST_SEED)
    options = parser.parse_args(arguments)
    if options.seed < FIRST_SEED:
        parser.error(f"seeds begin with {FIRST_SEED}: requests are drawn otherwise than those of seed 1 were")
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    console = Console(soft_wrap=True)
    results = load_results(options.results)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="kontor-requests-"))
    with FuzzedService(folder) as service:
        requests = Requests(service.document, options.seed)
        if options.number is not None:
            asyncio.run(show(service, requests, options, console))
            return 0
        with suppress(KeyboardInterrupt):
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
    worlds = await service.make_worlds()
    await send_again(service, requests, results, options.seed, worlds)
    for numbers in list_batches(results.next_numbers, options, BATCH):
        worlds = await service.make_worlds(worlds)
        began = time.monotonic()
        batch = await send_batch(service.port, requests, options.seed, numbers, worlds, options.at_once)
        results.add(options.seed, numbers.stop, batch, time.monotonic() - began)
        store_results(options.results, results)
        for finding in batch.findings:
            console.print(finding)


async def send_again(service: FuzzedService, requests: Requests, results: Results, seed: int, worlds: Worlds) -> None:
    """Findings of earlier runs, where the number still draws that request: other operations may be there now."""
    for finding in [finding for finding in results.findings if finding.seed == seed]:
        if requests.draw(finding.number, worlds).operation.id == finding.operation:
            numbers = range(finding.number, finding.number + 1)
            batch = await send_batch(service.port, requests, seed, numbers, worlds, 1)
            if not batch.findings:
                results.settle(finding)


async def show(service: FuzzedService, requests: Requests, options: argparse.Namespace, console: Console) -> None:
    worlds = await service.make_worlds()
    request = requests.draw(options.number, worlds)
    console.print(request.encode(f"127.0.0.1:{service.port}"), highlight=False, markup=False)
    numbers = range(options.number, options.number + 1)
    console.print(await send_batch(service.port, requests, options.seed, numbers, worlds, 1))
    console.print(service.log[-5000:], highlight=False, markup=False)
