"""`./dev fuzz`: damages sample files of every parser, and writes a page about it in `docs/benchmarks`.

`./dev fuzz --requests` sends generated requests instead (`request_fuzzing`).

Results add up in a file. A run that was stopped goes on where it was.
"""

import argparse
import resource
import sys
import time
import warnings
from pathlib import Path

from request_fuzzing.__main__ import main as send_requests
from rich.console import Console

from parser_fuzzing.report import write_page
from parser_fuzzing.results import Results, load_results, store_results
from parser_fuzzing.running import Batch, draw, run_batch, try_out

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/benchmarks/fuzzing.md"
RESULTS = ROOT / "docs/benchmarks/fuzzing.json"
BATCH = 2_000


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, help="run this mutant alone, and show its traceback")
    parser.add_argument("--minutes", type=float, default=10, help="begin no batch after this time")
    parser.add_argument("--mutants", type=int, help="stop after this number of them")
    parser.add_argument("--again", action="store_true", help="run the findings again, and nothing else")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    if "--requests" in arguments:
        return send_requests([argument for argument in arguments if argument != "--requests"])
    options = parse(arguments)
    console = Console(soft_wrap=True)
    warnings.simplefilter("ignore")  # the FinTS library warns of what it does not know
    if options.number is not None:
        parser, data, _ = draw(options.seed, options.number)
        console.print(f"{parser}, {len(data):,} bytes: {data[:300]!r}", highlight=False, markup=False)
        console.print(try_out(options.seed, options.number))
        return 0
    results = load_results(options.results)
    if options.again:
        run_again(results)
        store_results(options.results, results)
    else:
        run(results, options, console)
    write_page(results, options.page)
    console.print(f"{results.count:,} mutants, {len(results.findings)} findings. Wrote {options.page}.")
    return 1 if results.findings else 0


def run(results: Results, options: argparse.Namespace, console: Console) -> None:
    end = time.monotonic() + 60 * options.minutes
    start = results.next_numbers.get(options.seed, 0)
    last = sys.maxsize if options.mutants is None else start + options.mutants
    while start < last and time.monotonic() < end:
        used = measure_children()
        stop = min(start + BATCH, last)
        batch = run_batch(options.seed, range(start, stop))
        results.add(options.seed, stop, batch, measure_children() - used)
        store_results(options.results, results)
        for finding in batch.findings:
            console.print(finding)
        start = stop


def run_again(results: Results) -> None:
    """A finding that is fixed counts as what it has become."""
    old, results.findings = results.findings, []
    for finding in old:
        batch: Batch = run_batch(finding.seed, range(finding.number, finding.number + 1))
        results.read += batch.read
        results.refused += batch.refused
        results.findings += batch.findings


def measure_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
