"""What a user's corrections say about the user's later bookings of the same kind.

Bookings are of the same kind when they have the same direction and the same merchant, and when the tagger took both
for the same category, or is not sure, or their purposes have words in common. Merchants are the same if the tagger
knows both as the same partner, or if their names are the same, begin alike, or share a word that is in no list.
Bookings that name nobody are compared by their purposes alone. Bookings before the corrected one stay as they are.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from kontor.analysis.tagging.knowledge import LEGAL_FORMS
from kontor.analysis.tagging.readings import Reading
from kontor.analysis.tagging.taggings import NO_PARTNER, Tagging

# How often a correction is right about another booking: where the tagger took both for the same and the name is the
# same, where the merchant is, and where the tagger took them for different categories. Fitted on labelled histories
# (docs/evaluation/corrections.md).
SAME_NAME, SAME_MERCHANT, OTHER_CATEGORY = 0.98, 0.93, 0.88
# Purposes are alike from here on, as the share of words that both have.
LIKENESS = 0.5
MIN_WORDS = 2
# Names that are written together or cut are the same if this many letters are.
MIN_LETTERS = 8
MIN_MARK_LENGTH = 5
# From here on the tagger's own word about a booking is kept, unless it said the same about the corrected one.
SURE = 0.9


class Learnt(NamedTuple):
    """A category that follows from a correction, the probability that it is right, and which correction it was."""

    category: str
    confidence: float
    number: int


@dataclass(frozen=True, slots=True)
class Kind:
    """What bookings are compared by. Words are without numbers, which differ from booking to booking.

    `name` are the words of the merchant's name, `marks` those of them that belong to this merchant alone, and `words`
    those of the purpose.
    """

    is_incoming: bool
    name: tuple[str, ...]
    marks: frozenset[str]
    words: frozenset[str]
    partner: str
    category: str
    confidence: float
    booked_at: datetime | None = None


def describe_kind(reading: Reading, tagging: Tagging, common: AbstractSet[str], booked_at: datetime | None) -> Kind:
    """`common` are words that many names have."""
    is_collector = reading.has_collector and not reading.has_merchant
    name = () if is_collector or reading.is_unnamed else _list_words(reading.name)
    marks = frozenset(word for word in name if len(word) >= MIN_MARK_LENGTH and word not in common)
    words = frozenset(_list_words(reading.purpose))
    partner = "" if tagging.partner == NO_PARTNER else tagging.partner
    category, confidence = tagging.category, tagging.category_confidence
    return Kind(reading.is_incoming, name, marks, words, partner, category, confidence, booked_at)


def _list_words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split() if word.isalpha() and len(word) > 1 and word not in LEGAL_FORMS)


class Corrections:
    """The kinds of corrected bookings with the categories that the user gave them, the latest first."""

    def __init__(self, corrected: Sequence[tuple[Kind, str]]) -> None:
        self._by_merchant: dict[str, list[tuple[int, Kind, str]]] = {}
        for number, (kind, category) in enumerate(corrected):
            for merchant in _list_merchants(kind):
                self._by_merchant.setdefault(merchant, []).append((number, kind, category))

    def apply(self, kind: Kind, said: str | None = None) -> Learnt | None:
        """What the most similar correction says, the latest of equals; None if that is `said` anyway.

        The tagger's word is said, unless another one is given.
        """
        best: tuple[bool, float, int] | None = None
        learnt: Learnt | None = None
        for merchant in _list_merchants(kind):
            for number, corrected, category in self._by_merchant.get(merchant, ()):
                found = _compare(kind, corrected)
                if found is None:
                    continue
                rank = found.was_same, found.shared, -number
                if best is None or rank > best:
                    best, learnt = rank, Learnt(category, found.confidence, number)
        return None if learnt is None or learnt.category == (said or kind.category) else learnt


def _list_merchants(kind: Kind) -> set[str]:
    """Keys, of which bookings of the same merchant have one in common; those that name nobody have the same."""
    beginning = "".join(kind.name)[:MIN_LETTERS]
    return {kind.partner, beginning, *kind.marks} - {""} or {""}


class Likeness(NamedTuple):
    """Whether the tagger took both for the same, and the share of words that both have."""

    was_same: bool
    shared: float
    confidence: float


def _compare(kind: Kind, corrected: Kind) -> Likeness | None:
    if kind.is_incoming != corrected.is_incoming or _is_earlier(kind.booked_at, corrected.booked_at):
        return None
    common = kind.words & corrected.words
    shared = len(common) / len(kind.words | corrected.words) if common else 0.0
    was_same = kind.category == corrected.category
    if _is_same_merchant(kind, corrected):
        is_alike = was_same or shared >= LIKENESS or kind.confidence < SURE
    else:
        names_nobody = not (kind.name or corrected.name or kind.partner or corrected.partner)
        is_alike = names_nobody and shared >= LIKENESS and len(common) >= MIN_WORDS
    if not is_alike:
        return None
    is_same_name = bool(kind.name) and kind.name == corrected.name
    confidence = (SAME_NAME if is_same_name else SAME_MERCHANT) if was_same else OTHER_CATEGORY
    return Likeness(was_same, shared, confidence)


def _is_earlier(booked_at: datetime | None, other: datetime | None) -> bool:
    return booked_at is not None and other is not None and booked_at < other


def _is_same_merchant(kind: Kind, corrected: Kind) -> bool:
    if kind.partner and corrected.partner:
        return kind.partner == corrected.partner
    return bool(kind.marks & corrected.marks) or _is_same_name(kind.name, corrected.name)


def _is_same_name(name: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Equal, or the beginning of the other one: banks cut names, lose blanks, and add places."""
    shorter, longer = sorted(("".join(name), "".join(other)), key=len)
    return bool(shorter) and (shorter == longer or (len(shorter) >= MIN_LETTERS and longer.startswith(shorter)))
