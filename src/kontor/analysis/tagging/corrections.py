"""What a user's corrections say about the user's later bookings of the same kind.

Bookings are of the same kind when they have the same direction and the same merchant (the tagger's partner, or the name
as it was read), and when the tagger took both for the same category, or their purposes have words in common. Bookings
that name nobody are compared by their purposes alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kontor.analysis.tagging.knowledge import LEGAL_FORMS
from kontor.analysis.tagging.readings import Reading
from kontor.analysis.tagging.taggings import NO_PARTNER, Tagging

# How often corrections are right about other bookings, by how alike both are: fitted on labelled histories
# (`kontor evaluate --corrections`, docs/evaluation/corrections.md).
SAME_MERCHANT, SAME_WORDS = 0.95, 0.9
# Purposes are alike from here on, as the share of words that both have.
LIKENESS = 0.5
FEWEST_WORDS = 2
# From here on the tagger's own word about a booking is kept, unless it said the same about the corrected one.
SURE = 0.9


class Learnt(NamedTuple):
    """A category that follows from a correction, and the probability that it is right."""

    category: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Kind:
    """What bookings are compared by. `name` and `words` are without numbers, which differ from booking to booking."""

    is_incoming: bool
    name: tuple[str, ...]
    words: frozenset[str]
    partner: str
    category: str
    confidence: float


def describe_kind(reading: Reading, tagging: Tagging) -> Kind:
    is_collector = reading.has_collector and not reading.has_merchant
    name = () if is_collector or reading.is_unnamed else _list_words(reading.name)
    words = frozenset(_list_words(reading.purpose))
    partner = "" if tagging.partner == NO_PARTNER else tagging.partner
    return Kind(reading.is_incoming, name, words, partner, tagging.category, tagging.category_confidence)


def _list_words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split() if word.isalpha() and len(word) > 1 and word not in LEGAL_FORMS)


class Corrections:
    """The kinds of corrected bookings with the categories that the user gave them, the latest first."""

    def __init__(self, corrected: Sequence[tuple[Kind, str]]) -> None:
        self._by_merchant: dict[str, list[tuple[int, Kind, str]]] = {}
        for number, (kind, category) in enumerate(corrected):
            for merchant in _list_merchants(kind):
                self._by_merchant.setdefault(merchant, []).append((number, kind, category))

    def apply(self, kind: Kind) -> Learnt | None:
        """What the most similar correction says, the latest of equals; None if the tagger says the same."""
        best: tuple[bool, float, int] | None = None
        learnt: Learnt | None = None
        for merchant in _list_merchants(kind):
            for number, corrected, category in self._by_merchant.get(merchant, ()):
                found = _compare(kind, corrected)
                rank = None if found is None else (found.was_same, found.shared, -number)
                if found is not None and rank is not None and (best is None or rank > best):
                    best, learnt = rank, Learnt(category, found.confidence)
        return None if learnt is None or learnt.category == kind.category else learnt


def _list_merchants(kind: Kind) -> set[str]:
    """Keys under which bookings of the same merchant are found; those that name nobody have one key together."""
    return {kind.partner, *kind.name[:1]} - {""} or {""}


class Likeness(NamedTuple):
    """Whether the tagger took both for the same, and the share of words that both have."""

    was_same: bool
    shared: float
    confidence: float


def _compare(kind: Kind, corrected: Kind) -> Likeness | None:
    if kind.is_incoming != corrected.is_incoming:
        return None
    common = kind.words & corrected.words
    shared = len(common) / len(kind.words | corrected.words) if common else 0.0
    was_same = kind.category == corrected.category
    if _is_same_merchant(kind, corrected):
        is_alike = was_same or shared >= LIKENESS or kind.confidence < SURE
        return Likeness(was_same, shared, SAME_MERCHANT) if is_alike else None
    names_nobody = not (kind.name or corrected.name or kind.partner or corrected.partner)
    is_alike = names_nobody and shared >= LIKENESS and len(common) >= FEWEST_WORDS
    return Likeness(was_same, shared, SAME_WORDS) if is_alike else None


def _is_same_merchant(kind: Kind, corrected: Kind) -> bool:
    if kind.partner and corrected.partner:
        return kind.partner == corrected.partner
    return _is_same_name(kind.name, corrected.name)


def _is_same_name(name: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Equal, or the beginning of the other one: banks cut names, and add places to them."""
    shorter, longer = sorted((" ".join(name), " ".join(other)), key=len)
    if not shorter:
        return False
    return shorter == longer or (len(shorter.split()) >= FEWEST_WORDS and longer.startswith(shorter))
