"""The results as tables, for the terminal and as a page."""

import os
import platform
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.machine import describe_processor
from benchmarks.report import make_table, show_table
from rich.console import Console

from payment_faults.plans import Connector, Form
from payment_faults.results import Result
from payment_faults.verdicts import Verdict

TITLE = "Payments under faults"
INTRODUCTION = (
    "Each fault ends a process of Kontor at one point of one payment. The point, the connector, the form of payment,"
    " the entrance and the kind of SCA are drawn from a seed and a number. The bank has no idempotency: it books an"
    " order each time it arrives, collects direct debits twice and makes two standing orders of one that arrives twice."
    " After the fault the customer repeats the request that was lost, with the same key, and a new process recovers;"
    " then the bank's books are compared with what the customer was told, and its standing orders with those that"
    " Kontor lists."
)
MODES = {
    "simulated": "Simulated: Kontor's services run in the runner's process, on a real PostgreSQL; FinTS and XS2A go"
    " over real HTTP. The process ends by an exception that no handler catches. From then on it gets no connection to"
    " the database, and its leases stay. The clock is moved instead of waited for. The entrances are the services"
    " behind the two APIs and the web form.",
    "killed": "`kill -9`: servers and workers are processes of their own, as an operator starts them, and are killed"
    " while callers use the newer HTTP API: transfers with credentials that come with the order, standing orders and"
    " direct debits for a stored access. A worker is killed while it looks up a payment of the demo connector.",
}
MEANINGS = (
    "double: the bank has booked the order more than once.",
    "lost: the customer was told that it is paid, and the books have no such order, or Kontor does not know it.",
    "stuck: it is neither settled nor UNKNOWN with a look-up scheduled, or its SCA can be neither finished nor"
    " cancelled.",
    "contradicted: the customer was told that it failed, and it is booked; another amount is booked; or Kontor lists a"
    " standing order otherwise than the bank has it.",
    "error: the run could not be judged; the next `./dev faults` repeats it.",
    "A payment is FAILED after a fault when nothing was sent before it: the caller orders again. It stays UNKNOWN when"
    " only the bank knows the outcome and does not tell"
    " ([ADR 0034](../decisions/0034-look-ups-prove-or-leave-open.md)). Where a FinTS bank lets nobody in without SCA,"
    " no look-up is scheduled for such a payment.",
)
STATES = ("EXECUTED", "ACCEPTED", "FAILED", "UNKNOWN")
KINDS = ("before commit", "after commit", "before send", "after send", "after receive", "named point")
BAD = (Verdict.DOUBLE, Verdict.LOST, Verdict.STUCK, Verdict.CONTRADICTED, Verdict.ERROR)
HEADINGS = ("", "faults", *(str(verdict) for verdict in BAD), *(state.lower() for state in STATES))


def count_bad(results: Iterable[Result]) -> int:
    return sum(result.verdict != Verdict.FINE for result in results)


def make_row(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    verdicts = Counter(result.verdict for result in results)
    states = Counter(result.state for result in results)
    counts = [len(results), *(verdicts[verdict] for verdict in BAD), *(states[state] for state in STATES)]
    return name, *(f"{count:,}" for count in counts)


def list_tables(results: Sequence[Result]) -> Iterable[tuple[str, list[tuple[str, ...]]]]:
    """Title and rows of each."""
    yield (
        "All",
        [
            *(make_row(mode, [result for result in results if result.mode == mode]) for mode in MODES),
            make_row("total", results),
        ],
    )
    by_form = []
    for connector in Connector:
        for form in Form:
            chosen = [result for result in results if (result.connector, result.form) == (connector, form)]
            if chosen:
                by_form.append(make_row(f"{connector}, {form}", chosen))
    yield "By connector and form of payment", by_form
    for title, name in (("By entrance", "entrance"), ("By kind of SCA", "sca"), ("By victim", "victim")):
        values = sorted({str(getattr(result, name)) for result in results})
        yield (
            title,
            [make_row(value, [result for result in results if getattr(result, name) == value]) for value in values],
        )
    yield "By point", [make_row(kind, [result for result in results if result.kind == kind]) for kind in KINDS]


def show(results: Sequence[Result], console: Console) -> None:
    for title, rows in list_tables(results):
        show_table(title, HEADINGS, rows, [], console)
    for result in results:
        if result.verdict != Verdict.FINE:
            console.print(f"- {result}", highlight=False)


def write_page(results: Sequence[Result], page: Path, command: str, planned: dict[str, int]) -> None:
    totals = Counter(result.verdict for result in results)
    verdicts = ", ".join(f"{totals[verdict]:,} {verdict}" for verdict in BAD)
    lines = [f"# {TITLE}", "", "Written by `./dev faults`; do not edit.", "", textwrap.fill(INTRODUCTION, 120), ""]
    for mode, text in MODES.items():
        done = sum(result.mode == mode for result in results)
        lines.append(f"- {text} Run so far: {done:,} of {planned[mode]:,}.")
    lines += ["", f"**{len(results):,} faults: {verdicts}.**", ""]
    for title, rows in list_tables(results):
        lines += [f"## {title}", "", *make_table(HEADINGS, rows), ""]
    lines += [*(f"- {meaning}" for meaning in MEANINGS), ""]
    lines += [*make_table(("Run on", ""), list(_describe_run(results, command).items())), ""]
    page.write_text("\n".join(lines), encoding="utf-8")


def _describe_run(results: Sequence[Result], command: str) -> dict[str, str]:
    seconds = sorted(result.seconds for result in results if result.mode == "simulated")
    return {
        "Date": f"{datetime.now(UTC):%Y-%m-%d}",
        "Command": command,
        "Version": version("kontor"),
        "Median of a simulated fault": f"{seconds[len(seconds) // 2]:.2f} s" if seconds else "none",
        "Load": f"{os.getloadavg()[2]:.1f} processes wanted to run",
        "Cores": str(os.cpu_count()),
        "Processor": describe_processor(),
        "System": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
    }
