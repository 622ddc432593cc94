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
from simulation.running import Plan, UnfitPlanError, simulate

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/benchmarks/soak.md"
# Seven days in 45 minutes: 2,000 accesses need about 22 refreshes a second, and a worker is killed every 1.25 seconds.
FACTOR = 240


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("--accesses", type=int, default=2000)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--factor", type=float, default=FACTOR, help="simulated seconds per real second")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument(
        "--start", type=datetime.fromisoformat, default="2026-10-22T00:00:00+02:00", help="summer time ends on the 25th"
    )
    parser.add_argument("--kill-minutes", type=float, nargs=2, default=(2, 8), help="simulated, between two kills")
    parser.add_argument("--jumps", action="store_true", help="let the clocks of workers jump")
    parser.add_argument("--outage-hours", type=float, default=0, help="of the bank, every third day")
    parser.add_argument("--restarts", type=int, default=2, help="of the database; every second one is a crash")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--dry", action="store_true", help="leave docs/benchmarks as it is")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    console = Console(soft_wrap=True)
    try:
        plan = Plan(
            options.start,
            options.days,
            options.accesses,
            options.factor,
            options.workers,
            tuple(options.kill_minutes),
            restarts=options.restarts,
            settle_seconds=1200,
            has_jumps=options.jumps,
            outage_hours=options.outage_hours,
        )
    except UnfitPlanError as error:
        console.print(str(error), highlight=False)
        return 2
    load_before = os.getloadavg()[0]
    folder = Path(tempfile.mkdtemp(prefix="kontor-soak-"))
    console.print(f"This takes about {plan.real_seconds / 60 + 1:.0f} minutes. The books are in {folder}.")

    def say(line: str) -> None:
        console.print(f"{datetime.now().astimezone():%H:%M:%S} {line}", highlight=False)

    outcome = simulate(plan, folder, say)
    show(outcome, console)
    if outcome.violations:
        return 1
    if not options.dry:
        write_page(outcome, options.page, " ".join(["./dev soak", *arguments]), load_before)
        console.print(f"Wrote {options.page}.")
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
