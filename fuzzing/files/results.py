"""A small file that adds up all runs: how far each seed has come, what became of its mutants, and findings."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fuzzing.files.running import Batch, Finding
from fuzzing.runs import read_numbers, store


@dataclass
class Results:
    """`next_numbers` has by seed the first mutant that has not run."""

    next_numbers: dict[int, int] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    cpu_seconds: float = 0.0

    @property
    def count(self) -> int:
        return sum(self.next_numbers.values())

    def add(self, seed: int, next_number: int, batch: Batch, cpu_seconds: float) -> None:
        self.next_numbers[seed] = next_number
        self.read += batch.read
        self.refused += batch.refused
        self.findings += batch.findings
        self.cpu_seconds += cpu_seconds


def load_results(file: Path) -> Results:
    if not file.exists():
        return Results()
    told = json.loads(file.read_text(encoding="utf-8"))
    return Results(
        read_numbers(told),
        Counter(told["read"]),
        Counter(told["refused"]),
        [Finding(**finding) for finding in told["findings"]],
        told["cpu_seconds"],
    )


def store_results(file: Path, results: Results) -> None:
    values: dict[str, object] = {
        "next_numbers": results.next_numbers,
        "read": dict(results.read),
        "refused": dict(results.refused),
        "findings": [asdict(finding) for finding in results.findings],
        "cpu_seconds": round(results.cpu_seconds, 1),
    }
    store(file, values)
