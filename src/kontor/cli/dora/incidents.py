"""`kontor dora incident`: the clock of an incident's reports, and drafts of them."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_facts, show_json, show_rows
from kontor.domain.clocks import BERLIN
from kontor.domain.errors import InvalidError
from kontor.domain.incidents import Criterion, Deadline, Incident, Report
from kontor.services.bundle import Services
from kontor.services.operations import Incidents, list_deadlines
from kontor.wire.dora.incident_reports import Draft, make_draft, show_draft, show_incident, show_time
from kontor.wire.dora.report_texts import write_markdown

incident = App(name="incident", help="ICT-related incidents: deadlines of their reports, and drafts.")

Reference = Annotated[str, Parameter(help="Such as INC-7.")]
At = Annotated[str | None, Parameter(help="When, such as 2026-11-16T08:30, in Berlin or with an offset; else now.")]


@incident.command(name="open")
def open_incident(
    title: Annotated[str, Parameter(help="What happened, in one line, without personal data.")],
    *,
    aware: Annotated[str | None, Parameter(help="When you became aware of it, as in --occurred; else now.")] = None,
    occurred: Annotated[
        str | None, Parameter(help="When it began, such as 2026-11-16T08:30, in Berlin or with an offset.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record an incident. The clock begins when you became aware of it."""
    times = _read_time("--aware", aware), _read_time("--occurred", occurred)
    _change(lambda incidents: incidents.open_incident(title, *times), as_json=as_json)


