"""Results as lines of JSON. Each is appended in one write, so that several processes share the file."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from payment_faults.plans import Fault
from payment_faults.verdicts import Evidence, Verdict


@dataclass(frozen=True, slots=True)
class Result:
    mode: str
    seed: int
    number: int
    connector: str
    form: str
    entrance: str
    sca: str
    victim: str
    point: str
    kind: str
    verdict: str
    state: str | None
    debits: int
    told: tuple[str, ...]
    seconds: float


def make_result(mode: str, fault: Fault, point: str, evidence: Evidence, verdict: Verdict, seconds: float) -> Result:
    scenario = fault.scenario
    return Result(
        mode,
        fault.seed,
        fault.number,
        str(scenario.connector),
        str(scenario.form),
        str(scenario.entrance),
        str(scenario.sca),
        str(scenario.victim),
        point,
        find_kind(point),
        str(verdict),
        evidence.state,
        evidence.debits,
        evidence.told,
        round(seconds, 3),
    )


def find_kind(point: str) -> str:
    """Of a point such as `after commit of PaymentOrdering._begin #1`."""
    for kind in ("before commit", "after commit", "before write", "after write"):
        if point.startswith(kind):
            return kind.replace("write", "commit")  # a statement outside of a transaction is one, too
    if point.startswith("send "):
        return "before send"
    if point.startswith("in flight "):
        return "after send"
    return "after receive" if point.startswith("receive ") else "named point"


def append_result(file: Path, result: Result) -> None:
    line = json.dumps(asdict(result), separators=(",", ":")).encode() + b"\n"
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def read_results(file: Path) -> list[Result]:
    """Each fault once. A line that was cut off by a crash of the machine is left out, and its fault runs again."""
    if not file.exists():
        return []
    found: dict[tuple[str, int, int], Result] = {}
    for line in file.read_text().splitlines():
        try:
            values = json.loads(line)
        except json.JSONDecodeError:
            continue
        result = Result(**values | {"told": tuple(values["told"])})
        found[result.mode, result.seed, result.number] = result
    return list(found.values())


def find_done(file: Path, mode: str, seed: int) -> set[int]:
    """Numbers of the faults that need not be run again. One that could not be judged is tried once more."""
    return {
        result.number
        for result in read_results(file)
        if (result.mode, result.seed) == (mode, seed) and result.verdict != Verdict.ERROR
    }
