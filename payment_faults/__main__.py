"""`./dev faults`: ends processes at drawn points of payments, and writes a page about it in `docs/benchmarks`.

Results are kept in a file. A run that was stopped goes on where it was.
"""

import argparse
import asyncio
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from payment_faults.killing import run_kills
from payment_faults.plans import draw_fault, has_form
from payment_faults.processes import run_faults
from payment_faults.report import count_bad, show, write_page
from payment_faults.results import Result, read_results

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/benchmarks/faults.md"
RESULTS = ROOT / ".faults/results.jsonl"
SIMULATED, KILLED = 9_500, 500


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, help="replay this simulated fault alone, and show all that is known")
    parser.add_argument("--simulated", type=int, default=SIMULATED, help="how many simulated crashes")
    parser.add_argument("--killed", type=int, default=KILLED, help="how many processes to kill with kill -9")
    parser.add_argument(
        "--form",
        action="append",
        default=[],
        help="only simulated faults of forms whose names contain this; repeatable",
    )
    parser.add_argument("--processes", type=int, default=2, help="processes that simulate at the same time")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE, help="where the figures are written")
    parser.add_argument("--report", action="store_true", help="run nothing, write the page from what was run")
    parser.add_argument("--dry", action="store_true", help="leave docs/benchmarks as it is")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    console = Console(soft_wrap=True)
    if options.number is not None:
        return replay(options.seed, options.number, console)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    if not options.report:
        console.print(f"Results are in {options.results}. Stop and start again at any time.", highlight=False)
        run_processes(options)
        run_kills(options.seed, options.killed, options.results)
    results = choose(read_results(options.results), options)
    show(results, console)
    if not options.dry and results:
        planned = {"simulated": len(list_numbers(options)), "killed": options.killed}
        write_page(results, options.page, write_command(options), planned)
        console.print(f"Wrote {options.page}.")
    return 1 if count_bad(results) else 0


def replay(seed: int, number: int, console: Console) -> int:
    fault = draw_fault(seed, number)
    [(result, evidence)] = asyncio.run(run_faults([fault]))
    for fact in (fault, result, evidence):
        console.print(fact)
    return count_bad([result])


def run_processes(options: argparse.Namespace) -> None:
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "payment_faults.processes", str(options.seed)),
                *(str(number), str(options.simulated), str(options.processes), str(options.results)),
                *options.form,
            ],
            cwd=ROOT,
        )
        for number in range(options.processes)
    ]
    try:
        for process in processes:
            process.wait()
    except KeyboardInterrupt:
        for process in processes:
            process.wait()  # the same key has reached them
        raise


def choose(results: list[Result], options: argparse.Namespace) -> list[Result]:
    """Of this seed, and no more than asked for."""
    numbers = {"simulated": list_numbers(options), "killed": set(range(options.killed))}
    return [result for result in results if result.seed == options.seed and result.number in numbers[result.mode]]


def list_numbers(options: argparse.Namespace) -> set[int]:
    """Of the simulated faults that are asked for."""
    numbers = range(options.simulated)
    return {number for number in numbers if has_form(draw_fault(options.seed, number), options.form)}


def write_command(options: argparse.Namespace) -> str:
    """With the options that decide which faults are run."""
    command = f"./dev faults --seed {options.seed}"
    if options.form:
        command += f" --simulated {options.simulated} --killed {options.killed}"
        command += "".join(f" --form {form}" for form in options.form)
    return f"`{command}`; one fault: `./dev faults --seed {options.seed} --number N`"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
