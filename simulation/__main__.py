"""`./dev soak`: days of background refresh under faults, and a page about it in `docs/benchmarks`."""

import argparse
import os
import shutil
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from rich.console import Console

from simulation.report import show, write_page
from simulation.running import Plan, simulate

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/benchmarks/soak.md"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("--accesses", type=int, default=2000)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--factor", type=float, default=400, help="simulated seconds per real second")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument(
        "--start", type=datetime.fromisoformat, default="2026-10-22T00:00:00+02:00", help="summer time ends on the 25th"
    )
    parser.add_argument("--kill-minutes", type=float, nargs=2, default=(2, 8), help="simulated, between two kills")
    parser.add_argument("--dry", action="store_true", help="leave docs/benchmarks as it is")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    plan = Plan(
        options.start,
        options.days,
        options.accesses,
        options.factor,
        options.workers,
        tuple(options.kill_minutes),
        settle_seconds=1200,
    )
    console = Console()
    folder = Path(tempfile.mkdtemp(prefix="kontor-soak-"))
    outcome = simulate(plan, folder)
    show(outcome, console)
    if outcome.violations:
        console.print(f"The books are in {folder}.")
        return 1
    if not options.dry:
        write_page(outcome, PAGE, " ".join(["./dev soak", *arguments]), os.getloadavg()[0])
        console.print(f"Wrote {PAGE.relative_to(ROOT)}.")
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
