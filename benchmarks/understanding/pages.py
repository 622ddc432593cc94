"""What `--tagging` and `--analyses` show in the terminal, and write as pages of the documentation."""

import statistics
import textwrap
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.machine import describe_machine
from benchmarks.measure import Plan, Result
from benchmarks.report import describe_ratio, make_table, show_table
from benchmarks.servers import LIMIT, OURS
from benchmarks.understanding.analysing import (
    CURVE_HEADINGS,
    AnalysesResult,
    describe_analyses,
    make_curve_rows,
    measure_analyses,
)
from benchmarks.understanding.tagging import (
    SPEED_HEADINGS,
    TaggingResult,
    describe_tagging,
    make_speed_rows,
    measure_tagging,
)
from kontor.config import Settings

PAIR = (OURS, LIMIT)
PAIR_HEADINGS = ("", "requests/s", "spread", "p50 ms", "p99 ms", "server CPU ms", "database CPU ms", "Kontor is")
NOISE = (
    "Figures depend on the machine and its load; ratios much less, because the compared variants are measured in"
    " turn, round by round, in one run."
)


def make_pair_rows(result: Result) -> list[tuple[str, ...]]:
    rows = []
    for name in PAIR:
        rates = result.rates(name)
        rows.append(
            (
                name,
                f"{statistics.median(rates):,.0f}",
                f"{min(rates):,.0f} – {max(rates):,.0f}",
                f"{result.median(name, lambda run: run.load.p50) * 1000:.1f}",
                f"{result.median(name, lambda run: run.load.p99) * 1000:.1f}",
                f"{result.median(name, lambda run: run.cpu_per_request) * 1000:.3f}",
                f"{result.median(name, lambda run: run.database_cpu_per_request) * 1000:.3f}",
                "" if name == OURS else f"{describe_ratio(result.ratios(name))} as fast",
            )
        )
    return rows


def describe_pair(result: Result) -> list[str]:
    ratio, target = statistics.median(result.ratios(LIMIT)), result.endpoint.targets.limit
    ours, limit = (result.median(name, lambda run: run.cpu_per_request) for name in PAIR)
    lines = [
        f"Target: at least {target:g} × the limit. Measured: {ratio:.2f} ×,"
        f" {'reached' if ratio >= target else 'not reached'}.",
    ]
    if ours:
        lines.append(
            f"By processor time of the server for a request, Kontor is {limit / ours:.2f} × as fast as the limit."
        )
    return lines


def make_pair_section(result: Result, plan: Plan, meaning: str) -> list[str]:
    rounds = [
        (str(number + 1), *(f"{result.rates(name)[number]:,.0f}" for name in PAIR), f"{ratio:.2f}")
        for number, ratio in enumerate(result.ratios(LIMIT))
    ]
    return [
        f"## {result.endpoint.title}",
        "",
        *wrap(
            f"{meaning} Median of {len(rounds)} rounds of {plan.seconds:g} seconds, {result.connections} connections,"
            " with minimum and maximum."
        ),
        "",
        *make_table(PAIR_HEADINGS, make_pair_rows(result)),
        "",
        *(f"* {line}" for line in describe_pair(result)),
        "",
        "Each round, in requests/s:",
        "",
        *make_table(("round", *PAIR, f"Kontor / {LIMIT}"), rounds),
        "",
    ]


def wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


# Tagging


def run_tagging(
    settings: Settings, view: Result, plan: Plan, load_before: float, console: Console, target: Path | None
) -> None:
    tagging = measure_tagging(plan.rounds, is_quick=target is None, say=console.print)
    show_table("The tagger", SPEED_HEADINGS, make_speed_rows(tagging), describe_tagging(tagging), console)
    show_table(view.endpoint.title, PAIR_HEADINGS, make_pair_rows(view), describe_pair(view), console)
    if target is not None:
        machine = describe_machine(settings, load_before)
        (target / "tagging.md").write_text("\n".join(make_tagging_page(tagging, view, plan, machine)), encoding="utf-8")


