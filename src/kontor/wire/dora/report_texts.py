"""A draft of a report as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kontor.wire.dora.incident_reports import TITLES, Draft, NameProvider, show_figures, show_time

HEADINGS = {
    "1": "General information (art. 1)", "2": "Initial notification (art. 2)", "3": "Intermediate report (art. 3)",
    "4": "Final report (art. 4)",
}  # fmt: skip
LABELS = {
    "from": "From", "to": "To", "complete": "All of this time is still recorded",
    "customers": "Customers with a bank access", "customersWithFetches": "Customers with fetches",
    "customersWithFailedFetches": "Customers with failed fetches", "fetches": "Fetches that ended",
    "fetchesDone": "Fetches that succeeded", "fetchesFailed": "Fetches that failed", "failures": "Failures of fetches",
    "banks": "Banks whose calls failed", "banksDownNow": "Banks that are down now", "hours": "Hours with failed calls",
    "hosts": "Hosts that could not be reached, by whole days", "paymentOrders": "Payment orders",
    "discardedNotifications": "Discarded notifications", "audit": "Audit trail: failed, refused, and done by operators",
    "heldJobs": "Jobs on hold now", "workersAlive": "Workers alive now",
    "workersGone": "Workers gone within the last hour",
    "thresholds": "Beside thresholds of Delegated Regulation (EU) 2024/1772", "threshold": "Article and threshold",
    "measured": "Counted here", "above": "Above",
    "name": "Name", "calls": "Calls", "firstFailureAt": "First failure", "lastFailureAt": "Last failure",
    "host": "Host",
    "purpose": "Purpose", "connections": "Connections", "action": "Action", "result": "Result", "count": "Count",
}  # fmt: skip
NOTICE = (
    "Draft by Kontor, not submitted to anybody. It is no legal advice. Cells with `[operator]` are yours; check every"
    " other one. Articles are those of Delegated Regulation (EU) 2025/301."
)


def write_markdown(draft: Draft, name_provider: NameProvider) -> str:
    return "\n".join(_write_lines(draft, name_provider)) + "\n"


def _write_lines(draft: Draft, name_provider: NameProvider) -> Iterator[str]:
    yield f"# {TITLES[draft.report]}, {draft.incident.reference}: DRAFT"
    yield from ("", NOTICE, "", f"Drafted {show_time(draft.drafted_at)}.", "", "## Deadlines", "")
    rows = [
        (
            deadline.report,
            show_time(deadline.due_at) or "not yet running",
            deadline.rule,
            show_time(deadline.relief_until),
            show_time(deadline.submitted_at),
        )
        for deadline in draft.deadlines
    ]
    yield from _write_table(("Report", "Due", "Rule", "Art. 5(4): until", "Submitted"), rows)
    for article, heading in HEADINGS.items():
        fields = [field for field in draft.fields if field.article.startswith(article)]
        if fields:
            yield from ("", f"## {heading}", "")
            yield from _write_table(
                ("Article", "Field", "Value"), [(shown.article, shown.name, shown.value) for shown in fields]
            )
    yield from ("", "## Recorded by the installation", "")
    if not draft.figures.is_complete:
        yield from ("Counts are incomplete: the time begins before what is kept (30 days).", "")
    yield from _write_figures(show_figures(draft.figures, name_provider))


def _write_figures(figures: Mapping[str, Any]) -> Iterator[str]:
    """Numbers first, then a table for each list."""
    plain = [(LABELS[name], _say(value)) for name, value in figures.items() if not isinstance(value, list | dict)]
    counts = [
        (f"{LABELS[name]}: {key}", value)
        for name, values in figures.items()
        if isinstance(values, dict)
        for key, value in values.items()
    ]
    yield from _write_table(("What", "Value"), [*plain, *counts])
    for name, rows in figures.items():
        if isinstance(rows, list) and rows:
            yield from ("", f"### {LABELS[name]}", "")
            if isinstance(rows[0], dict):
                yield from _write_table(
                    [_label(key) for key in rows[0]], [tuple(map(_say, row.values())) for row in rows]
                )
            else:
                yield from (f"- {_escape(row)}" for row in rows)


def _label(key: str) -> str:
    return "Failures" if key == "failures" else LABELS[key]


def _say(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _write_table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(map(_escape, row))} |"


def _escape(value: Any) -> str:
    """In one cell, and as text: a title may contain marks of Markdown and HTML."""
    text = str(value).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return " ".join(text.split())
