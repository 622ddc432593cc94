"""Confidences of the tagger's decisions, fitted on bookings whose truth is known, and cross-validated."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from kontor.analysis.scoring.calibration import find_auroc, find_brier_score, find_calibration_error
from kontor.analysis.scoring.tag_scores import fold_name
from kontor.analysis.tagging.calibrating import Cell, count_cells, fit, score_cell
from kontor.analysis.tagging.model_priors import MODEST
from kontor.analysis.tagging.prepared_knowledge import find_partner
from kontor.analysis.tagging.taggers import Tagger
from kontor.analysis.tagging.taggings import NO_PARTNER
from training.samples import Sample, is_in_half, list_demo_samples

# How often an error on a labelled row counts: the tagger was improved with these rows, and new ones show about three
# times as many errors.
ERRORS_WEIGH, FOLDS = 3, 5


def judge(sample: Sample, tagger: Tagger) -> dict[str, tuple[Cell, bool]]:
    """Each decision's cell, and whether it was right."""
    decision = tagger.decide(sample.transaction, sample.own)
    is_right = decision.category in sample.categories
    judged = {"category": (decision.category_cell, is_right)}
    if sample.insurance_types:
        judged["insurance"] = (decision.insurance_cell, decision.insurance_type in sample.insurance_types)
    if sample.partners:
        partner = find_partner(decision.partner)
        names = {fold_name(name) for name in (partner.names if partner is not None else (NO_PARTNER,))}
        judged["partner"] = (decision.partner_cell, not names.isdisjoint(sample.partners))
    # Where nothing else is known, a freelancer category is as right as the category it follows from.
    is_followed = not sample.freelancer_categories or decision.freelancer_category in sample.freelancer_categories
    judged["freelancer"] = (decision.freelancer_cell, is_followed and (is_right or bool(sample.freelancer_categories)))
    return judged


def weigh_errors(judged: list[tuple[Sample, Cell, bool]]) -> Iterator[tuple[Cell, bool]]:
    """The knowledge was improved on labelled rows, so that it errs more often on others."""
    for sample, cell, is_right in judged:
        for _ in range(ERRORS_WEIGH if sample.is_labelled and not is_right else 1):
            yield cell, is_right


def validate(judged: list[tuple[Sample, Cell, bool]]) -> str:
    """Scores of confidences that were fitted without the rows they are about."""
    pairs = []
    for fold_number in range(FOLDS):
        kept = [judgement for judgement in judged if crc32(judgement[0].id.encode()) % FOLDS != fold_number]
        table = fit(count_cells(weigh_errors(kept)), rounds=600)
        tested = [
            judgement
            for judgement in judged
            if crc32(judgement[0].id.encode()) % FOLDS == fold_number and judgement[0].is_labelled
        ]
        pairs += [(score_cell(cell, table), is_right) for _, cell, is_right in tested]
    auroc = find_auroc(pairs)
    right = sum(is_right for _, is_right in pairs)
    return (
        f"{right}/{len(pairs)} right, calibration error {find_calibration_error(pairs):.4f}, "
        f"Brier {find_brier_score(pairs):.4f}, AUROC {auroc or 0:.3f}"
    )


def fit_confidences(samples: list[Sample], taggers: tuple[Tagger, Tagger], folder: Path) -> None:
    """Each tagger judges the half of the samples that its model has not seen."""
    judged = defaultdict(list)
    guessed: list[tuple[Sample, Cell, bool]] = []
    for sample in [*samples, *list_demo_samples()]:
        tagger = taggers[is_in_half(sample, 1)]
        for name, (cell, is_right) in judge(sample, tagger).items():
            judged[name].append((sample, cell, is_right))
        if sample.is_labelled:
            # The knowledge was improved with these rows, so that the model is hardly ever asked for them. How good it
            # is where nothing else speaks is seen by asking it for all of them.
            # A modest category is for shops that nothing is known of, which these are not.
            category, cell = tagger.guess(sample.transaction)
            if MODEST not in cell:
                guessed.append((sample._replace(is_labelled=False), cell, category in sample.categories))
    judged["category"] += guessed
    if samples:
        for name, decisions in sorted(judged.items()):
            print(f"{name}, cross-validated: {validate(decisions)}")
    tables = {name: fit(count_cells(weigh_errors(decisions))) for name, decisions in sorted(judged.items())}
    (folder / "confidences.json").write_text(json.dumps(tables, indent=1, sort_keys=True) + "\n", encoding="utf-8")
