"""The results as a table for the terminal and as a page for the documentation."""

import statistics
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.fetching import FETCH_HEADINGS, Fetches, describe_fetches, make_fetch_rows
from benchmarks.measure import ORDER, Plan, Result
from benchmarks.memory import Memory, describe_memory, make_memory_rows
from benchmarks.servers import CONVENTIONAL, LIMIT, OURS

HEADINGS = ("", "requests/s", "spread", "p50 ms", "p99 ms", "server CPU ms", "database CPU ms", "Kontor is")
MEANINGS = {
    OURS: "the server as `kontor serve` starts it, with its JSON log lines written to a file",
    LIMIT: "a bare ASGI handler on the same server that makes Kontor's queries and sends bytes made beforehand",
    CONVENTIONAL: "FastAPI, Pydantic, SQLAlchemy ORM on asyncpg, Uvicorn with uvloop and httptools",
}


def make_rows(result: Result) -> list[tuple[str, ...]]:
    rows = []
    for name in ORDER:
        rates = result.rates(name)
        ratio = "" if name == OURS else f"{describe_ratio(result.ratios(name))} as fast"
        rows.append(
            (
                name,
                f"{statistics.median(rates):,.0f}",
                f"{min(rates):,.0f} – {max(rates):,.0f}",
                f"{result.median(name, lambda run: run.load.p50) * 1000:.1f}",
                f"{result.median(name, lambda run: run.load.p99) * 1000:.1f}",
                f"{result.median(name, lambda run: run.cpu_per_request) * 1000:.3f}",
                f"{result.median(name, lambda run: run.database_cpu_per_request) * 1000:.3f}",
                ratio,
            )
        )
    return rows


def describe_ratio(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} × ({min(ratios):.2f} – {max(ratios):.2f})"


def describe_targets(result: Result) -> list[str]:
    """Said, not enforced: a slow moment of the machine is no defect."""
    targets = result.endpoint.targets
    lines = []
    for name, target in ((CONVENTIONAL, targets.conventional), (LIMIT, targets.limit)):
        ratio = statistics.median(result.ratios(name))
        verdict = "reached" if ratio >= target else "not reached"
        lines.append(f"Target: at least {target:g} × the {name}. Measured: {ratio:.2f} ×, {verdict}.")
    return lines


def describe_processor_time(result: Result) -> str:
    """On a busy machine this is the steadier figure: what others take from the core is not in it."""
    ours, limit, conventional = (
        result.median(name, lambda run: run.cpu_per_request) for name in (OURS, LIMIT, CONVENTIONAL)
    )
    if not ours:
        return "The processor time of the servers cannot be read here."
    return (
        f"By processor time of the server for a request, Kontor is {conventional / ours:.2f} × as fast as the"
        f" {CONVENTIONAL} and {limit / ours:.2f} × as fast as the {LIMIT}."
    )


def describe_ceiling(result: Result) -> str:
    busiest = max(statistics.median(result.rates(name)) for name in ORDER)
    return (
        f"The load generator alone reaches {result.ceiling.rate:,.0f} requests/s against a ready answer,"
        f" {result.ceiling.rate / busiest:.1f} times what it was asked for here."
    )


def describe(result: Result) -> list[str]:
    return [*describe_targets(result), describe_processor_time(result), describe_ceiling(result)]


def show(result: Result, console: Console) -> None:
    title = f"{result.endpoint.name}: {result.endpoint.title}"
    show_table(title, HEADINGS, make_rows(result), describe(result), console)


def show_memory(memory: Memory, console: Console) -> None:
    show_table("Memory of one API process", ("", ""), make_memory_rows(memory), describe_memory(memory), console)


def show_fetches(fetches: Fetches, console: Console) -> None:
    show_table("First fetch", FETCH_HEADINGS, make_fetch_rows(fetches), describe_fetches(fetches), console)


def show_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[str], console: Console
) -> None:
    table = Table(title=title, box=box.SIMPLE_HEAVY, title_justify="left")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index == 0 else "right", no_wrap=index == 0)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for line in lines:
        console.print(line, highlight=False)


@dataclass(frozen=True)
class Report:
    results: list[Result]
    memory: Memory
    fetches: Fetches
    machine: dict[str, str]
    plan: Plan


