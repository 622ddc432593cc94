"""`--statements`: our parsers of MT940 and camt.053 against `mt-940` and `pycamt`, on the same files in one run.

Every reading is a process of its own, so that none profits from another's memory, and counts the CPU seconds from bytes
to bookings. Both must find the same bookings and the same sum, or nothing is reported.
"""

import importlib
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from rich.console import Console

from benchmarks.machine import describe_load, describe_run, read_load
from benchmarks.report import show_table, write_table_page
from kontor.connectors.demo.people import PERSONAS, person_for
from kontor.connectors.statements import read_camt, read_mt940
from kontor.demobank.statements import write_camt053, write_mt940
from kontor.domain.clocks import BERLIN
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction

TODAY = date(2026, 11, 1)
MEGABYTE = 1_000_000
SIZES = (MEGABYTE, 10 * MEGABYTE, 100 * MEGABYTE)
QUICK_SIZES = (MEGABYTE,)
ROUNDS = {MEGABYTE: 3, 10 * MEGABYTE: 1, 100 * MEGABYTE: 1}
TARGET = 3.0
STATEMENT_ROWS = 200
HEADINGS = ("", "size", "bookings", "CPU s", "MB/s", "most memory", "Kontor is")


@dataclass(frozen=True)
class Reading:
    """What one process found, and what it cost."""

    count: int
    total: Decimal
    cpu_seconds: float
    peak_megabytes: float


def read_ours_mt940(data: bytes) -> tuple[int, Decimal]:
    entries = [entry.amount for statement in read_mt940(data) for entry in statement.entries]
    return len(entries), sum(entries, Decimal(0))


def read_ours_camt(data: bytes) -> tuple[int, Decimal]:
    entries = [entry.amount for statement in read_camt(data) for entry in statement.entries]
    return len(entries), sum(entries, Decimal(0))


def read_theirs_mt940(data: bytes) -> tuple[int, Decimal]:
    import mt940

    transactions = mt940.parse(data.decode("latin-1")).transactions
    return len(transactions), sum((transaction.data["amount"].amount for transaction in transactions), Decimal(0))


def read_theirs_camt(data: bytes) -> tuple[int, Decimal]:
    from pycamt.parser import Camt053Parser

    transactions = Camt053Parser(data).get_transactions()
    signs = {"CRDT": 1, "DBIT": -1}
    amounts = [
        signs[transaction["CreditDebitIndicator"]] * Decimal(transaction["Amount"]) for transaction in transactions
    ]
    return len(transactions), sum(amounts, Decimal(0))


READERS: dict[str, tuple[tuple[str, Callable[[bytes], tuple[int, Decimal]]], ...]] = {
    "MT940": (("Kontor", read_ours_mt940), ("mt-940", read_theirs_mt940)),
    "camt.053": (("Kontor", read_ours_camt), ("pycamt", read_theirs_camt)),
}


def make_rows(count: int) -> tuple[Product, list[Transaction]]:
    """Bookings of some demo people, moved back in time again and again until there are enough."""
    people = [person_for(login, TODAY) for login in sorted(PERSONAS)[:3]]
    accounts = [account for person in people if person is not None for account in person.accounts]
    stock = [entry.transaction for account in accounts for entry in account.entries if not entry.transaction.is_pending]
    product = next(account.product for account in accounts if account.product.iban)
    rows: list[Transaction] = []
    while len(rows) < count:
        shift = timedelta(days=len(rows) // len(stock))
        for number, transaction in enumerate(stock[: count - len(rows)], len(rows)):
            at = (transaction.booked_at or datetime(2026, 1, 1, tzinfo=BERLIN)) - shift
            tagged = f"EREF+{number:020d} MREF+M-{number} CRED+DE98ZZZ09999999999 SVWZ+{transaction.purpose or ''}"
            rows.append(
                replace(
                    transaction,
                    booked_at=at,
                    value_at=at,
                    currency="EUR",
                    purpose=tagged[:300] if number % 2 else transaction.purpose,
                    bank_id=f"{number:020d}",
                )
            )
    return product, rows


def write_camt_statements(product: Product, rows: Sequence[Transaction], opening: Decimal, *, day: date) -> bytes:
    """One document of many statements: with the length of a single one, the time `pycamt` takes grows as its square."""
    documents = [
        write_camt053(product, rows[start : start + STATEMENT_ROWS], opening, day=day)
        for start in range(0, len(rows), STATEMENT_ROWS)
    ]
    head, tail = documents[0].split(b"<Stmt>", 1)[0], documents[0].rsplit(b"</Stmt>", 1)[1]
    inner = (
        document[document.index(b"<Stmt>") : document.rindex(b"</Stmt>") + len(b"</Stmt>")] for document in documents
    )
    return head + b"".join(inner) + tail


def write_file(kind: str, size: int, folder: Path) -> Path:
    """A file of at least this size."""
    write = {"MT940": write_mt940, "camt.053": write_camt_statements}[kind]
    product, sample = make_rows(2000)
    per_row = len(write(product, sample, Decimal("100.00"), day=TODAY)) / len(sample)
    product, rows = make_rows(int(size / per_row * 1.02))
    path = folder / f"{kind}-{size}"
    path.write_bytes(write(product, rows, Decimal("100.00"), day=TODAY))
    return path


def _measure_here(name: str, kind: str, path: str, results: "multiprocessing.Queue[Reading]") -> None:
    read = dict(READERS[kind])[name]
    for module in ("mt940", "pycamt.parser"):  # what an import costs is nobody's speed
        importlib.import_module(module)
    data = Path(path).read_bytes()
    start = time.process_time()
    count, total = read(data)
    cpu_seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    results.put(Reading(count, total, cpu_seconds, peak))


def measure(name: str, kind: str, path: Path) -> Reading:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_measure_here, args=(name, kind, str(path), results))
    process.start()
    reading = results.get()
    process.join()
    return reading


