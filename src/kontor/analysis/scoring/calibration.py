"""Is a confidence worth anything? Calibration error, Brier score and AUROC of (confidence, was right) pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

BINS = 10
NORMAL_95 = 1.959964
SAMPLES, SEED = 200, 7


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar confidence: how sure they were on average, and how often they were right."""

    count: int
    confidence: float
    accuracy: float


def make_bins(pairs: Sequence[tuple[float, bool]]) -> list[Bin]:
    """Ten equal spans of confidence; empty ones are left out."""
    groups: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for confidence, is_right in pairs:
        groups[min(int(confidence * BINS), BINS - 1)].append((confidence, is_right))
    return [
        Bin(len(group), sum(pair[0] for pair in group) / len(group), sum(pair[1] for pair in group) / len(group))
        for group in groups
        if group
    ]


def find_calibration_error(pairs: Sequence[tuple[float, bool]]) -> float:
    """The mean gap between confidence and accuracy, weighted by how many answers have it."""
    if not pairs:
        return 0.0
    return sum(bucket.count * abs(bucket.confidence - bucket.accuracy) for bucket in make_bins(pairs)) / len(pairs)


def find_interval(hits: int, count: int) -> tuple[float, float]:
    """The Wilson interval of a share at 95 %."""
    if not count:
        return 0.0, 0.0
    share, spread = hits / count, NORMAL_95**2 / count
    centre = (share + spread / 2) / (1 + spread)
    width = NORMAL_95 / (1 + spread) * (share * (1 - share) / count + spread / (4 * count)) ** 0.5
    return max(0.0, centre - width), min(1.0, centre + width)


def find_calibration_interval(pairs: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """The calibration error of 95 in 100 samples that are drawn from these answers; the same for the same answers."""
    if not pairs:
        return 0.0, 0.0
    draw = Random(SEED)  # noqa: S311 (no secret)
    errors = sorted(find_calibration_error(draw.choices(pairs, k=len(pairs))) for _ in range(SAMPLES))
    return errors[round(SAMPLES * 0.025)], errors[round(SAMPLES * 0.975) - 1]


def find_brier_score(pairs: Sequence[tuple[float, bool]]) -> float:
    if not pairs:
        return 0.0
    return sum((confidence - is_right) ** 2 for confidence, is_right in pairs) / len(pairs)


def find_auroc(pairs: Sequence[tuple[float, bool]]) -> float | None:
    """How often a right answer is surer than a wrong one (ties count half); None where one kind is missing."""
    rights = sum(is_right for _, is_right in pairs)
    wrongs = len(pairs) - rights
    if not rights or not wrongs:
        return None
    ranks, ordered, start = 0.0, sorted(pairs), 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end][0] == ordered[start][0]:
            end += 1
        ranks += (start + 1 + end) / 2 * sum(pair[1] for pair in ordered[start:end])
        start = end
    return (ranks - rights * (rights + 1) / 2) / (rights * wrongs)
