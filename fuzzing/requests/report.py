"""The figures as a page."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import make_table

from fuzzing.requests.results import Results
from fuzzing.requests.sending import Finding
from fuzzing.runs import describe_run, show_seeds

INTRODUCTION = (
    "Requests are drawn from the OpenAPI document: every operation, with right, wrong and missing logins, with ids of"
    " objects that exist and others, and with parameters and bodies that are mostly of the declared form. They are"
    " sent over kept connections, several at a time, to a service of its own with a real PostgreSQL, a worker and"
    " customers of the demo bank. One request in 200 is for a customer with a full history, the others are for one with"
    " few bookings; all of seed 1 were for a full history. A 5xx that the document does not declare for the operation"
    " is a finding, and so is no answer at all. It declares one alone: 503 of `/health/ready`, where the database does"
    " not answer within 2 s or no compute process can be started."
)
KINDS = ("2xx", "3xx", "4xx", "5xx", "none")


def write_page(results: Results, page: Path) -> None:
    rows = []
    for tag in sorted({tag for tag, _ in results.answers}):
        counts = [results.answers[tag, kind] for kind in KINDS]
        rows.append((tag, *(f"{count:,}" for count in (sum(counts), *counts))))
    facts = {
        "Command": "`./dev fuzz --requests --seed S --minutes M`; one: `./dev fuzz --requests --seed S --number N`",
        "Seeds (requests)": show_seeds(results.next_numbers),
        "Statuses": ", ".join(f"{status}: {count:,}" for status, count in sorted(results.statuses.items())),
        "Requests a second": ", ".join(_list_rates(results)),
    } | describe_run()
    lines = ["# Generated requests", "", "Written by `./dev fuzz --requests`; do not edit.", ""]
    lines += [textwrap.fill(INTRODUCTION, 120), ""]
    lines += [f"**{results.count:,} requests, {len(results.findings):,} open findings.**", ""]
    lines += [*make_table(("Operations", "Requests", *KINDS), rows), ""]
    lines += _list_findings("Findings", results.findings)
    lines += _list_findings("Findings that were none when the request was sent again", results.settled)
    lines += [
        "Results of all runs are kept in `requests.json` beside this page; a further run goes on where the last one of",
        "its seed ended. A number draws the same request again, but for ids and tokens, which each run has of its own.",
        "",
        *make_table(("Run on", ""), list(facts.items())),
        "",
    ]
    page.write_text("\n".join(lines), encoding="utf-8")


def _list_rates(results: Results) -> list[str]:
    return [
        f"seed {seed}: {number / max(results.seconds[seed], 1):,.0f}"
        for seed, number in sorted(results.next_numbers.items())
    ]


def _list_findings(heading: str, findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return []
    listed = [
        f"- seed {finding.seed}, number {finding.number}: {finding.operation}, {finding.status or 'no answer'}"
        for finding in findings
    ]
    return [f"## {heading}", "", *listed, ""]
