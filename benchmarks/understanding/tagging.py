"""The tagger beside a textbook pipeline, in turn on the same rows; what loading it costs; how right both are."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.understanding.compiled import CompiledTagger, can_compile
from benchmarks.understanding.rows import WARM_ROWS, WARM_SUFFIXES, Labelled, list_history, pick_rows
from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.domain.transactions import Transaction

OURS, TEXTBOOK = "Kontor", "textbook pipeline"
NAMES = (OURS, TEXTBOOK)
TRAINING_ROWS, QUICK_TRAINING_ROWS = 12_000, 2_000
BULK_ROWS, QUICK_BULK_ROWS = 4_000, 1_000
SINGLE_ROWS, QUICK_SINGLE_ROWS = 300, 60
QUICK_WARM_ROWS = 200
LOADS = 3
SUFFIXES = ("+speed1", "+speed2", "+speed3")
BULK_TARGET, SINGLE_TARGET = 4.0, 20.0
# Rows per second of one core: all at once, one at a time, and all at once where the tagger is compiled.
RATE_TARGET, SINGLE_RATE_TARGET, COMPILED_RATE_TARGET = 25_000, 20_000, 50_000
LOAD_TARGET_SECONDS, MEMORY_TARGET = 0.3, 80
Tag = Callable[[Sequence[Transaction]], Sequence[object]]
# A process of its own, as a server or a worker is: what it needs before and after, and how long it takes.
LOADING = """
import json, time
from pathlib import Path
def read():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmRSS:"))
import kontor.domain.transactions
before, wall, cpu = read(), time.perf_counter(), time.process_time()
from kontor.analysis.tagging import NOBODY, load_tagger
load_tagger()
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu, read() - before]))
"""


@dataclass
class Speeds:
    """Rows per second of processor time, of each round: all at once, one after the other, and a person's history."""

    bulk: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in NAMES})
    history: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in NAMES})
    single: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in NAMES})
    # All at once with the compiled tagger, and histories with it; empty where it was not built.
    compiled: list[float] = field(default_factory=list)
    compiled_history: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Loading:
    """Of a process that loads the tagger: seconds until it can tag, processor time of it, and memory in megabytes."""

    seconds: list[float]
    cpu: list[float]
    megabytes: list[float]


@dataclass(frozen=True)
class TaggingResult:
    speeds: Speeds
    loading: Loading
    rows_bulk: int
    rows_single: int
    training_rows: int
    right: dict[str, float]  # share of the bulk rows whose category is right


def measure_tagging(rounds: int, *, is_quick: bool, say: Callable[[str], None]) -> TaggingResult:
    from benchmarks.understanding.textbook import Textbook

    bulk, single = (QUICK_BULK_ROWS, QUICK_SINGLE_ROWS) if is_quick else (BULK_ROWS, SINGLE_ROWS)
    loading = measure_loading()
    say("training the textbook pipeline …")
    training = pick_rows(("+textbook",), QUICK_TRAINING_ROWS if is_quick else TRAINING_ROWS)
    textbook = Textbook(training)
    tagger = load_tagger()
    # Each round has rows of its own, so that nobody can profit from having seen one before.
    rows = pick_rows(SUFFIXES, rounds * (bulk + single))
    tags: dict[str, Tag] = {OURS: lambda some: tagger.tag(some, NOBODY), TEXTBOOK: textbook.tag}
    speeds, right = Speeds(), dict.fromkeys(NAMES, 0)
    # A process that has run for a while has met most words: what a word means is decoded when it is first met.
    warm = [row.transaction for row in pick_rows(WARM_SUFFIXES, QUICK_WARM_ROWS if is_quick else WARM_ROWS)]
    for tag in tags.values():
        tag(warm)
    with ExitStack() as stack:
        compiled = None
        if can_compile() and not is_quick:
            say("compiling the tagger …")
            compiled = stack.enter_context(CompiledTagger(SUFFIXES, rounds, bulk, bulk + single))
        for number in range(rounds):
            part = rows[number * (bulk + single) : (number + 1) * (bulk + single)]
            for name in NAMES if number % 2 == 0 else reversed(NAMES):
                rate, answers = time_bulk(tags[name], part[:bulk])
                speeds.bulk[name].append(rate)
                right[name] += count_right(name, answers, part[:bulk])
                speeds.single[name].append(time_single(tags[name], part[bulk:]))
                speeds.history[name].append(time_bulk(tags[name], list_history(number))[0])
                if compiled is not None and name == OURS:
                    speeds.compiled.append(compiled.measure(number))
                    speeds.compiled_history.append(compiled.measure_history(number))
            say(
                f"round {number + 1} of {rounds}: "
                + ", ".join(f"{name} {speeds.bulk[name][-1]:,.0f} rows/s" for name in NAMES)
            )
    shares = {name: right[name] / (rounds * bulk) for name in NAMES}
    return TaggingResult(speeds, loading, bulk, single, len(training), shares)


