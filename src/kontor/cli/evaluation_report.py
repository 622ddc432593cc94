"""The report of an evaluation: one HTML page, everything in it."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from kontor.analysis.scoring.tag_scores import Judged, TagScores
from kontor.cli.evaluation import list_figures
from kontor.cli.evaluation_plots import draw_bars, draw_reliability

SHOWN_ROWS = 40


def write_report(
    target: Path, sources: Sequence[str], scores: TagScores, judged: Sequence[Judged], speed: float
) -> None:
    environment = Environment(
        loader=PackageLoader("kontor.cli", "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    expected = [one for one in scores.categories if one.expected]
    page = environment.get_template("evaluation.html").render(
        sources=sources,
        figures=list_figures(scores, speed),
        scores=scores,
        reliability=draw_reliability(scores.bins),
        bars=draw_bars([(one.name, one.f1, one.expected) for one in expected], "F1 per category"),
        wrong=[one for one in judged if not one.is_category_right],
        least_certain=sorted(judged, key=lambda one: one.found.category_confidence)[:SHOWN_ROWS],
        slowest=sorted(judged, key=lambda one: -one.seconds)[:10],
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
