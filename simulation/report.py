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
    "The simulation runs real workers, a real PostgreSQL, a bank and a webhook receiver in separate processes, with"
    " an accelerated clock. Workers are killed with `kill -9`, the database is restarted and crashed, the bank loses"
    " calls, the receiver rejects deliveries. Afterwards the stored data is compared with the books of the bank and"
    " of the receiver, which are independent of Kontor. The code is in `simulation/`; a short version runs with the"
    " tests."
)
PROVEN = (
    "For every access: each slot has exactly one outcome; operations never overlapped; there were never five unattended"
    " calls within 24 hours, by Kontor's record and by the bank's; the stored transactions are the bank's; the webhooks"
    " reported exactly the new ones.",
    "For the webhook: serials have no gaps, each event is delivered or visibly discarded, every signature is valid.",
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
    if plan.outage_hours:
        yield "outages of the bank", f"{plan.outage_hours:g} hours every third day"
    if plan.has_jumps:
        yield "clocks of workers", "wrong half of the time: 7 hours or 2 days ahead, 7 hours or 40 days behind"
    yield "workers killed", f"{outcome.killed:,}"
    yield "database restarts", f"{plan.restarts} (ordinary ones and crashes in turn)"
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
    for violation in outcome.violations[:50]:
        console.print(f"- {violation}")


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
    title = "Background refresh under faults" + (" and with clocks that jump" if outcome.plan.has_jumps else "")
    rows = list(list_facts(outcome))
    write_table_page(page, title, INTRODUCTION, ("", ""), rows, PROVEN, machine)
