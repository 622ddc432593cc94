"""How good the analyses of the demo bank's people are: docs/evaluation/people.md."""

from collections.abc import Callable, Sequence
from pathlib import Path

from evaluation_pages.parts import COMMAND, DAYS, SUFFIX, make_table, tell_verdict, wrap, write_plot
from kontor.analysis.tagging import load_tagger
from kontor.cli.demo_truths import Tags
from kontor.cli.evaluation_report import HONEST, draw_contracts, draw_errors, draw_events, draw_intervals
from kontor.cli.people_evaluation import KIND_NAMES, PeopleScores, score_people
from kontor.connectors.demo.people import PERSONAS


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