def time_bulk(tag: Tag, rows: Sequence[Labelled]) -> tuple[float, Sequence[object]]:
    transactions = [row.transaction for row in rows]
    start = time.process_time()
    answers = tag(transactions)
    return len(rows) / (time.process_time() - start), answers


def time_single(tag: Tag, rows: Sequence[Labelled]) -> float:
    batches = [[row.transaction] for row in rows]
    start = time.process_time()
    for batch in batches:
        tag(batch)
    return len(rows) / (time.process_time() - start)


def count_right(name: str, answers: Sequence[object], rows: Sequence[Labelled]) -> int:
    categories = [answer.category if name == OURS else answer[0] for answer in answers]  # type: ignore[attr-defined, index]
    return sum(said == row.labels[0] for said, row in zip(categories, rows, strict=True))


def measure_loading(times: int = LOADS) -> Loading:
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", LOADING], stdout=subprocess.PIPE, check=True).stdout)
        for _ in range(times)
    ]
    return Loading(*(list(column) for column in zip(*runs, strict=True)))


# What is said about it


def list_ratios(rates: dict[str, list[float]]) -> list[float]:
    return [ours / other for ours, other in zip(rates[OURS], rates[TEXTBOOK], strict=True)]


SPEED_HEADINGS = ("rows per second of processor time", *NAMES, "Kontor is", "least – most")


def make_speed_rows(result: TaggingResult) -> list[tuple[str, ...]]:
    rows = []
    for label, rates in (
        (f"{result.rows_bulk:,} at once", result.speeds.bulk),
        ("one at a time", result.speeds.single),
        ("a person's history at once", result.speeds.history),
    ):
        ratios = list_ratios(rates)
        medians = [statistics.median(rates[name]) for name in NAMES]
        spread = f"{min(ratios):.1f} – {max(ratios):.1f}"
        rows.append(
            (label, *(f"{median:,.0f}" for median in medians), f"{statistics.median(ratios):.1f} × as fast", spread)
        )
    return rows


def describe_tagging(result: TaggingResult) -> list[str]:
    bulk, single = (
        statistics.median(list_ratios(rates_by_name)) for rates_by_name in (result.speeds.bulk, result.speeds.single)
    )
    loading = result.loading
    seconds, cpu, memory = (statistics.median(values) for values in (loading.seconds, loading.cpu, loading.megabytes))
    return [
        f"Target: at least {BULK_TARGET:g} × the pipeline in bulk. Measured: {bulk:.1f} ×,"
        f" {judge(bulk >= BULK_TARGET)}.",
        f"Target: at least {SINGLE_TARGET:g} × the pipeline one at a time. Measured: {single:.1f} ×,"
        f" {judge(single >= SINGLE_TARGET)}.",
        *describe_rates(result.speeds),
        f"Target: loaded within {LOAD_TARGET_SECONDS:g} s. Measured: {cpu:.2f} s of processor time, {seconds:.2f} s"
        f" on the clock, which others who use the machine make longer: {judge(cpu <= LOAD_TARGET_SECONDS)}.",
        f"Target: under {MEMORY_TARGET} MB for each process. Measured: {memory:.0f} MB more after loading than before,"
        f" {judge(memory < MEMORY_TARGET)}.",
        f"Of these rows, Kontor gives {result.right[OURS]:.1%} the right category, the pipeline"
        f" {result.right[TEXTBOOK]:.1%}: it was trained on {result.training_rows:,} rows of the same generator, and"
        " Kontor is told nothing about the accounts here.",
    ]


def describe_rates(speeds: Speeds) -> list[str]:
    lines = [
        describe_target(label, rates[OURS], target)
        for label, rates, target in (
            ("in bulk", speeds.bulk, RATE_TARGET),
            ("one at a time", speeds.single, SINGLE_RATE_TARGET),
            ("of whole histories", speeds.history, RATE_TARGET),
        )
    ]
    for label, compiled, plain in (
        ("in bulk", speeds.compiled, speeds.bulk[OURS]),
        ("of whole histories", speeds.compiled_history, speeds.history[OURS]),
    ):
        if compiled:
            ratios = [compiled_rate / rate for compiled_rate, rate in zip(compiled, plain, strict=True)]
            lines.append(
                "Compiled (`./dev wheel`), in the same rounds."
                f" {describe_target(label, compiled, COMPILED_RATE_TARGET)}"
                f" That is {statistics.median(ratios):.1f} × the plain one ({min(ratios):.1f} – {max(ratios):.1f})."
            )
    return lines


def describe_target(label: str, rates: list[float], target: int) -> str:
    rate = statistics.median(rates)
    return (
        f"Target: {target:,} rows per second of one core {label}. Measured: {rate:,.0f}, the best round"
        f" {max(rates):,.0f}: {judge(rate >= target)}."
    )


def judge(is_reached: bool) -> str:
    return "reached" if is_reached else "not reached"
