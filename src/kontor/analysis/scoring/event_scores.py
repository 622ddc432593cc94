"""How good found life events are, against events that are known. Counts, so that scores of many people add up."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date

from kontor.analysis.life_events.findings import LifeEvent

NEAR_DAYS = 35


@dataclass(frozen=True, slots=True)
class KnownEvent:
    """`is_visible` is false where the bookings cannot tell it (yet): finding it is right, missing it is no fault."""

    name: str
    day: date
    is_visible: bool = True


@dataclass(frozen=True, slots=True)
class EventScores:
    """`hits` are found events that are known, `missed` are visible ones that were not found."""

    visible: int = 0
    found: int = 0
    hits: int = 0
    missed: int = 0

    def __add__(self, other: "EventScores") -> "EventScores":
        return EventScores(
            *(getattr(self, attribute.name) + getattr(other, attribute.name) for attribute in fields(self))
        )

    @property
    def precision(self) -> float:
        return self.hits / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return 1 - self.missed / self.visible if self.visible else 1.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def match_events(
    found: Sequence[LifeEvent], known: Sequence[KnownEvent]
) -> tuple[list[tuple[LifeEvent, KnownEvent]], list[LifeEvent], list[KnownEvent]]:
    """Pairs of one name, one to one, the nearest days first; then what was found too much, and what was missed."""
    distances = sorted(
        (abs((event.day - truth.day).days), place, other)
        for place, event in enumerate(found)
        for other, truth in enumerate(known)
        if event.name == truth.name and abs((event.day - truth.day).days) <= NEAR_DAYS
    )
    taken_found: set[int] = set()
    taken_known: set[int] = set()
    pairs = []
    for _, place, other in distances:
        if place not in taken_found and other not in taken_known:
            taken_found.add(place)
            taken_known.add(other)
            pairs.append((found[place], known[other]))
    return (
        pairs,
        [event for place, event in enumerate(found) if place not in taken_found],
        [truth for place, truth in enumerate(known) if place not in taken_known and truth.is_visible],
    )


def score_events(found: Sequence[LifeEvent], known: Sequence[KnownEvent]) -> EventScores:
    """Scores of one person."""
    pairs, _, missed = match_events(found, known)
    return EventScores(sum(truth.is_visible for truth in known), len(found), len(pairs), len(missed))
