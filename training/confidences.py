"""Confidences of the tagger's decisions, fitted on bookings whose truth is known, and cross-validated."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from kontor.analysis.scoring.calibration import find_auroc, find_brier_score, find_calibration_error
from kontor.analysis.scoring.tag_scores import fold_name
from kontor.analysis.tagging.calibrating import Cell, score_cell
from kontor.analysis.tagging.category_models import CategoryModel
from kontor.analysis.tagging.knowledge import Knowledge, build_knowledge
from kontor.analysis.tagging.lexicons import load_keywords, load_rules
from kontor.analysis.tagging.model_priors import MODEST
from kontor.analysis.tagging.partners import Partner
from kontor.analysis.tagging.prepared_knowledge import find_partner, read_all_partners
from kontor.analysis.tagging.taggers import Tagger, make_tagger
from kontor.analysis.tagging.taggings import NO_PARTNER
from training.logistic import count_cells, fit
from training.samples import Sample, is_in_half, list_demo_samples

# How often an error on a labelled row counts: the tagger was improved with these rows, and new ones show about three
# times as many errors.
ERRORS_WEIGH, FOLDS = 3, 5


class Judgement(NamedTuple):
    """What was decided about a booking, as the cell of its confidence. `is_known` says that the partner was not taken
    out of the knowledge."""

    sample: Sample
    cell: Cell
    is_right: bool
    is_known: bool = True


def judge(sample: Sample, tagger: Tagger) -> dict[str, tuple[Cell, bool]]:
    """Each decision's cell, and whether it was right."""
    decision = tagger.decide(sample.transaction, sample.own)
    is_right = decision.category in sample.categories
    judged = {"category": (decision.category_cell, is_right)}
    if sample.insurance_types:
        judged["insurance"] = (decision.insurance_cell, decision.insurance_type in sample.insurance_types)
    if sample.partners:
        judged["partner"] = (decision.partner_cell, is_named(find_partner(decision.partner), sample))
    # Where nothing else is known, a freelancer category is as right as the category it follows from.
    is_followed = not sample.freelancer_categories or decision.freelancer_category in sample.freelancer_categories
    judged["freelancer"] = (decision.freelancer_cell, is_followed and (is_right or bool(sample.freelancer_categories)))
    return judged


def is_named(partner: Partner | None, sample: Sample) -> bool:
    """Whether the labels of a booking accept that partner, or none."""
    names = (NO_PARTNER,) if partner is None else partner.names
    return not {fold_name(name) for name in names}.isdisjoint(sample.partners)


def weigh_errors(judged: Sequence[Judgement]) -> Iterator[tuple[Cell, bool]]:
    """The knowledge was improved on labelled rows, so that it errs more often on others; not where it was taken out."""
    for sample, cell, is_right, is_known in judged:
        for _ in range(ERRORS_WEIGH if sample.is_labelled and is_known and not is_right else 1):
            yield cell, is_right


def validate(judged: Sequence[Judgement]) -> str:
    """Scores of confidences that were fitted without the rows they are about."""
    pairs = []
    for fold_number in range(FOLDS):
        kept = [judgement for judgement in judged if number_fold(judgement.sample.id) != fold_number]
        table = fit(count_cells(weigh_errors(kept)))
        pairs += [
            (score_cell(judgement.cell, table), judgement.is_right)
            for judgement in judged
            if judgement.sample.is_labelled and number_fold(judgement.sample.id) == fold_number
        ]
    auroc = find_auroc(pairs)
    right = sum(is_right for _, is_right in pairs)
    return (
        f"{right}/{len(pairs)} right, calibration error {find_calibration_error(pairs):.4f}, "
        f"Brier {find_brier_score(pairs):.4f}, AUROC {auroc or 0:.3f}"
    )


def number_fold(name: str) -> int:
    return crc32(name.encode()) % FOLDS


def name_house(partner: Partner) -> str:
    return partner.group or partner.name


def forget_houses(fold_number: int) -> Knowledge:
    """The knowledge without a part of the partners: all brands of a house go together."""
    partners = [partner for partner in read_all_partners() if number_fold(name_house(partner)) != fold_number]
    return build_knowledge(partners, load_keywords(), load_rules())


def judge_forgotten(
    samples: Sequence[Sample], taggers: Sequence[Tagger], models: Sequence[CategoryModel]
) -> Iterator[tuple[str, Judgement]]:
    """Each labelled booking whose partner is found, decided once more by taggers that do not know this partner. None is
    the right one then."""
    folds: list[list[Sample]] = [[] for _ in range(FOLDS)]
    for sample in samples:
        found = find_partner(taggers[is_in_half(sample, 1)].decide(sample.transaction, sample.own).partner)
        if found is not None and is_named(found, sample):
            partners = (*sample.partners, fold_name(NO_PARTNER))
            folds[number_fold(name_house(found))].append(sample._replace(partners=partners))
    for fold_number, forgotten in enumerate(folds):
        knowledge = forget_houses(fold_number)
        forgetful = [make_tagger(model, knowledge) for model in models]
        for sample in forgotten:
            for name, (cell, is_right) in judge(sample, forgetful[is_in_half(sample, 1)]).items():
                yield name, Judgement(sample, cell, is_right, is_known=False)


def fit_confidences(samples: Sequence[Sample], models: tuple[CategoryModel, CategoryModel], folder: Path) -> None:
    """Each model judges the half of the samples that it has not seen."""
    judged: dict[str, list[Judgement]] = defaultdict(list)
    taggers = [make_tagger(model) for model in models]
    for sample in [*samples, *list_demo_samples()]:
        tagger = taggers[is_in_half(sample, 1)]
        for name, (cell, is_right) in judge(sample, tagger).items():
            judged[name].append(Judgement(sample, cell, is_right))
    for name, judgement in judge_forgotten(samples, taggers, models):
        judged[name].append(judgement)
    judged["category"] += list_guesses(samples, taggers)
    if samples:
        for name, decisions in sorted(judged.items()):
            print(f"{name}, cross-validated: {validate(decisions)}")
    tables = {name: fit(count_cells(weigh_errors(decisions))) for name, decisions in sorted(judged.items())}
    (folder / "confidences.json").write_text(json.dumps(tables, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def list_guesses(samples: Sequence[Sample], taggers: Sequence[Tagger]) -> Iterator[Judgement]:
    """How good the model is where nothing else speaks: the knowledge was improved with labelled rows, so that the model
    is hardly ever asked for them. A modest category is for shops that nothing is known of, which these are not."""
    for sample in samples:
        category, cell = taggers[is_in_half(sample, 1)].guess(sample.transaction)
        if sample.is_labelled and MODEST not in cell:
            yield Judgement(sample._replace(is_labelled=False), cell, category in sample.categories)