def make_tagging_page(tagging: TaggingResult, view: Result, plan: Plan, machine: dict[str, str]) -> list[str]:
    speeds = tagging.speeds
    per_round = [
        (str(number + 1), *(f"{rates[name][number]:,.0f}" for rates in (speeds.bulk, speeds.single) for name in rates))
        for number in range(plan.rounds)
    ]
    return [
        "# Benchmarks: tagging",
        "",
        *wrap(f"Written by `./dev bench --tagging`; do not edit. {NOISE}"),
        "",
        "## All four trees, beside a textbook pipeline",
        "",
        *wrap(
            "The pipeline is scikit-learn's: TF-IDF over character n-grams (2 to 4), then a linear model for each of"
            " category, insurance type, partner and freelancer category. It knows only the partners of its training"
            " rows, and returns labels without confidences; Kontor returns both. All rows are from the demo bank and"
            " distinct, and each round uses new ones; a history is all that one person has booked in five years, where"
            " many rows are much alike. Each process has tagged 12,000 other rows before. Times are processor times of"
            " one process."
        ),
        "",
        *make_table(SPEED_HEADINGS, make_speed_rows(tagging)),
        "",
        *(f"* {line}" for line in describe_tagging(tagging)),
        "",
        "Each round, in rows per second of processor time:",
        "",
        *make_table(
            ("round", "Kontor, bulk", "pipeline, bulk", "Kontor, one at a time", "pipeline, one at a time"), per_round
        ),
        "",
        *make_pair_section(
            view,
            plan,
            "Requests carry a user's token. The limit is a bare ASGI handler that looks up the token and sends"
            " bytes made beforehand.",
        ),
        *make_machine_section(machine),
    ]


# Analyses


def run_analyses(
    settings: Settings, again: Result, plan: Plan, load_before: float, console: Console, target: Path | None
) -> None:
    analyses = measure_analyses(settings, plan.rounds, is_quick=target is None, say=console.print)
    show_table("All analyses", CURVE_HEADINGS, make_curve_rows(analyses), describe_analyses(analyses), console)
    show_table(again.endpoint.title, PAIR_HEADINGS, make_pair_rows(again), describe_pair(again), console)
    if target is not None:
        from benchmarks.understanding.plots import draw_curve

        machine = describe_machine(settings, load_before)
        (target / "analyses.md").write_text(
            "\n".join(make_analyses_page(analyses, again, plan, machine)), encoding="utf-8"
        )
        draw_curve(analyses.curve, target / "analyses-curve.svg")


def make_analyses_page(analyses: AnalysesResult, again: Result, plan: Plan, machine: dict[str, str]) -> list[str]:
    return [
        "# Benchmarks: analyses",
        "",
        *wrap(f"Written by `./dev bench --analyses`; do not edit. {NOISE}"),
        "",
        "## All analyses of one user",
        "",
        "![Processor time of all analyses by the number of transactions](analyses-curve.svg)",
        "",
        *wrap(
            "Contracts, cashflow, disposable money, life events, life stages, sales triggers, affordability and credit"
            " check, each with the JSON of the API, on one core; tagging and database reads are not included. The"
            " customer is one of the demo bank with that number of bookings in five years. Contracts are found once,"
            " by the first analysis. The columns of the analyses are in milliseconds."
        ),
        "",
        *make_table(CURVE_HEADINGS, make_curve_rows(analyses)),
        "",
        *(f"* {line}" for line in describe_analyses(analyses)),
        "",
        *make_pair_section(
            again,
            plan,
            "Nothing has changed since the first call, so Kontor returns the cached result. The limit is a bare ASGI"
            " handler that looks up the token and sends bytes made beforehand.",
        ),
        *make_machine_section(machine),
    ]


def make_machine_section(machine: dict[str, str]) -> Sequence[str]:
    return ["## Machine", "", *make_table(("", ""), list(machine.items())), ""]