def measure_pair(kind: str, size: int, folder: Path, rounds: int) -> tuple[list[tuple[str, ...]], list[float]]:
    """Rows of the table, and how many times as fast we were in each round."""
    path = write_file(kind, size, folder)
    megabytes = path.stat().st_size / MEGABYTE
    readings: dict[str, list[Reading]] = {name: [] for name, _ in READERS[kind]}
    for _ in range(rounds):
        for name in readings:
            readings[name].append(measure(name, kind, path))
    path.unlink()
    results = {(reading.count, reading.total) for series in readings.values() for reading in series}
    if len(results) != 1:
        raise SystemExit(f"The parsers do not agree on {kind}, so nothing is reported: {results}")
    ours, theirs = readings.values()
    ratios = [
        their_reading.cpu_seconds / our_reading.cpu_seconds
        for our_reading, their_reading in zip(ours, theirs, strict=True)
    ]
    rows = []
    for name, series in readings.items():
        seconds = sorted(reading.cpu_seconds for reading in series)[len(series) // 2]
        rows.append(
            (
                f"{kind}, {name}",
                f"{megabytes:,.0f} MB",
                f"{series[0].count:,}",
                f"{seconds:.2f}",
                f"{megabytes / seconds:.1f}",
                f"{max(reading.peak_megabytes for reading in series):,.0f} MB",
                "" if name == "Kontor" else f"{sorted(ratios)[len(ratios) // 2]:.1f} × as fast",
            )
        )
    return rows, ratios


def run_statements(console: Console, target: Path | None, *, is_quick: bool) -> None:
    rows: list[tuple[str, ...]] = []
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in QUICK_SIZES if is_quick else SIZES:
            for kind in READERS:
                console.print(f"{kind}, {size // MEGABYTE} MB …")
                new_rows, ratios = measure_pair(kind, size, Path(folder), ROUNDS[size])
                rows += new_rows
                middle = sorted(ratios)[len(ratios) // 2]
                console.print(f"  {middle:.1f} × as fast")
                verdict = "reached" if middle >= TARGET else "not reached"
                lines.append(
                    f"{kind}, {size // MEGABYTE} MB: target {TARGET:g} × as fast, measured {middle:.1f} ×: {verdict}."
                )
                if target is not None:  # a run that is broken off leaves what it has measured
                    write_page(target / "statements.md", rows, lines)
    show_table("Statement files, from bytes to bookings", HEADINGS, rows, lines, console)
    if target is not None:
        console.print(f"Written to {target / 'statements.md'}.")


def write_page(path: Path, rows: Sequence[tuple[str, ...]], lines: Sequence[str]) -> None:
    machine = describe_run(
        "./dev bench --statements",
        describe_load(read_load(), "end"),
        Statements=f"camt.053: {STATEMENT_ROWS} bookings each; `pycamt` is much slower with longer ones",
    )
    introduction = (
        "Speed of parsing statement files, compared with the common libraries `mt-940` and `pycamt`. The files"
        " contain bookings of the demo bank's people. Each run is a separate process; CPU seconds count from the"
        " file's bytes to the last booking, and both sides must find the same bookings and the same sum. Kontor's"
        " parsers also extract the GV code, the prima nota and the counterparty's IBAN and BIC, and check balances;"
        " the time for this is included."
    )
    write_table_page(path, "Benchmark: statement files", introduction, HEADINGS, rows, lines, machine)