OTHER_PAGES = (
    "Separate pages: [analyses](analyses.md), [statement files](statements.md), [FinTS](fints.md), [jobs](jobs.md),"
    " [reads for half an hour](reads.md),"
    " [identity of bookings](merging.md), [beside Actual Budget](actual.md),"
    " [growth](growth.md), [tagging](tagging.md), [days of refresh under faults](soak.md),"
    " [with clocks that jump](soak-jumps.md),"
    " [payments under faults](faults.md)."
)


def write_page(path: Path, report: Report) -> None:
    lines = [
        "# Benchmarks",
        "",
        "Written by `./dev bench`; do not edit. Figures depend on the machine, ratios much less: all three",
        "implementations are measured in turn, round by round, on the same database, with one process each and",
        "pools of the same size.",
        "",
        *(f"* **{name}**: {MEANINGS[name]}" for name in ORDER),
        "",
        "All three look up token and objects in PostgreSQL with every request. The server under test is",
        "bound to one core, PostgreSQL and the load generator to the others. Processor times are per request;",
        "they vary less than elapsed times on a shared machine. Before the measurement, tests check that",
        "all three return the same responses.",
        "",
        OTHER_PAGES,
        "",
    ]
    for result in report.results:
        lines += make_section(result, report.plan)
    lines += make_memory_section(report.memory)
    lines += make_fetch_section(report.fetches)
    lines += ["## Machine", "", *make_table(("", ""), list(report.machine.items())), ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def make_section(result: Result, plan: Plan) -> list[str]:
    name = result.endpoint.name
    per_round = [
        (
            str(number + 1),
            *(f"{result.rates(side)[number]:,.0f}" for side in ORDER),
            f"{result.ratios(CONVENTIONAL)[number]:.2f}",
            f"{result.ratios(LIMIT)[number]:.2f}",
        )
        for number in range(plan.rounds)
    ]
    return [
        f"## {result.endpoint.title}",
        "",
        f"![Requests per second of the three implementations]({name}.svg)",
        "",
        f"Median of {plan.rounds} rounds of {plan.seconds:g} seconds, {result.connections} connections, with minimum"
        " and maximum.",
        "",
        *make_table(HEADINGS, make_rows(result)),
        "",
        *(f"* {line}" for line in describe(result)),
        "",
        "Each round, in requests/s:",
        "",
        *make_table(("round", *ORDER, f"Kontor / {CONVENTIONAL}", f"Kontor / {LIMIT}"), per_round),
        "",
    ]


def make_memory_section(memory: Memory) -> list[str]:
    return [
        "## Memory of one API process",
        "",
        f"The resident set of the process that answers, while it lists {memory.transactions:,} transactions again and"
        " again; read from `/proc`.",
        "",
        *make_table(("", "resident set"), make_memory_rows(memory)),
        "",
        *(f"* {line}" for line in describe_memory(memory)),
        "",
    ]


def make_fetch_section(fetches: Fetches) -> list[str]:
    return [
        "## First fetch of an access",
        "",
        "![Seconds of a first fetch by the number of transactions](fetch-curve.svg)",
        "",
        "From the POST that adds an access until it is VOLLSTAENDIG, with one server and one worker as an operator runs"
        " them. In the curve the bank answers at once, so that all the time is Kontor's.",
        f" Median of {len(fetches.curve[0].seconds)} fetches each, of a new customer every time.".strip(),
        "",
        *make_table(FETCH_HEADINGS, make_fetch_rows(fetches)),
        "",
        *(f"* {line}" for line in describe_fetches(fetches)),
        "",
    ]


def write_table_page(
    path: Path,
    title: str,
    introduction: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    lines: Sequence[str],
    machine: Mapping[str, str],
) -> None:
    """A page of one table, what follows from it, and where it was measured."""
    page = [
        f"# {title}",
        "",
        textwrap.fill(introduction, 120),
        "",
        *make_table(headings, rows),
        "",
        *(f"- {line}" for line in lines),
        "",
        *make_table(("Measured on", ""), list(machine.items())),
        "",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(page), encoding="utf-8")


def make_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = ["---", *("---:" for _ in headings[1:])] if len(headings) > 2 else ["---", "---"]
    return [f"| {' | '.join(row)} |" for row in (headings, marks, *rows)]
