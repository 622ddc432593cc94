"""Writes docs/evaluation: how good tags and analyses are, with plots. `./dev evaluate` runs it.

    python scripts/publish_evaluation.py [--only tags|people|confidences] [--target docs/evaluation]

Rows of held-out files are never shown: only figures of all of them together are written.
"""

import argparse
import sys
import textwrap
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from kontor.analysis.contracts.confidences import score_certainty
from kontor.analysis.scoring.calibration import find_calibration_error, find_calibration_interval, make_bins
from kontor.analysis.scoring.tag_scores import CategoryScore, Share, TagScores, score_tags
from kontor.analysis.tagging import load_tagger
from kontor.cli.contract_confidences import judge_contracts
from kontor.cli.data_sets import MANIFEST_NAME, load_manifest
from kontor.cli.demo_truths import Tags
from kontor.cli.evaluation_plots import draw_bars, draw_reliability
from kontor.cli.evaluation_report import HONEST, draw_contracts, draw_errors, draw_events, draw_intervals
from kontor.cli.people_evaluation import KIND_NAMES, PeopleScores, score_people
from kontor.cli.tag_evaluation import judge, read_files
from kontor.connectors.demo.people import PERSONAS

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "evaluation/transactions"
COMMAND = "./dev evaluate"
SHOWN_CONFUSIONS = 20
PUBLISHED, HELD_OUT_A, HELD_OUT_C = "published.jsonl", "held_out_2026_11_a.jsonl", "held_out_2026_11_c.jsonl"
AIMS = ("aim", "held out (a) reaches it", "held out (c) reaches it")
HELD_OUT_C_REMARK = (
    "The rows of held-out set c are by authors who had seen neither the lexicon nor any other row. They were written"
    " last, and nobody has read the mistakes in them."
)
# Logins of their own: neither tests nor the training of the category model have seen these people.
SUFFIX = "+published"
DAYS = (date(2025, 9, 18), date(2026, 11, 26))


def main() -> None:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--only", choices=("tags", "people", "confidences"), help="write this page alone")
    parser.add_argument("--target", type=Path, default=ROOT / "docs/evaluation")
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    for name, publish in (("tags", publish_tags), ("people", publish_people), ("confidences", publish_confidences)):
        if options.only in (None, name):
            publish(options.target)
    print(f"Written to {options.target}.")


# Tags


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


def tell_verdict(value: float, aim: float, is_least: bool) -> str:
    return "yes" if (value >= aim if is_least else value <= aim) else "no"


def make_score_table(scores: Sequence[CategoryScore]) -> list[str]:
    return make_table(
        ("", "rows", "precision", "recall", "F1"),
        [
            (score.name, str(score.expected), f"{score.precision:.2f}", f"{score.recall:.2f}", f"{score.f1:.2f}")
            for score in scores
            if score.expected
        ],
    )


# People


def publish_people(target: Path) -> None:
    visits = [(login + SUFFIX, day) for day in DAYS for login in PERSONAS]
    by_truth, by_tagger = (score_people(visits, tags) for tags in (Tags.TRUTH, Tags.TAGGER))
    plots = {"coverage": draw_intervals, "errors": draw_errors, "contracts": draw_contracts, "events": draw_events}
    for name, draw in plots.items():
        write_plot(target / f"people-{name}.svg", draw(by_tagger))
    (target / "people.md").write_text(make_people_page(by_truth, by_tagger), encoding="utf-8")


def make_people_page(by_truth: PeopleScores, by_tagger: PeopleScores) -> str:
    parts = [*introduce_people(by_truth, by_tagger), *describe_forecasts(by_tagger), *describe_findings(by_tagger)]
    return "\n".join(parts)


