"""Drafts of the reports on an incident, with the contents of articles 1 to 4 of Delegated Regulation (EU) 2025/301.

A draft states what the operator has recorded, and counts of what the installation has recorded. It names no person.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from kontor.domain.incident_figures import IncidentFigures
from kontor.domain.incidents import Criterion, Deadline, Incident, Report
from kontor.wire.dora.registers import OPERATOR

TITLES = {
    Report.INITIAL: "Initial notification", Report.INTERMEDIATE: "Intermediate report", Report.FINAL: "Final report",
}  # fmt: skip
CRITERIA = {
    Criterion.CLIENTS: "clients, financial counterparts and transactions (art. 1)",
    Criterion.REPUTATION: "reputational impact (art. 2)",
    Criterion.DURATION: "duration and service downtime (art. 3)",
    Criterion.GEOGRAPHY: "geographical spread (art. 4)",
    Criterion.DATA_LOSSES: "data losses (art. 5)",
    Criterion.CRITICAL_SERVICES: "critical services affected (art. 6)",
    Criterion.ECONOMIC_IMPACT: "economic impact (art. 7)",
}
NameProvider = Callable[[UUID], str]


@dataclass(frozen=True, slots=True)
class Field:
    """`article` of Delegated Regulation (EU) 2025/301. A value begins with the mark where it waits for the operator."""

    article: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Draft:
    report: Report
    incident: Incident
    deadlines: tuple[Deadline, ...]
    fields: tuple[Field, ...]
    figures: IncidentFigures
    drafted_at: datetime


def make_draft(
    report: Report,
    incident: Incident,
    deadlines: Sequence[Deadline],
    figures: IncidentFigures,
    name_provider: NameProvider,
    at: datetime,
) -> Draft:
    """Each report repeats the contents of those before it: all use one form (Implementing Regulation (EU) 2025/302)."""
    fields = [*_make_general(report), *_make_initial(incident, figures, name_provider)]
    if report is not Report.INITIAL:
        fields += _make_intermediate(incident, figures)
    if report is Report.FINAL:
        fields += _make_final(incident, figures)
    return Draft(report, incident, tuple(deadlines), tuple(fields), figures, at)


def _make_general(report: Report) -> list[Field]:
    return [
        Field("1(a)", "Type of submission", TITLES[report]),
        Field("1(b)", "Name, LEI and type of the financial entity", OPERATOR),
        Field("1(c)", "Name and identification code of the submitting entity", OPERATOR),
        Field("1(d)", "Other financial entities covered, where applicable", OPERATOR),
        Field("1(e)", "Contact details", OPERATOR),
        Field("1(f)", "Parent undertaking, where applicable", OPERATOR),
        Field("1(g)", "Currency, where there is monetary impact", OPERATOR),
    ]


def _make_initial(incident: Incident, figures: IncidentFigures, name_provider: NameProvider) -> list[Field]:
    return [
        Field("2(a)", "Incident reference code", incident.reference),
        Field(
            "2(b)", "Detection and classification",
            f"detected {show_time(incident.aware_at)}, classified {show_time(incident.classified_at) or OPERATOR}",
        ),
        Field("2(c)", "Description", f"{incident.title}. {describe_impact(figures)} {OPERATOR}"),
        Field("2(d)", "Criteria of classification", _join(CRITERIA[criterion] for criterion in incident.criteria)),
        Field("2(e)", "Member States impacted", OPERATOR),
        Field("2(f)", "How it was discovered", OPERATOR),
        Field("2(g)", "Origin, where available", _describe_origin(figures, name_provider)),
        Field("2(h)", "Business continuity plan activated?", OPERATOR),
        Field("2(i)", "Reclassification from major to non-major", _describe_reclassification(incident)),
        Field("2(j)", "Other relevant information", "counts of the installation: see below"),
    ]  # fmt: skip


def _make_intermediate(incident: Incident, figures: IncidentFigures) -> list[Field]:
    occurred = show_time(incident.occurred_at)
    if not occurred and figures.first_failure_at is not None:
        occurred = f"{OPERATOR} first failure recorded: {show_time(figures.first_failure_at)}"
    measures = [f"{entry.action} ({entry.count})" for entry in figures.audit if entry.result == "done"]
    return [
        Field("3(a)", "Reference code of the authority, where applicable", OPERATOR),
        Field("3(b)", "Date and time of occurrence", occurred or OPERATOR),
        Field("3(c)", "Date and time of recovery", show_time(incident.recovered_at) or OPERATOR),
        Field("3(d)", "How the criteria have been fulfilled", _describe_criteria(figures)),
        Field("3(e)", "Type of incident", OPERATOR),
        Field("3(f)", "Threats and techniques, where applicable", OPERATOR),
        Field("3(g)", "Functional areas and business processes", _join(_list_areas(figures))),
        Field("3(h)", "Infrastructure components", _join(_list_components(figures))),
        Field("3(i)", "Impact on the financial interest of clients", OPERATOR),
        Field("3(j)", "Reporting to other authorities", OPERATOR),
        Field("3(k)", "Temporary actions or measures", _join([*measures, OPERATOR])),
        Field("3(l)", "Indicators of compromise, where applicable", OPERATOR),
    ]


def _make_final(incident: Incident, figures: IncidentFigures) -> list[Field]:
    kinds = _join(f"{failure.failure} ({failure.count})" for failure in figures.failures)
    cause = OPERATOR if kinds == OPERATOR else f"{OPERATOR} failures of fetches by kind: {kinds}"
    earlier = ", ".join(figures.earlier)
    resolved = f"{show_time(incident.recovered_at) or OPERATOR}; root cause addressed: {OPERATOR}"
    return [
        Field("4(a)", "Root causes", cause),
        Field("4(b)", "Resolved, and root causes addressed, on", resolved),
        Field("4(c)", "Resolution", OPERATOR),
        Field("4(d)", "Information for resolution authorities, where applicable", OPERATOR),
        Field("4(e)", "Costs, losses and recoveries", OPERATOR),
        Field(
            "4(f)", "Recurring incidents, where applicable",
            f"{OPERATOR} incidents of the six months before: {earlier}" if earlier else OPERATOR,
        ),
    ]  # fmt: skip


def describe_impact(figures: IncidentFigures) -> str:
    first, last = map(show_time, figures.span)
    share = f"{figures.affected_customers} of {figures.customers} customers with a bank access"
    orders, unclear = sum(figures.payments.values()), figures.payments.get("UNKNOWN", 0)
    return (
        f"From {first} to {last}: {figures.fetches_failed} of {figures.fetches} fetches failed, of {share};"
        f" payment orders given: {orders}, with an unknown outcome: {unclear};"
        f" notifications discarded: {figures.discarded_deliveries}."
    )


def _describe_criteria(figures: IncidentFigures) -> str:
    above = [
        f"{threshold.threshold} ({threshold.measured})"
        for threshold in figures.compare_thresholds()
        if threshold.is_above
    ]
    counted = f" Counted above a threshold of article 9: {'; '.join(above)}." if above else ""
    return f"{describe_impact(figures)}{counted} {OPERATOR}"


def _describe_origin(figures: IncidentFigures, name_provider: NameProvider) -> str:
    failing = [
        f"{name_provider(provider.provider_id)} ({provider.failures} of {provider.calls} calls)"
        for provider in figures.providers
    ]
    return f"{OPERATOR} calls of banks failed: {', '.join(failing[:10])}" if failing else OPERATOR


def _describe_reclassification(incident: Incident) -> str:
    if incident.is_major is False and incident.was_major:
        return f"reclassified as non-major {show_time(incident.classified_at)}; reasons: {OPERATOR}"
    if incident.major_again_at is not None:
        return (
            f"reclassified as major {show_time(incident.major_again_at)}, after it was non-major; reasons: {OPERATOR}"
        )
    return "none"


def _list_areas(figures: IncidentFigures) -> Iterable[str]:
    if figures.fetches_failed:
        yield "account information"
    if figures.payments.get("UNKNOWN") or figures.payments.get("FAILED"):
        yield "payment initiation"
    if figures.discarded_deliveries:
        yield "notifications of tenants"


def _list_components(figures: IncidentFigures) -> Iterable[str]:
    if figures.providers:
        yield f"interfaces of banks ({len(figures.providers)})"
    if figures.held_jobs:
        yield f"job queue ({sum(figures.held_jobs.values())} jobs held)"
    if figures.workers_dead or not figures.workers_alive:
        yield f"workers ({figures.workers_alive} alive, {figures.workers_dead} gone within the last hour)"


def _join(texts: Iterable[str]) -> str:
    return "; ".join(texts) or OPERATOR


def show_time(at: datetime | None) -> str:
    """As the form asks for: ISO 8601 in UTC. Empty where there is none."""
    return "" if at is None else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def show_incident(incident: Incident, deadlines: Sequence[Deadline], now: datetime) -> dict[str, Any]:
    return {
        "reference": incident.reference,
        "title": incident.title,
        "occurredAt": show_time(incident.occurred_at) or None,
        "awareAt": show_time(incident.aware_at),
        "classifiedAt": show_time(incident.classified_at) or None,
        "majorAgainAt": show_time(incident.major_again_at) or None,
        "major": incident.is_major,
        "criteria": [str(criterion) for criterion in incident.criteria],
        "recoveredAt": show_time(incident.recovered_at) or None,
        "closedAt": show_time(incident.closed_at) or None,
        "deadlines": [
            {
                "report": str(deadline.report),
                "dueAt": show_time(deadline.due_at) or None,
                "rule": deadline.rule,
                "reliefUntil": show_time(deadline.relief_until) or None,
                "submittedAt": show_time(deadline.submitted_at) or None,
                "missed": deadline.is_missed(now),
            }
            for deadline in deadlines
        ],
    }


def show_draft(draft: Draft, name_provider: NameProvider) -> dict[str, Any]:
    return {
        "draft": True,
        "report": str(draft.report),
        "draftedAt": show_time(draft.drafted_at),
        "incident": show_incident(draft.incident, draft.deadlines, draft.drafted_at),
        "fields": [asdict(field) for field in draft.fields],
        "figures": show_figures(draft.figures, name_provider),
    }


def show_figures(figures: IncidentFigures, name_provider: NameProvider) -> Mapping[str, Any]:
    return {
        "from": show_time(figures.span[0]),
        "to": show_time(figures.span[1]),
        "complete": figures.is_complete,
        "customers": figures.customers,
        "customersWithFetches": figures.customers_with_fetches,
        "customersWithFailedFetches": figures.affected_customers,
        "fetches": figures.fetches,
        "fetchesDone": figures.fetches_done,
        "fetchesFailed": figures.fetches_failed,
        "thresholds": [
            {"threshold": threshold.threshold, "measured": threshold.measured, "above": threshold.is_above}
            for threshold in figures.compare_thresholds()
        ],
        "failures": {failure.failure: failure.count for failure in figures.failures},
        "banks": [
            {
                "name": name_provider(provider.provider_id), "calls": provider.calls, "failures": provider.failures,
                "firstFailureAt": show_time(provider.first_at), "lastFailureAt": show_time(provider.last_at),
            }
            for provider in figures.providers
        ],
        "banksDownNow": [name_provider(provider_id) for provider_id in figures.down],
        "hours": [{"from": show_time(at), "calls": calls, "failures": bad} for at, calls, bad in figures.hours],
        "hosts": [asdict(host) for host in figures.hosts],
        "paymentOrders": figures.payments,
        "discardedNotifications": figures.discarded_deliveries,
        "audit": [asdict(entry) for entry in figures.audit],
        "heldJobs": figures.held_jobs,
        "workersAlive": figures.workers_alive,
        "workersGone": figures.workers_dead,
    }  # fmt: skip
