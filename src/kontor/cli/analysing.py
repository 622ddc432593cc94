"""Understanding statement files without a server: `kontor analyse`."""

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.table import Table

from kontor.cli.file_analyses import WRITERS, FileAnalysis, Words, read_files, sum_yearly, write_page
from kontor.cli.file_analyses import analyse as analyse_files
from kontor.cli.output import console, say
from kontor.domain.clocks import BERLIN
from kontor.domain.errors import InvalidError

SHOWN_CATEGORIES, SHOWN_DUES = 8, 8


def analyse(
    *files: Annotated[Path, Parameter(help="Statements: CSV, MT940, camt, PDF, OFX, QIF, zips and folders of them.")],
    report: Annotated[Path, Parameter(help="The HTML report to write.")] = Path("kontor-report.html"),
    rows: Annotated[
        Path | None, Parameter(help="Also write the rows with their tags: .csv, .json or .parquet.")
    ] = None,
    today: Annotated[
        date | None, Parameter(help="The day to look at them; by default today, or the last booked day if that is old.")
    ] = None,
    language: Annotated[Literal["de", "en"], Parameter(help="The language of the report.")] = "de",
) -> None:
    """Analyse statement files: categories, contracts, cashflow, insurances, life events. Needs no server.

    Files of one account are joined, and bookings that several of them hold count once. Nothing is sent anywhere, and
    nothing is stored but the report.
    """
    if not files:
        raise InvalidError("name at least one file", "files")
    writer = None if rows is None else WRITERS.get(rows.suffix.lower())
    if rows is not None and writer is None:
        raise InvalidError(f"must end in {', '.join(WRITERS)}", "--rows")
    read = read_files(files)
    analysis = analyse_files(read, today or datetime.now(BERLIN).date(), is_fixed=today is not None)
    words = Words(language)
    tagged = None if writer is None else writer(analysis, words)
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(write_page(analysis, language), encoding="utf-8")
    if rows is not None and tagged is not None:
        rows.parent.mkdir(parents=True, exist_ok=True)
        rows.write_bytes(tagged)
    show_summary(analysis, words)
    say(words("written", path=report))
    if rows is not None:
        say(words("rows_written", path=rows))


def show_summary(analysis: FileAnalysis, words: Words) -> None:
    """What the report says first."""
    days = {"first": words.day(analysis.first_day), "last": words.day(analysis.last_day)}
    console.print(words("intro", count=len(analysis.rows), today=words.day(analysis.today), **days), markup=False)
    for name, heading, rows in list_tables(analysis, words):
        table = Table(box=None, pad_edge=False, header_style="bold", title=heading, title_justify="left")
        table.add_column(name, min_width=28)
        table.add_column(words("amount"), justify="right")
        for label, amount in rows:
            table.add_row(label, amount)
        console.print()
        console.print(table)


def list_tables(analysis: FileAnalysis, words: Words) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """(first column, title, rows of a label and an amount)."""
    span = analysis.span
    costs = sum_yearly([contract for contract in analysis.contracts if not contract.is_income])
    sums = {"income": span.earned, "spending": span.spent, "net": span.net, "fixed": costs / 12}
    totals = [(words(key), words.money(amount)) for key, amount in sums.items()]
    yield "", words("in_months", count=len(analysis.months)), totals
    dearest = [(name, sums.net) for name, sums in analysis.categories.items() if sums.net < 0][:SHOWN_CATEGORIES]
    if dearest:
        rows = [(words.category(name), words.money(amount)) for name, amount in dearest]
        yield words("category"), words("categories"), rows
    if analysis.dues:
        shown = [
            (f"{words.day(due.day)}  {words.contract(due.contract)}", words.money(due.amount))
            for due in analysis.dues[:SHOWN_DUES]
        ]
        yield words("contract"), words("dues"), shown
