"""Mutants, each by its number, in child processes with limits of processor time and memory."""

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from fuzzing.files.mutations import mutate
from fuzzing.files.readers import read
from fuzzing.files.samples import list_samples

CPU_SECONDS = 10.0  # of one mutant
MEMORY_BYTES = 768 * 1024 * 1024  # beyond what the process has at its start
FOLDER = "kontor"
SHARES = {"PDF": 1, "XS2A": 2}  # they take a hundred times as long as others
USUAL_SHARE = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """Something else than a result or a declared error. `place` is where in Kontor it came from."""

    seed: int
    number: int
    parser: str
    problem: str
    place: str = ""


@dataclass
class Batch:
    """What became of consecutive mutants."""

    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.read.total() + self.refused.total() + len(self.findings)


def draw(seed: int, number: int) -> tuple[str, bytes, Random]:
    """The parser, its damaged file, and what else is drawn for it."""
    random = Random(f"{seed} {number}")
    samples = list_samples()
    parser = random.choices(list(samples), [SHARES.get(name, USUAL_SHARE) for name in samples])[0]
    return parser, mutate(samples[parser], random), random


def try_out(seed: int, number: int) -> tuple[str, bool]:
    """(parser, was it read?); whatever is not declared is raised."""
    parser, data, random = draw(seed, number)
    return parser, read(parser, data, random)


def run_batch(seed: int, numbers: range) -> Batch:
    """A child that a mutant has ended is replaced, from the next mutant on."""
    batch = Batch()
    next_number = numbers.start
    while next_number < numbers.stop:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _serve(seed, range(next_number, numbers.stop), writing)
        os.close(writing)
        with open(reading, encoding="utf-8") as told:
            begun = next_number
            for line in told:
                message = json.loads(line)
                if "begun" in message:
                    begun = message["begun"]
                    continue
                next_number = begun + 1
                _note(batch, message)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 0 and next_number < numbers.stop:
            problem = "processor time" if code == -signal.SIGPROF else f"the process ended with {code}"
            batch.findings.append(Finding(seed, begun, draw(seed, begun)[0], problem))
            next_number = begun + 1
    return batch


def _note(batch: Batch, message: dict[str, str]) -> None:
    if "finding" in message:
        batch.findings.append(Finding(**message["finding"]))  # type: ignore[arg-type]
    else:
        (batch.read if message["end"] == "read" else batch.refused)[message["parser"]] += 1


def _serve(seed: int, numbers: range, writing: int) -> None:
    """In the child: to the last number, and never back."""
    try:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open(writing, "w", encoding="utf-8", buffering=1) as tell:
            for number in numbers:
                tell.write(json.dumps({"begun": number}) + "\n")
                signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
                tell.write(json.dumps(_try_one(seed, number)) + "\n")
        os._exit(0)
    except BaseException:
        os._exit(70)


def _try_one(seed: int, number: int) -> dict[str, object]:
    try:
        parser, was_read = try_out(seed, number)
    except Exception as error:
        parser = draw(seed, number)[0]
        finding = Finding(seed, number, parser, f"{type(error).__name__}: {error}"[:200], find_place(error))
        return {"finding": asdict(finding)}
    return {"parser": parser, "end": "read" if was_read else "refused"}


def find_place(error: BaseException) -> str:
    """The last line of Kontor on the way to it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if f"/{FOLDER}/" in frame.filename]
    frames = [frame for frame in frames if "/fuzzing/" not in frame.filename] or frames
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def measure(seed: int, number: int) -> float:
    started = time.process_time()
    try_out(seed, number)
    return time.process_time() - started
