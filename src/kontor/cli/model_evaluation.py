"""How often the own model names the right category, measured on labelled transactions of the operator's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kontor.analysis.records import NO_PARTNER
from kontor.analysis.scoring.tag_scores import Labelled, Share
from kontor.analysis.tagging import NOBODY, Tagger
from kontor.cli.tag_evaluation import Figure, show_interval
from kontor.domain.errors import ConflictError
from kontor.domain.merchants import MODEL_CONFIDENCE
from kontor.services.merchants import ModelCalls


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row about whose merchant the model would be asked, and what the tagger says instead."""

    merchant: str
    labelled: Labelled
    tagged: str

    def accepts(self, category: str | None) -> bool:
        return category in self.labelled.gold.category

    def accepts_main(self, category: str | None) -> bool:
        mains = {label.partition("_")[0] for label in self.labelled.gold.category}
        return category is not None and category.partition("_")[0] in mains


def list_candidates(labelled: Sequence[Labelled], tagger: Tagger) -> list[Candidate]:
    """One row for each merchant, the first, by the rules for stored transactions."""
    transactions = [row.transaction for row in labelled]
    found: dict[str, Candidate] = {}
    for row, tagging, merchant in zip(
        labelled, tagger.tag(transactions, NOBODY), tagger.name_merchants(transactions, NOBODY), strict=True
    ):
        is_unknown = tagging.partner == NO_PARTNER and tagging.category_confidence < MODEL_CONFIDENCE
        if merchant and is_unknown and row.transaction.amount < 0:
            found.setdefault(merchant, Candidate(merchant, row, tagging.category))
    return list(found.values())


async def ask_about(candidates: Sequence[Candidate], calls: ModelCalls) -> dict[str, str | None]:
    """The model's category for each merchant; None where it names none. The first failed request ends it."""
    answers: dict[str, str | None] = {}
    for candidate in candidates:
        answer = await calls.ask(candidate.merchant)
        if answer.failure is not None:
            raise ConflictError(f"The model failed after {len(answers)} answers: {answer.failure}.")
        answers[candidate.merchant] = answer.category
    return answers


def list_model_figures(candidates: Sequence[Candidate], answers: Mapping[str, str | None]) -> list[Figure]:
    answered = [candidate for candidate in candidates if answers[candidate.merchant] is not None]
    shares = {
        "answered": Share(len(answered), len(candidates)),
        "category right": Share(sum(row.accepts(answers[row.merchant]) for row in answered), len(answered)),
        "main category right": Share(sum(row.accepts_main(answers[row.merchant]) for row in answered), len(answered)),
        "category right by the tagger alone": Share(sum(row.accepts(row.tagged) for row in answered), len(answered)),
    }
    return [(name, round(share.value, 4), share.count, show_interval(share.interval)) for name, share in shares.items()]
