"""`./dev fuzz`: damages sample files of every parser, and writes a page about it in `docs/benchmarks`.

Results add up in a file. A run that was stopped goes on where it was.
"""

import argparse
import resource
import warnings

from rich.console import Console

from fuzzing.files.report import write_page
from fuzzing.files.results import Results, load_results, store_results
from fuzzing.files.running import Batch, draw, run_batch, try_out
from fuzzing.runs import list_batches, make_parser

BATCH = 2_000


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = make_parser("./dev fuzz", __doc__, "fuzzing")
    parser.add_argument("--again", action="store_true", help="run the findings again, and nothing else")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
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
    for numbers in list_batches(results.next_numbers, options, BATCH):
        used = measure_children()
        batch = run_batch(options.seed, numbers)
        results.add(options.seed, numbers.stop, batch, measure_children() - used)
        store_results(options.results, results)
        for finding in batch.findings:
            console.print(finding)


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
