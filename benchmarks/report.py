"""The results as a table for the terminal and as a page for the documentation."""

import statistics
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.measure import ORDER, Plan, Result
from benchmarks.servers import CONVENTIONAL, LIMIT, OURS

HEADINGS = ("", "requests/s", "spread", "p50 ms", "p99 ms", "server CPU ms/request", "Kontor is")
MEANINGS = {
    OURS: "the server as `kontor serve` starts it, with its JSON log lines written to a file",
    LIMIT: "a bare ASGI handler on the same server, with the same two queries; PostgreSQL makes the JSON",
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
                f"{result.median(name, lambda one: one.load.p50) * 1000:.1f}",
                f"{result.median(name, lambda one: one.load.p99) * 1000:.1f}",
                f"{result.median(name, lambda one: one.cpu_per_request) * 1000:.3f}",
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
        result.median(name, lambda one: one.cpu_per_request) for name in (OURS, LIMIT, CONVENTIONAL)
    )
    if not ours:
        return "The processor time of the servers cannot be read here."
    return (
        f"By processor time for a request, Kontor is {conventional / ours:.2f} × as fast as the {CONVENTIONAL} and"
        f" {limit / ours:.2f} × as fast as the {LIMIT}."
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
    table = Table(title=f"{result.endpoint.name}: {result.endpoint.title}", box=box.SIMPLE_HEAVY, title_justify="left")
    for index, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if 0 < index < len(HEADINGS) - 1 else "left", no_wrap=index == 0)
    for row in make_rows(result):
        table.add_row(*row)
    console.print(table)
    for line in describe(result):
        console.print(line, highlight=False)


def write_page(path: Path, results: list[Result], machine: dict[str, str], plan: Plan) -> None:
    lines = [
        "# Benchmarks",
        "",
        "Written by `./dev bench`; do not edit. Figures depend on the machine, ratios much less: all three",
        "implementations are measured in turn, round by round, on the same database, with one process each and",
        "pools of the same size.",
        "",
        *(f"* **{name}**: {MEANINGS[name]}" for name in ORDER),
        "",
        "Nothing is cached: every request looks up its token and its object in PostgreSQL. The server under test is",
        "bound to one core, PostgreSQL and the load generator to the others.",
        "",
    ]
    for result in results:
        lines += make_section(result, plan)
    lines += ["## Machine", "", *make_table(("", ""), list(machine.items())), ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def make_section(result: Result, plan: Plan) -> list[str]:
    name = result.endpoint.name
    per_round = [
        (
            str(number + 1),
            *(f"{result.rates(one)[number]:,.0f}" for one in ORDER),
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
        f"Median of {plan.rounds} rounds of {plan.seconds:g} seconds, {result.connections} connections, least and most"
        " beside it.",
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


def make_table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    marks = ["---", *("---:" for _ in headings[1:])] if len(headings) > 2 else ["---", "---"]
    return [f"| {' | '.join(row)} |" for row in (headings, marks, *rows)]
