"""The reports of evaluations: one HTML page each, everything in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from kontor.analysis.scoring.contract_scores import ContractScores
from kontor.analysis.scoring.tag_scores import Judged, TagScores
from kontor.cli.evaluation_plots import draw_bars, draw_coverage, draw_groups, draw_reliability
from kontor.cli.people_evaluation import KIND_NAMES, PeopleScores, list_people_figures
from kontor.cli.tag_evaluation import list_figures

SHOWN_ROWS = 40
HONEST = (0.75, 0.85)  # an interval of 80 % should hold about that


def write_report(
    target: Path, sources: Sequence[str], scores: TagScores, judged: Sequence[Judged], speed: float
) -> None:
    expected = [category for category in scores.categories if category.expected]
    _write(
        target,
        "evaluation.html",
        sources=sources,
        figures=list_figures(scores, speed),
        scores=scores,
        reliability=draw_reliability(scores.bins),
        bars=draw_bars([(category.name, category.f1, category.expected) for category in expected], "F1 per category"),
        wrong=[row for row in judged if not row.is_category_right],
        least_certain=sorted(judged, key=lambda row: row.found.category_confidence)[:SHOWN_ROWS],
        slowest=sorted(judged, key=lambda row: -row.seconds)[:10],
    )


def write_people_report(target: Path, scores: PeopleScores) -> None:
    _write(
        target,
        "people.html",
        scores=scores,
        figures=[figure for figure in list_people_figures(scores) if not figure[0].startswith("forecasts")],
        coverage=draw_intervals(scores),
        errors=draw_errors(scores),
        contracts=draw_contracts(scores),
        events=draw_events(scores),
        kinds=[(name, scores.forecasts[kind]) for kind, name in KIND_NAMES.items()],
    )


def draw_intervals(scores: PeopleScores) -> str:
    rows = [
        (name, scores.forecasts[kind].ours.stated_coverage, scores.forecasts[kind].ours.stated)
        for kind, name in KIND_NAMES.items()
    ]
    return draw_coverage(rows, HONEST, "How often the outcome lies within the predicted interval")


def draw_errors(scores: PeopleScores) -> str:
    forecasts = [(name, scores.forecasts[kind]) for kind, name in KIND_NAMES.items()]
    rows = [
        (name, (forecast.ours.mean_error, forecast.last.mean_error, forecast.mean.mean_error))
        for name, forecast in forecasts
    ]
    return draw_groups(rows, ("Kontor", "last month again", "mean of 12 months"), "Mean error of a forecast", " €")


def draw_contracts(scores: PeopleScores) -> str:
    by_login: dict[str, ContractScores] = {}
    for person in scores.people:
        by_login[person.login] = by_login.get(person.login, ContractScores()) + person.contracts
    rows = [(login, (contracts.precision, contracts.recall)) for login, contracts in by_login.items()]
    return draw_groups(rows, ("precision", "recall"), "Contracts: precision and recall of each person", is_share=True)


def draw_events(scores: PeopleScores) -> str:
    rows = [(name, (events.precision, events.recall)) for name, events in scores.events_by_name.items()]
    return draw_groups(rows, ("precision", "recall"), "Life events: precision and recall of each kind", is_share=True)


def _write(target: Path, template: str, **values: Any) -> None:
    environment = Environment(
        loader=PackageLoader("kontor.cli", "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    page = environment.get_template(template).render(values)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
