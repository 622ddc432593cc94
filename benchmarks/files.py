"""`--files`: `kontor analyse` as a command, from its start to the written report."""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

from rich.console import Console

from benchmarks.machine import describe_load, describe_run, read_load
from benchmarks.report import show_table, write_table_page
from kontor.connectors.demo.people import large_person
from kontor.demobank.statements import write_camt053, write_mt940

TODAY = date(2026, 11, 15)
SIZES = (100, 1_000, 5_000, 20_000)
AIMED = 5_000
TARGET_SECONDS = 2.0
ROUNDS, QUICK_ROUNDS = 5, 2
WRITERS = {"MT940": write_mt940, "camt.053": write_camt053}
HEADINGS = ("", "bookings", "CPU s", "least – most", "seconds passed, least")


def write_file(form: str, size: int, folder: Path) -> Path:
    account = max(large_person(size, TODAY).accounts, key=lambda account: len(account.entries))
    rows = [entry.transaction for entry in account.entries if not entry.transaction.is_pending][-size:]
    file = folder / f"{form}-{size}"
    file.write_bytes(WRITERS[form](account.product, rows, Decimal("100.00"), day=TODAY))
    return file


def time_command(file: Path) -> tuple[float, float]:
    """Processor time of the process and its children, and the time that passed."""
    command = [sys.executable, "-m", "kontor", "analyse", str(file), "--today", str(TODAY)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, "--report", str(file.with_suffix(".html"))], check=True, capture_output=True)
    passed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, passed


def run_files(console: Console, target: Path | None, *, is_quick: bool) -> None:
    load_before = read_load()
    with tempfile.TemporaryDirectory() as folder:
        files = {(form, size): write_file(form, size, Path(folder)) for size in SIZES for form in WRITERS}
        time_command(next(iter(files.values())))  # modules are compiled
        times: dict[tuple[str, int], list[tuple[float, float]]] = {key: [] for key in files}
        for number in range(QUICK_ROUNDS if is_quick else ROUNDS):
            console.print(f"round {number + 1} …")
            for key, file in files.items():
                times[key].append(time_command(file))
    rows, lines = describe(times)
    show_table("kontor analyse, from its start to the report", HEADINGS, rows, lines, console)
    if target is not None:
        write_page(target / "files.md", rows, lines, load_before)
        console.print(f"Written to {target / 'files.md'}.")


def describe(times: dict[tuple[str, int], list[tuple[float, float]]]) -> tuple[list[tuple[str, ...]], list[str]]:
    rows, lines = [], []
    for (form, size), found in times.items():
        used, passed = sorted(cpu for cpu, _ in found), min(passed for _, passed in found)
        median = statistics.median(used)
        rows.append((form, f"{size:,}", f"{median:.2f}", f"{used[0]:.2f} – {used[-1]:.2f}", f"{passed:.2f}"))
        if size == AIMED:
            verdict = "reached" if median <= TARGET_SECONDS else "not reached"
            lines.append(
                f"{form}, {size:,} bookings: target {TARGET_SECONDS:g} s, measured {median:.2f} s of processor time,"
                f" the best round {used[0]:.2f} s: {verdict}."
            )
    return rows, lines


def write_page(path: Path, rows: Sequence[tuple[str, ...]], lines: Sequence[str], load_before: float) -> None:
    machine = describe_run("./dev bench --files", describe_load(load_before, "start"))
    introduction = (
        "`kontor analyse` of one file, as a person starts it: a new process from the start of Python to the written"
        " report, from a checkout. The bookings are made by our own generator: one account of a customer of the demo"
        " bank, in up to five years. Real files have more different texts, and each different text is tagged once."
        " Sizes and forms are measured in turn, round by round. Most of the time for 100 bookings is loading:"
        " modules, and the tagger's knowledge."
    )
    write_table_page(path, "Benchmark: analysing a file", introduction, HEADINGS, rows, lines, machine)
