"""A small file that adds up all runs: how far each seed has come, how requests were answered, and findings."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fuzzing.requests.sending import Batch, Finding
from fuzzing.runs import read_numbers, store


@dataclass
class Results:
    """`next_numbers` has by seed the first request that was not sent. `settled`: findings that were none when the
    request was sent again. `seconds` are those of sending, by seed."""

    next_numbers: dict[int, int] = field(default_factory=dict)
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    settled: list[Finding] = field(default_factory=list)
    seconds: Counter[int] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        return sum(self.answers.values())

    def add(self, seed: int, next_number: int, batch: Batch, seconds: float) -> None:
        self.next_numbers[seed] = next_number
        self.answers += batch.answers
        self.statuses += batch.statuses
        self.findings += batch.findings
        self.seconds[seed] += seconds

    def settle(self, finding: Finding) -> None:
        self.findings.remove(finding)
        self.settled.append(finding)


def load_results(file: Path) -> Results:
    if not file.exists():
        return Results()
    told = json.loads(file.read_text(encoding="utf-8"))
    answers = Counter({tuple(name.split(": ")): count for name, count in told["answers"].items()})
    return Results(
        read_numbers(told),
        answers,  # type: ignore[arg-type]
        Counter(told["statuses"]),
        [Finding(**finding) for finding in told["findings"]],
        [Finding(**finding) for finding in told.get("settled", [])],
        Counter({int(seed): seconds for seed, seconds in told["seconds"].items()}),
    )


def store_results(file: Path, results: Results) -> None:
    values: dict[str, object] = {
        "next_numbers": results.next_numbers,
        "answers": {f"{tag}: {kind}": count for (tag, kind), count in results.answers.items()},
        "statuses": dict(results.statuses),
        "findings": [asdict(finding) for finding in results.findings],
        "settled": [asdict(finding) for finding in results.settled],
        "seconds": {seed: round(seconds, 1) for seed, seconds in results.seconds.items()},
    }
    store(file, values)
