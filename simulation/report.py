"""The result of a simulation: for the terminal, and as a page."""

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import describe_processor
from benchmarks.report import write_table_page
from rich.console import Console
from rich.table import Table

from simulation.running import Outcome

INTRODUCTION = (
    "Real workers, a real PostgreSQL, a bank and a receiver of webhooks in processes of their own, and a clock that"
    " runs fast. Workers are killed with `kill -9`, the database is restarted and crashed, the bank loses calls, the"
    " receiver refuses deliveries. Afterwards the books of the bank and of the receiver, which know nothing of Kontor,"
    " are compared with what is stored. How it works: `simulation/`; a short form runs with the tests."
)
PROVEN = (
    "Of every access: each slot has exactly one outcome; no two operations ran at a time; never five unattended calls"
    " within 24 hours, by Kontor's record and by the bank's; the stored transactions are the bank's; what the webhooks"
    " told is what was new.",
    "Of the webhook: serials without a gap, each delivered or visibly discarded, every signature right.",
)


def list_facts(outcome: Outcome) -> Iterable[tuple[str, str]]:
    plan = outcome.plan
    yield (
        "simulated",
        f"{plan.days:g} days from {plan.start:%d %B %Y}, {plan.accesses:,} accesses, {plan.workers} workers",
    )
    refreshes = sum(count for state, count in outcome.slots.items() if state != "SKIPPED")
    yield "clock", f"{plan.factor:g} times real time, {outcome.seconds / 60:.0f} minutes in all"
    yield "refreshes", f"{refreshes:,}, {refreshes / plan.real_seconds:.1f} a second"
    yield "faults", f"{plan.bank_failure_rate:.0%} of bank calls, {plan.receiver_failure_rate:.0%} of deliveries"
    yield "workers killed", f"{outcome.killed:,}"
    yield "database restarts", f"{plan.restarts} (an ordinary one, then a crash)"
    yield "slots", ", ".join(f"{count:,} {state.lower()}" for state, count in outcome.slots.most_common())
    yield "slots skipped because of", ", ".join(f"{name}: {count:,}" for name, count in outcome.skips.items()) or "none"
    yield "calls of the bank", f"{outcome.calls:,}, of them {outcome.lost_calls:,} without an answer"
    yield "transactions stored", f"{outcome.transactions:,}"
    yield "webhook serials", f"{outcome.serials:,}"
    yield "deliveries", ", ".join(f"{count:,} {state.lower()}" for state, count in outcome.deliveries.most_common())
    yield "deliveries accepted more than once", f"{outcome.repeated_deliveries:,}"
    yield "violations", f"{len(outcome.violations):,}"


def show(outcome: Outcome, console: Console) -> None:
    table = Table(show_header=False)
    for name, value in list_facts(outcome):
        table.add_row(name, value)
    console.print(table)
    for one in outcome.violations[:50]:
        console.print(f"- {one}")


def write_page(outcome: Outcome, page: Path, command: str, load_before: float) -> None:
    machine = {
        "Date": f"{datetime.now(UTC):%Y-%m-%d}",
        "Command": f"`{command}`",
        "Cores": str(os.cpu_count()),
        "Processor": describe_processor(),
        "System": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "Load before": f"{load_before:.1f} processes of others wanted to run",
    }
    rows = list(list_facts(outcome))
    write_table_page(page, "Background refresh under faults", INTRODUCTION, ("", ""), rows, PROVEN, machine)
