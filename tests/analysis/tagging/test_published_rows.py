"""The tagger on the published judge rows: what was reached once must not be lost. Floors lie a little below it."""

from pathlib import Path

import pytest

from kontor.analysis.scoring.tag_scores import Judged, TagScores, score_tags
from kontor.analysis.tagging import NOBODY, find_partner, load_tagger
from kontor.wire.labelled_rows import read_labelled

PUBLISHED = Path(__file__).parents[3] / "evaluation" / "transactions" / "published.jsonl"


@pytest.fixture(scope="module")
def scores() -> TagScores:
    labelled = list(read_labelled(PUBLISHED.read_bytes().splitlines()))
    taggings = load_tagger().tag([row.transaction for row in labelled], NOBODY)
    judged = []
    for row, found in zip(labelled, taggings, strict=True):
        partner = find_partner(found.partner)
        judged.append(Judged(row, found, partner.names if partner is not None else (found.partner,)))
    return score_tags(judged)


@pytest.mark.parametrize(
    ("figure", "floor"),
    [
        ("main", 0.965),
        ("category", 0.95),
        ("insurance_division", 0.955),
        ("insurance_product", 0.935),
        ("partner", 0.945),
        ("freelancer", 0.93),
    ],
)
def test_published_rows_are_tagged_as_well_as_before(scores: TagScores, figure: str, floor: float) -> None:
    assert getattr(scores, figure).value >= floor


@pytest.mark.parametrize(("figure", "ceiling"), [("false_insurance", 0.005), ("false_partner", 0.065)])
def test_nothing_is_seen_in_published_rows_that_is_not_there(scores: TagScores, figure: str, ceiling: float) -> None:
    assert getattr(scores, figure).value <= ceiling


def test_confidences_on_published_rows_mean_what_they_say(scores: TagScores) -> None:
    # They are fitted for rows that nobody has read, on which the tagger errs more often than on these.
    assert scores.calibration_error <= 0.05
    assert scores.brier <= 0.045
    assert scores.auroc is not None
    assert scores.auroc >= 0.78
