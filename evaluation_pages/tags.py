"""How good the tags are: docs/evaluation/tags.md."""

from collections.abc import Callable, Sequence
from pathlib import Path

from evaluation_pages.parts import COMMAND, ROOT, make_table, tell_verdict, wrap, write_plot
from kontor.analysis.scoring.tag_scores import CategoryScore, Share, TagScores, score_tags
from kontor.analysis.tagging import load_tagger
from kontor.cli.data_sets import MANIFEST_NAME, load_manifest
from kontor.cli.evaluation_plots import draw_bars, draw_reliability
from kontor.cli.tag_evaluation import judge, read_files

ROWS = ROOT / "evaluation/transactions"
SHOWN_CONFUSIONS = 20
PUBLISHED, HELD_OUT_A, HELD_OUT_C = "published.jsonl", "held_out_2026_11_a.jsonl", "held_out_2026_11_c.jsonl"
AIMS = ("aim", "held out (a) reaches it", "held out (c) reaches it")
HELD_OUT_C_REMARK = (
    "The rows of held-out set c are by authors who had seen neither the lexicon nor any other row. They were written"
    " last, and nobody has read the mistakes in them."
)


def publish_tags(target: Path) -> None:
    manifest = load_manifest(ROWS)
    for name in (HELD_OUT_A, HELD_OUT_C):
        data_set = manifest.find(name)
        if data_set is None or data_set.use != "evaluation":
            raise SystemExit(
                f"{name} is published as held out, but {MANIFEST_NAME} does not keep it back from training."
            )
    tagger = load_tagger()
    published, held_out_a, held_out_c = (
        score_tags(judge(read_files([ROWS / name]), tagger)) for name in (PUBLISHED, HELD_OUT_A, HELD_OUT_C)
    )
    write_plot(
        target / "tags-published.svg", draw_reliability(published.bins, "Published rows: is the confidence honest?")
    )
    write_plot(
        target / "tags-held-out.svg", draw_reliability(held_out_a.bins, "Held-out rows: is the confidence honest?")
    )
    expected = [
        (category.name, category.f1, category.expected) for category in published.categories if category.expected
    ]
    write_plot(target / "tags-categories.svg", draw_bars(expected, "Published rows: F1 of each category"))
    (target / "tags.md").write_text(make_tags_page(published, held_out_a, held_out_c, tagger.version), encoding="utf-8")


def make_tags_page(published: TagScores, held_out_a: TagScores, held_out_c: TagScores, version: str) -> str:
    wrong = published.confusions[:SHOWN_CONFUSIONS]
    lines = [
        "# How good the tags are",
        "",
        f"Written by `{COMMAND}`; do not edit. Tagger {version}.",
        "",
        *wrap(
            f"Judged on {published.rows + held_out_a.rows:,} bank-statement rows that were made up and labelled by"
            " hand, before the tagger's knowledge was written and without sight of it: see"
            " [evaluation](../../evaluation/README.md). They are no rows of real people, and those who labelled them"
            " and those who wrote the rules worked for the same project. The tagger is improved with the published"
            " rows; the held-out ones are read by nobody while improving it, and only figures are made of them, so"
            " trust those. A tag is right when it is one of the labels that a careful person would accept."
        ),
        "",
        "Everybody can repeat the first column:",
        "",
        "```sh",
        "./dev kontor evaluate evaluation/transactions/published.jsonl --report report.html",
        "```",
        "",
        *make_table(
            ("", "published", "rows", "held out (a)", "rows", "held out (c)", "rows", *AIMS),
            list_tag_rows(published, held_out_a, held_out_c),
        ),
        "",
        *wrap(HELD_OUT_C_REMARK),
        "",
        "## Is the confidence honest?",
        "",
        *wrap(
            "On the dashed line it is: of all answers with a confidence of 0.8, 80 % are right. The larger a dot, the"
            " more rows it stands for."
        ),
        "",
        "| published rows | held-out rows (a) |",
        "| --- | --- |",
        "| ![Reliability, published](tags-published.svg) | ![Reliability, held out](tags-held-out.svg) |",
        "",
        "## Each category, on the published rows",
        "",
        "![F1 of each category](tags-categories.svg)",
        "",
        *make_score_table(published.categories),
        "",
        "## Insurance divisions, on the published rows",
        "",
        *make_score_table(published.divisions),
        "",
        "## What is taken for what",
        "",
        f"The {len(wrong)} most frequent of {len(published.confusions)} confusions among the published rows.",
        "",
        *make_table(
            ("should be", "is taken for", "rows"), [(expected, found, str(count)) for expected, found, count in wrong]
        ),
        "",
    ]
    return "\n".join(lines)


Pick = Callable[[TagScores], Share | float | None]
# The name, the figure, what is aimed at, and whether that is the least or the most.
TAG_FIGURES: Sequence[tuple[str, Pick, float | None, bool]] = (
    ("main category right", lambda scores: scores.main, 0.97, True),
    ("category right", lambda scores: scores.category, 0.93, True),
    ("macro F1 of categories", lambda scores: scores.macro_f1, None, True),
    ("insurance division right", lambda scores: scores.insurance_division, 0.97, True),
    ("insurance product right", lambda scores: scores.insurance_product, None, True),
    ("other rows called insurance", lambda scores: scores.false_insurance, 0.01, False),
    ("partner right", lambda scores: scores.partner, 0.95, True),
    ("partner named where there is none", lambda scores: scores.false_partner, None, False),
    ("freelancer category right", lambda scores: scores.freelancer, None, True),
    ("calibration error", lambda scores: scores.calibration_error, 0.03, False),
    ("Brier score", lambda scores: scores.brier, None, False),
    ("AUROC of the confidence", lambda scores: scores.auroc, None, True),
)


def show_judged(found: Share | float | None) -> str:
    """A figure, or nothing where no row has the label it is about."""
    return "" if isinstance(found, Share) and not found.count else show(found)


def list_tag_rows(published: TagScores, held_out_a: TagScores, held_out_c: TagScores) -> list[tuple[str, ...]]:
    rows = []
    for name, pick, aim, is_least in TAG_FIGURES:
        shown = "" if aim is None else f"{'≥' if is_least else '≤'} {aim:g}"
        verdicts = [
            "" if aim is None else tell_verdict(read_value(pick(scores)), aim, is_least)
            for scores in (held_out_a, held_out_c)
        ]
        figures = [
            text
            for scores in (published, held_out_a, held_out_c)
            for text in (show_judged(pick(scores)), count_rows(pick(scores), scores))
        ]
        rows.append((name, *figures, shown, *verdicts))
    return rows


def read_value(figure: Share | float | None) -> float:
    return figure.value if isinstance(figure, Share) else figure or 0.0


def show(figure: Share | float | None) -> str:
    return "–" if figure is None else f"{read_value(figure):.4f}"


def count_rows(figure: Share | float | None, scores: TagScores) -> str:
    return f"{figure.count if isinstance(figure, Share) else scores.rows:,}"


def make_score_table(scores: Sequence[CategoryScore]) -> list[str]:
    return make_table(
        ("", "rows", "precision", "recall", "F1"),
        [
            (score.name, str(score.expected), f"{score.precision:.2f}", f"{score.recall:.2f}", f"{score.f1:.2f}")
            for score in scores
            if score.expected
        ],
    )
