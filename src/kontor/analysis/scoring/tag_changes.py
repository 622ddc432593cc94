"""What a change of lexicon or code does to labelled transactions: each tag before and after, right or wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kontor.analysis.scoring.tag_scores import Judged, Labelled, has_partner, name_main


class Effect(StrEnum):
    TURNED_WRONG = "turned wrong"
    TURNED_RIGHT = "turned right"
    STILL_WRONG = "changed, still wrong"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said of one tag, which labels are accepted, and whether it is one of them."""

    said: str
    accepted: tuple[str, ...]
    is_right: bool


@dataclass(frozen=True, slots=True)
class TagChange:
    labelled: Labelled
    tag: str
    accepted: tuple[str, ...]
    before: str
    after: str
    effect: Effect


def judge_tags(judged: Judged) -> dict[str, Verdict]:
    """A verdict on each tag that the transaction has a label for."""
    found, gold = judged.found, judged.labelled.gold
    verdicts = {
        "main category": _judge(name_main(found.category), tuple(name_main(label) for label in gold.category)),
        "category": _judge(found.category, gold.category),
        "insurance division": _judge(
            name_main(found.insurance_type), tuple(name_main(label) for label in gold.insurance_type)
        ),
        "insurance product": _judge(found.insurance_type, gold.insurance_type),
        "partner": Verdict(found.partner, gold.partner, has_partner(judged)),
        "freelancer category": _judge(found.freelancer_category, gold.freelancer_category),
    }
    return {tag: verdict for tag, verdict in verdicts.items() if verdict.accepted}


def _judge(said: str, accepted: tuple[str, ...]) -> Verdict:
    return Verdict(said, accepted, said in accepted)


def find_changes(before: Sequence[Judged], after: Sequence[Judged]) -> Iterator[TagChange]:
    """Changes from wrong to right, from right to wrong, and from one wrong answer to another, in the order of rows."""
    for old, new in zip(before, after, strict=True):
        new_verdicts = judge_tags(new)
        for tag, was in judge_tags(old).items():
            verdict = new_verdicts[tag]
            effect = _name_effect(was, verdict)
            if effect is not None:
                yield TagChange(new.labelled, tag, verdict.accepted, was.said, verdict.said, effect)


def _name_effect(before: Verdict, after: Verdict) -> Effect | None:
    if before.is_right != after.is_right:
        return Effect.TURNED_RIGHT if after.is_right else Effect.TURNED_WRONG
    return Effect.STILL_WRONG if not after.is_right and before.said != after.said else None
