"""`python -m benchmarks.beside_former CHECKOUT`: this program beside a former one, by processor time of one run.

Each has its own database, server and worker; both are measured in turn, round by round. What others do on the machine
meets both. The checkout is a work tree of this repository (`git worktree add /tmp/former COMMIT`).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_load, read_load

ROOT = Path(__file__).parents[1]
SIDE = Path(__file__).with_name("former_side.py")
Figures = dict[str, float]


class Side:
    def __init__(self, checkout: Path, rounds: int, seconds: float, only: str) -> None:
        path = os.pathsep.join([str(checkout / "src"), str(checkout)])
        self.process = subprocess.Popen(
            [sys.executable, "-P", SIDE, str(rounds), str(seconds), only],
            cwd=checkout,
            env=os.environ | {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Side":
        self.names: list[str] = self._read()
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def measure(self, name: str) -> dict[str, float]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"A side ended with {self.process.wait()}.")
        return json.loads(line)


def measure(checkout: Path, rounds: int, seconds: float, only: str) -> dict[str, tuple[list[Figures], list[Figures]]]:
    """Of each measurement the figures of the former program and of this one, round by round."""
    found: dict[str, tuple[list[Figures], list[Figures]]] = {}
    with ExitStack() as exits:
        sides = [exits.enter_context(Side(tree.resolve(), rounds, seconds, only)) for tree in (checkout, ROOT)]
        for number in range(rounds):
            for name in sides[1].names:
                for index in (0, 1) if number % 2 else (1, 0):
                    found.setdefault(name, ([], []))[index].append(sides[index].measure(name))
    return found


def make_row(name: str, before: list[Figures], now: list[Figures]) -> str:
    cells, sums = [], []
    for figures in (before, now):
        program, database = (statistics.median(values[part] for values in figures) for part in ("program", "database"))
        sums.append(statistics.median(values["program"] + values["database"] for values in figures))
        cells.append(f"{sums[-1]:.2f} ({program:.2f} and {database:.2f})")
    return f"| {name} | {cells[0]} | {cells[1]} | {sums[1] / sums[0]:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside_former", description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5, help="length of one measurement of a list")
    parser.add_argument("--only", default="", help="measurements whose names begin with this")
    options = parser.parse_args()
    load = describe_load(read_load(), "start")
    found = measure(options.checkout, options.rounds, options.seconds, options.only)
    print(f"Processor time in ms: all (program and database). {load}.\n")
    print("| measurement | before | now | ratio |\n|---|---:|---:|---:|")
    for name, (before, now) in found.items():
        print(make_row(name, before, now))


if __name__ == "__main__":
    main()
