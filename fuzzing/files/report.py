"""The figures as a page."""

import textwrap
from pathlib import Path

from benchmarks.report import make_table

from fuzzing.files.results import Results
from fuzzing.files.running import CPU_SECONDS, MEMORY_BYTES
from fuzzing.runs import describe_run, show_seeds

INTRODUCTION = (
    "Sample files of every parser are damaged at random: bits, digits and words are changed, parts deleted, repeated,"
    " swapped or put into another encoding. A file may be read or refused by the parser's declared error. Everything"
    " else is a finding: another exception, more than"
    f" {CPU_SECONDS:.0f} s of processor time, or more than {MEMORY_BYTES // 1024**2} MiB of memory. FinTS and XS2A are"
    " answers of banks: single messages, and whole dialogues of the connector in which one answer or all from one on"
    " are damaged."
)


def write_page(results: Results, page: Path) -> None:
    rows = []
    for parser in sorted(results.read | results.refused, key=str.lower):
        found = sum(finding.parser == parser for finding in results.findings)
        total = results.read[parser] + results.refused[parser] + found
        counts = (total, results.read[parser], results.refused[parser], found)
        rows.append((parser, *(f"{count:,}" for count in counts)))
    facts = {
        "Command": "`./dev fuzz --seed S --minutes M`; one mutant: `./dev fuzz --seed S --number N`",
        "Seeds (mutants)": show_seeds(results.next_numbers),
        "Processor time": f"{results.cpu_seconds:,.0f} s",
    } | describe_run()
    lines = ["# Damaged files", "", "Written by `./dev fuzz`; do not edit.", "", textwrap.fill(INTRODUCTION, 120), ""]
    lines += [f"**{results.count:,} mutants, {len(results.findings):,} findings that are open.**", ""]
    lines += [*make_table(("Parser", "Mutants", "Read", "Refused", "Findings"), rows), ""]
    if results.findings:
        lines += ["## Findings", ""]
        lines += [
            f"- seed {finding.seed}, number {finding.number}: {finding.parser}, {finding.problem} {finding.place}"
            for finding in results.findings
        ] + [""]
    lines += [
        "`./dev fuzz --again` runs findings again; one that is fixed then counts as what it has become. Results of all",
        "runs are kept in `fuzzing.json` beside this page; a further run goes on where the last one of its seed ended.",
        "",
    ]
    lines += [*make_table(("Run on", ""), list(facts.items())), ""]
    page.write_text("\n".join(lines), encoding="utf-8")