def introduce_people(by_truth: PeopleScores, by_tagger: PeopleScores) -> list[str]:
    days = " and ".join(str(day) for day in DAYS)
    return [
        "# How well people are understood",
        "",
        f"Written by `{COMMAND}`; do not edit. Tagger {load_tagger().version}.",
        "",
        *wrap(
            f"Judged on the demo bank's {len(PERSONAS)} kinds of people under logins that no test and no training has"
            f" seen, looked at on {days}: their contracts, life events and next months are known."
        ),
        "",
        *wrap(
            "**This is no independent judge.** The generator that made these people and the rules that are judged come"
            " from the same authors: what the authors did not think of is missing in both. A good score says that the"
            " rules do what they are meant to do. Hand-made cases of each difficulty are in `tests/analysis`."
        ),
        "",
        *wrap(
            "The first column reads the true tags of the bookings, the second what the tagger makes of them, as in real"
            " use. For forecasts both compare with what came, sorted by the same tags. Everybody can repeat it for one"
            " person:"
        ),
        "",
        "```sh",
        f"./dev kontor evaluate --people familie{SUFFIX} --today {DAYS[-1]} --tags tagger --report report.html",
        "```",
        "",
        *make_table(
            ("", "true tags", "of", "tagger's tags", "of", "aim", "reached"), list_people_rows(by_truth, by_tagger)
        ),
        "",
    ]


def describe_forecasts(by_tagger: PeopleScores) -> list[str]:
    return [
        "## Are the intervals of forecasts honest?",
        "",
        *wrap(
            "An interval is meant to hold 80 % of outcomes. Months that are certain have no width and are left out of"
            " the plot. All plots are of the tagger's tags."
        ),
        "",
        "![How often the outcome lies within the interval](people-coverage.svg)",
        "",
        "## Are forecasts better than naive ones?",
        "",
        *wrap(
            "Forecasts of the current and the next month, made on four days of the past year. The interval score (lower"
            " is better) is the width of an interval, and ten times what an outcome lies outside of it."
        ),
        "",
        "![Mean error of a forecast](people-errors.svg)",
        "",
        *make_table(
            (
                "",
                "forecasts",
                "interval score, EUR",
                "last month again",
                "mean of 12 months",
                "covered",
                "covered, with a width",
            ),
            list_forecast_rows(by_tagger),
        ),
        "",
    ]


def describe_findings(by_tagger: PeopleScores) -> list[str]:
    return [
        "## Contracts",
        "",
        "![Precision and recall of each person](people-contracts.svg)",
        "",
        "## Life events",
        "",
        "Found within 35 days of the truth. What the bookings cannot show yet is not asked for.",
        "",
        "![Precision and recall of each kind of event](people-events.svg)",
        "",
        *make_table(
            ("", "to be found", "found", "right", "missed"),
            [
                (name, str(scores.visible), str(scores.found), str(scores.hits), str(scores.missed))
                for name, scores in by_tagger.events_by_name.items()
            ],
        ),
        "",
    ]


PeoplePick = Callable[[PeopleScores], tuple[float, int]]
PEOPLE_FIGURES: Sequence[tuple[str, PeoplePick, float | None, bool]] = (
    ("contracts: F1", lambda scores: (scores.contracts.f1, scores.contracts.known), 0.97, True),
    ("contracts: precision", lambda scores: (scores.contracts.precision, scores.contracts.found), None, True),
    ("contracts: recall", lambda scores: (scores.contracts.recall, scores.contracts.known), None, True),
    ("period right", lambda scores: (scores.contracts.period_accuracy, scores.contracts.hits), 0.98, True),
    ("status right", lambda scores: (scores.contracts.status_accuracy, scores.contracts.hits), 0.98, True),
    ("next date exact", lambda scores: (scores.contracts.next_exact, scores.contracts.nexts), 0.90, True),
    ("next date within 3 days", lambda scores: (scores.contracts.next_near, scores.contracts.nexts), 0.98, True),
    (
        "everyday purchases inside a contract",
        lambda scores: (scores.contracts.purchases_share, scores.contracts.purchases),
        0.01,
        False,
    ),
    ("sums of months exact", lambda scores: (scores.months.value, scores.months.count), 1.0, True),
    ("life events: precision", lambda scores: (scores.events.precision, scores.events.found), 0.90, True),
    ("life events: recall", lambda scores: (scores.events.recall, scores.events.visible), 0.90, True),
    ("tags: main category right", lambda scores: (scores.main.value, scores.main.count), 0.97, True),
    ("tags: category right", lambda scores: (scores.category.value, scores.category.count), 0.93, True),
)


