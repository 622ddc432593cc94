"""Scoring the tagger on labelled transactions, the analyses on the demo bank's people; explaining one decision."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from kontor.cli.context import AsJson, say
from kontor.cli.output import show_json, show_rows
from kontor.domain.errors import NotFoundError

if TYPE_CHECKING:
    from kontor.cli.tag_evaluation import Figure


def evaluate(
    files: Annotated[
        list[Path] | None, Parameter(help="JSON lines: fields of a transaction, and `gold` with its labels.")
    ] = None,
    /,
    *,
    people: Annotated[
        list[str] | None,
        Parameter(
            consume_multiple=True,
            negative="",
            help="Score contracts, forecasts and life events on these logins of the demo bank, or on all its people.",
        ),
    ] = None,
    tags: Annotated[
        Literal["truth", "tagger"], Parameter(help="With --people: read the true tags, or those of the tagger.")
    ] = "truth",
    today: Annotated[str | None, Parameter(help="With --people: the day to look at them, such as 2026-11-15.")] = None,
    report: Annotated[Path | None, Parameter(help="Write an HTML report with plots here.")] = None,
    compare: Annotated[
        str | None,
        Parameter(help="Show which labelled rows turned right or wrong since this git revision, such as HEAD or main."),
    ] = None,
    corrections: Annotated[
        int | None,
        Parameter(help="Replay histories of persons, named by `person` in each row, who correct this many mistakes."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score the tagger on labelled transactions: accuracy, calibration, speed, and where it errs.

    With --people, score the analyses on the demo bank's people, about whom the truth is known.
    With --compare, tag the same rows with the code and lexicon of a git revision too; without files, all labelled rows
    of the checkout. Rows of held-out files are counted, not shown.
    """
    from kontor.cli.data_sets import describe_use
    from kontor.domain.errors import InvalidError

    if compare is not None:
        if people is not None or report is not None:
            raise InvalidError("goes with labelled transactions, not with --people or --report", "--compare")
        show_comparison(compare, files or [], as_json=as_json)
        return
    if (people is None) == (not files):
        raise InvalidError("Give files with labelled transactions, or --people")
    if corrections is not None:
        if corrections < 1 or people is not None or report is not None:
            raise InvalidError("is at least 1, and goes with labelled transactions alone", "--corrections")
        show_replays(files or [], corrections, as_json=as_json)
        return
    for remark in describe_use(files or []):
        say(remark)
    rows = evaluate_tags(files or [], report) if people is None else evaluate_people(people, tags, today, report)
    if report is not None:
        say(f"The report is in {report}.")
    if as_json:
        show_json({name: value for name, value, *_ in rows})
    else:
        show_rows(("figure", "value", "of rows", "95 % interval"), rows, as_json=False, keys=())


def show_replays(files: Sequence[Path], most: int, *, as_json: bool) -> None:
    from kontor.cli.correction_evaluation import HEADINGS, list_replays, replay_files

    show_rows(HEADINGS, list_replays(replay_files(files, most)), as_json=as_json, keys=HEADINGS)


def evaluate_tags(files: Sequence[Path], report: Path | None) -> "list[Figure]":
    from kontor.analysis.scoring.tag_scores import score_tags
    from kontor.analysis.tagging import load_tagger
    from kontor.cli.tag_evaluation import judge, list_figures, measure_speed, read_files

    labelled = read_files(files)
    if not labelled:
        raise NotFoundError("There are no labelled transactions in it.")
    tagger = load_tagger()
    judged = judge(labelled, tagger)
    scores = score_tags(judged)
    speed = measure_speed(labelled, tagger)
    if report is not None:
        from kontor.cli.evaluation_report import write_report

        write_report(report, [file.name for file in files], scores, judged, speed)
    return list_figures(scores, speed)


def show_comparison(revision: str, files: Sequence[Path], *, as_json: bool) -> None:
    from kontor.cli.tag_comparison import CHANGE_HEADINGS, COUNT_HEADINGS, compare_tags, list_changes, list_counts

    comparison = compare_tags(revision, files)
    counts, changes = list_counts(comparison), list_changes(comparison)
    if as_json:
        answer = {
            "revision": comparison.revision,
            "counts": [dict(zip(COUNT_HEADINGS, row, strict=True)) for row in counts],
            "changes": [dict(zip(CHANGE_HEADINGS, row, strict=True)) for row in changes],
        }
        show_json(answer)
        return
    say(f"Compared with {comparison.revision[:12]}.")
    show_rows(COUNT_HEADINGS, counts, as_json=False, keys=())
    if changes:
        show_rows(CHANGE_HEADINGS, changes, as_json=False, keys=())
    else:
        say("No tag of a row that may be shown has changed for better or worse.")


def evaluate_people(logins: Sequence[str], tags: str, today: str | None, report: Path | None) -> "list[Figure]":
    from kontor.cli.demo_truths import Tags
    from kontor.cli.people_evaluation import list_people_figures, score_people
    from kontor.connectors.demo.people import PERSONAS

    day = read_day(today)
    scores = score_people([(login, day) for login in logins or PERSONAS], Tags(tags))
    if report is not None:
        from kontor.cli.evaluation_report import write_people_report

        write_people_report(report, scores)
    return [(*figure, "") for figure in list_people_figures(scores)]


def read_day(text: str | None) -> date:
    from kontor.domain.clocks import BERLIN
    from kontor.domain.errors import InvalidError

    try:
        return datetime.now(UTC).astimezone(BERLIN).date() if text is None else date.fromisoformat(text)
    except ValueError:
        raise InvalidError("is no date such as 2026-11-15", "--today") from None


def explain(
    file: Annotated[
        Path, Parameter(help="A JSON object with the fields of a transaction, or JSON lines; - reads stdin.")
    ],
    /,
    *,
    only: Annotated[str | None, Parameter(name="--id", help="Of several lines, the one with this id.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a transaction is taken for, and why."""
    import sys

    from kontor.analysis.tagging import NOBODY, load_tagger
    from kontor.wire.labelled_rows import read_transactions

    text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    rows = [row for row in read_transactions(text) if only in (None, row[0])]
    if not rows:
        raise NotFoundError("There is no such transaction in the file.")
    tagger = load_tagger()
    for name, transaction in rows[:20]:
        tagging, evidence = tagger.explain(transaction, NOBODY)
        tags = [
            ("category", tagging.category, f"{tagging.category_confidence:.2f}"),
            ("insurance type", tagging.insurance_type, f"{tagging.insurance_confidence:.2f}"),
            ("partner", tagging.partner, f"{tagging.partner_confidence:.2f}"),
            ("freelancer category", tagging.freelancer_category, f"{tagging.freelancer_confidence:.2f}"),
        ]
        if len(rows) > 1 and not as_json:
            say(f"{name}: {transaction.counterparty_name or ''} {transaction.purpose or ''}"[:120])
        show_rows(("tag", "is", "confidence"), tags, as_json=as_json, keys=("tag", "is", "confidence"))
        reasons = [
            (entry.kind, entry.text, entry.detail, f"{entry.weight:.2f}", "yes" if entry.is_decisive else "no")
            for entry in evidence
        ]
        names = ("kind", "found", "speaks for", "weight", "decided")
        show_rows(names, reasons, as_json=as_json, keys=("kind", "text", "detail", "weight", "decisive"))
