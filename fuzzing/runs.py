"""What both kinds of fuzzing share: options, batches that continue a seed, a file of results, facts of a page."""

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_processor

from kontor import __version__

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs/benchmarks"


def make_parser(command: str, description: str | None, name: str) -> argparse.ArgumentParser:
    """`name` is that of the page and of the results beside it."""
    parser = argparse.ArgumentParser(prog=command, description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, help="run this one alone, and show what happens")
    parser.add_argument("--minutes", type=float, default=10, help="begin no batch after this time")
    parser.add_argument("--count", type=int, help="stop after this number of them")
    parser.add_argument("--results", type=Path, default=PAGES / f"{name}.json")
    parser.add_argument("--page", type=Path, default=PAGES / f"{name}.md")
    return parser


def list_batches(next_numbers: Mapping[int, int], options: argparse.Namespace, size: int) -> Iterator[range]:
    """Numbers of the seed from where its last run ended, as long as count and minutes allow."""
    end = time.monotonic() + 60 * options.minutes
    start = next_numbers.get(options.seed, 0)
    last = sys.maxsize if options.count is None else start + options.count
    while start < last and time.monotonic() < end:
        stop = min(start + size, last)
        yield range(start, stop)
        start = stop


def read_numbers(told: Mapping[str, Any]) -> dict[int, int]:
    return {int(seed): number for seed, number in told["next_numbers"].items()}


def store(file: Path, values: Mapping[str, Any]) -> None:
    """Whole or not at all: a run that is stopped goes on from here."""
    unfinished = file.with_suffix(".new")
    unfinished.write_text(json.dumps(values, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    unfinished.replace(file)


def show_seeds(next_numbers: Mapping[int, int]) -> str:
    return ", ".join(f"{seed} ({number:,})" for seed, number in sorted(next_numbers.items()))


def describe_run() -> dict[str, str]:
    return {
        "Date": f"{datetime.now(UTC):%Y-%m-%d}",
        "Version": __version__,
        "Processor": describe_processor(),
        "Python": platform.python_version(),
    }