def list_people_rows(by_truth: PeopleScores, by_tagger: PeopleScores) -> list[tuple[str, ...]]:
    rows = []
    for name, pick, aim, is_least in PEOPLE_FIGURES:
        (first, first_count), (second, second_count) = pick(by_truth), pick(by_tagger)
        shown = "" if aim is None else f"{'≥' if is_least else '≤'} {aim:g}"
        is_given = name.startswith("tags:")  # with true tags, tags are right
        verdict = "" if aim is None else tell_verdict(second, aim, is_least)
        before = ("–", "") if is_given else (f"{first:.4f}", f"{first_count:,}")
        rows.append((name, *before, f"{second:.4f}", f"{second_count:,}", shown, verdict))
    for kind, name in KIND_NAMES.items():
        first, second = by_truth.forecasts[kind], by_tagger.forecasts[kind]
        errors = [
            f"{forecast.ours.mean_error / min(forecast.last.mean_error, forecast.mean.mean_error):.2f}"
            for forecast in (first, second)
        ]
        counts = [f"{forecast.ours.count:,}" for forecast in (first, second)]
        verdict = "yes" if float(errors[1]) < 1 else "no"
        label = f"forecasts, {name}: error by that of the better naive one"
        rows.append((label, errors[0], counts[0], errors[1], counts[1], "< 1", verdict))
        covered, stated = (
            [f"{forecast.ours.stated_coverage:.4f}" for forecast in (first, second)],
            [f"{forecast.ours.stated:,}" for forecast in (first, second)],
        )
        is_honest = HONEST[0] <= second.ours.stated_coverage <= HONEST[1]
        aim_text = f"{HONEST[0]:g} – {HONEST[1]:g}"
        label = f"forecasts, {name}: outcomes within the interval"
        rows.append((label, covered[0], stated[0], covered[1], stated[1], aim_text, "yes" if is_honest else "no"))
    return rows


def list_forecast_rows(scores: PeopleScores) -> list[tuple[str, ...]]:
    rows = []
    for kind, name in KIND_NAMES.items():
        forecast = scores.forecasts[kind]
        spans = (
            forecast.ours.mean_interval_score,
            forecast.last.mean_interval_score,
            forecast.mean.mean_interval_score,
        )
        shares = (forecast.ours.coverage, forecast.ours.stated_coverage)
        rows.append(
            (
                name,
                f"{forecast.ours.count:,}",
                *(f"{span:,.2f}" for span in spans),
                *(f"{share:.1%}" for share in shares),
            )
        )
    return rows


# Confidences of contracts


def publish_confidences(target: Path) -> None:
    pairs = [
        (score_certainty(cell), is_right)
        for day in DAYS
        for login in PERSONAS
        for cell, is_right in judge_contracts(login + SUFFIX, day, Tags.TAGGER)
    ]
    bins = make_bins(pairs)
    write_plot(target / "contract-confidences.svg", draw_reliability(bins, "Contracts: is the confidence honest?"))
    (target / "contract-confidences.md").write_text(make_confidences_page(pairs), encoding="utf-8")


def make_confidences_page(pairs: Sequence[tuple[float, bool]]) -> str:
    days = " and ".join(str(day) for day in DAYS)
    low, high = find_calibration_interval(pairs)
    right = sum(is_right for _, is_right in pairs)
    rows = [(f"{span.confidence:.4f}", f"{span.accuracy:.4f}", f"{span.count:,}") for span in make_bins(pairs)]
    lines = [
        "# How sure contracts are",
        "",
        f"Written by `{COMMAND}`; do not edit.",
        "",
        *wrap(
            "The `confidenceLevel` of a contract is the estimated probability that the agreement exists, with its"
            " period and status. It is fitted on the demo bank's people under other logins and on other days"
            " (`scripts/fit_contract_confidences.py`), and tested here on people that were held out, looked at on"
            f" {days} with the tagger's tags. They are made by the same generator: real accounts are harder."
        ),
        "",
        *make_table(
            ("", "value", "of"),
            [
                ("right", f"{right / len(pairs):.4f}", f"{len(pairs):,}"),
                ("calibration error", f"{find_calibration_error(pairs):.4f}", f"{len(pairs):,}"),
                ("… 95 % interval", f"{low:.4f} – {high:.4f}", f"{len(pairs):,}"),
            ],
        ),
        "",
        *make_table(("mean confidence", "right", "contracts"), rows),
        "",
        "![Is the confidence of contracts honest?](contract-confidences.svg)",
        "",
    ]
    return "\n".join(lines)


# Parts


def make_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = ["---", *("---:" for _ in headings[1:])]
    return [f"| {' | '.join(row)} |" for row in (headings, marks, *rows)]


def wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def write_plot(path: Path, picture: str) -> None:
    path.write_text(picture + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