@incident.command(name="classify")
def classify_incident(
    reference: Reference,
    verdict: Annotated[Literal["major", "not-major"], Parameter(help="As you have found by art. 8 of (EU) 2024/1772.")],
    *,
    criterion: Annotated[list[Criterion] | None, Parameter(help="A criterion that is met; several times.")] = None,
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Record your classification. Kontor does not judge it."""
    number, when = _read_number(reference), _read_time("--at", at)
    _change(
        lambda incidents: incidents.classify(number, when, criterion or [], is_major=verdict == "major"),
        as_json=as_json,
    )


@incident.command(name="submitted")
def note_submission(reference: Reference, report: Report, *, at: At = None, as_json: AsJson = False) -> None:
    """Record that you have submitted a report: the next deadline runs from it. Nothing is sent."""
    number, when = _read_number(reference), _read_time("--at", at)
    _change(lambda incidents: incidents.note_submission(number, report, when), as_json=as_json)


@incident.command(name="recovered")
def note_recovery(reference: Reference, *, at: At = None, as_json: AsJson = False) -> None:
    """Record that regular activities have been recovered. An updated intermediate report is then due without delay."""
    number, when = _read_number(reference), _read_time("--at", at)
    _change(lambda incidents: incidents.note_recovery(number, when), as_json=as_json)


@incident.command(name="close")
def close_incident(reference: Reference, *, as_json: AsJson = False) -> None:
    """End an incident that is not major, or whose final report was submitted. It is kept."""
    number = _read_number(reference)
    _change(lambda incidents: incidents.close(number), as_json=as_json)


@incident.command(name="show")
def show_one(reference: Reference, *, as_json: AsJson = False) -> None:
    """Show an incident and its deadlines."""
    number = _read_number(reference)
    _change(lambda incidents: incidents.find(number), as_json=as_json)


@incident.command(name="list")
def list_all(
    *,
    closed: Annotated[bool, Parameter(negative="", help="Those that are closed, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """List incidents, newest first, with the next deadline of each."""
    found = use_services(lambda services: services.ops.incidents.list_incidents(are_closed_too=closed))
    now = datetime.now(UTC)
    if as_json:
        show_json([show_incident(one, list_deadlines(one), now) for one in found])
        return
    rows = []
    for one in found:
        waiting = [deadline for deadline in list_deadlines(one) if deadline.submitted_at is None and deadline.due_at]
        ahead = waiting[0] if waiting and one.closed_at is None else None
        told = f"{ahead.report} {_describe_due(ahead, now)}" if ahead else ""
        rows.append((one.reference, one.title, show_time(one.aware_at), _describe_class(one), told))
    show_rows(("reference", "title", "aware", "class", "next report"), rows, as_json=False, keys=())


@incident.command(name="draft")
def draft_report(
    reference: Reference,
    report: Report,
    *,
    output: Annotated[Path | None, Parameter(help="A file; else standard output.")] = None,
    as_json: AsJson = False,
) -> None:
    """Draft a report, as Markdown or JSON, from what you and the installation have recorded. Nothing is sent."""
    number, now = _read_number(reference), datetime.now(UTC)

    async def make(services: Services) -> tuple[Draft, Callable[[UUID], str]]:
        def name_provider(provider_id: UUID) -> str:
            provider = services.providers.find(provider_id)
            return provider.name if provider else str(provider_id)

        found = await services.ops.incidents.find(number)
        figures = await services.ops.incidents.count_figures(found)
        return make_draft(report, found, list_deadlines(found), figures, name_provider, now), name_provider

    draft, name_provider = use_services(make)
    if as_json and output is None:
        show_json(show_draft(draft, name_provider))
    elif output is None:
        print(write_markdown(draft, name_provider), end="")  # noqa: T201 (the result itself)
    else:
        _write(output, draft, name_provider, as_json=as_json)
        say(f"Written to {output}.")
    say("This is a draft, and no legal advice. Nothing is sent.")


def _write(output: Path, draft: Draft, name_provider: Callable[[UUID], str], *, as_json: bool) -> None:
    import json

    if as_json:
        text = json.dumps(show_draft(draft, name_provider), ensure_ascii=False, indent=2) + "\n"
    else:
        text = write_markdown(draft, name_provider)
    output.write_text(text, encoding="utf-8")


def _change(step: Callable[[Incidents], Awaitable[Incident]], *, as_json: bool) -> None:
    found = use_services(lambda services: step(services.ops.incidents))
    now, deadlines = datetime.now(UTC), list_deadlines(found)
    if as_json:
        show_json(show_incident(found, deadlines, now))
        return
    facts = {
        "reference": found.reference,
        "title": found.title,
        "occurred": show_time(found.occurred_at),
        "aware": show_time(found.aware_at),
        "class": _describe_class(found),
        "criteria": ", ".join(found.criteria),
        "recovered": show_time(found.recovered_at),
        "closed": show_time(found.closed_at),
    }
    show_facts({name: value for name, value in facts.items() if value}, as_json=False)
    rows = [
        (deadline.report, _describe_due(deadline, now), deadline.rule, show_time(deadline.relief_until))
        for deadline in deadlines
    ]
    if rows:
        show_rows(("report", "due", "rule", "art. 5(4): until"), rows, as_json=False, keys=())


def _describe_class(found: Incident) -> str:
    if found.is_major is None:
        return "not classified"
    word = "major" if found.is_major else "not major"
    if found.is_major and found.major_again_at is not None:
        word = "major again"
    return f"{word} since {show_time(found.classified_at)}"


def _describe_due(deadline: Deadline, now: datetime) -> str:
    if deadline.due_at is None:
        return "not yet running"
    due, missed = show_time(deadline.due_at), deadline.is_missed(now)
    if deadline.submitted_at is not None:
        return f"{due}, submitted {show_time(deadline.submitted_at)}{' (late)' if missed else ''}"
    hours, minutes = divmod(int(abs((deadline.due_at - now).total_seconds())) // 60, 60)
    return f"{due}, {'OVERDUE for' if missed else 'in'} {hours} h {minutes} min"


def _read_number(reference: str) -> int:
    match = re.fullmatch(r"INC-([1-9][0-9]{0,8})", reference.strip().upper())
    if match is None:
        raise InvalidError("must be such as INC-7", "reference")
    return int(match[1])


def _read_time(option: str, text: str | None) -> datetime | None:
    """Without an offset it is Berlin's."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=BERLIN)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidError("must be a time such as 2026-11-16T08:30", option) from None
