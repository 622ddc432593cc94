"""How much a user's corrections improve the user's later bookings: a replay of labelled histories."""

from collections.abc import Sequence
from dataclasses import dataclass

from kontor.analysis.scoring.tag_scores import Labelled
from kontor.analysis.tagging import NOBODY, Tagger


@dataclass(frozen=True, slots=True)
class Replay:
    """Of one person: how many bookings were corrected, and of those after the last correction how many the tagger
    mistakes, how many of these mistakes are gone, and how many bookings are wrong although the tagger was right.

    `learnt` counts all bookings that got another category because of a correction, `learnt_right` the right ones.
    """

    person: str
    bookings: int
    corrections: int
    mistakes: int
    gone: int
    spoilt: int
    learnt: int
    learnt_right: int


def replay(person: str, history: Sequence[Labelled], tagger: Tagger, most: int) -> Replay:
    """The person corrects what is wrong as it comes, `most` times at most. `history` is in the order of days."""
    transactions = [row.transaction for row in history]
    found = [tagging.category for tagging in tagger.tag(transactions, NOBODY)]
    corrected: list[Labelled] = []
    corrections = tagger.learn([], NOBODY)
    mistakes = gone = spoilt = learnt_count = learnt_right = 0
    for row, category in zip(history, found, strict=True):
        [learnt] = tagger.apply(corrections, [row.transaction], NOBODY)
        was_right = category in row.gold.category
        is_right = was_right if learnt is None else learnt.category in row.gold.category
        if learnt is not None:
            learnt_count += 1
            learnt_right += is_right
        if len(corrected) < most:
            if not is_right:
                corrected.insert(0, row)
                corrections = tagger.learn([(old.transaction, old.gold.category[0]) for old in corrected], NOBODY)
            continue
        mistakes += not was_right
        gone += is_right and not was_right
        spoilt += was_right and not is_right
    return Replay(person, len(history), len(corrected), mistakes, gone, spoilt, learnt_count, learnt_right)
