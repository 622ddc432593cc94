"""Confidences that mean what they say: how often a decision with the same kind of reasons was right.

A decision is described by a few small numbers (`Cell`): which kinds of evidence carried it, how heavy they were, and
how close the runner-up came. A logistic model over these, fitted on bookings whose truth is known, gives the
probability; its coefficients are in `data/model/confidences.json`, which `python -m training` writes.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from math import exp

Cell = tuple[str, ...]
Coefficients = Mapping[str, float]
DECISIONS = ("category", "insurance", "partner", "freelancer")
LOWEST, HIGHEST = 0.02, 0.995
SCORES = (1.0, 1.5, 2.0, 2.5, 3.5, 4.5, 6.0, 8.0, 11.0)
MARGINS = (0.001, 0.3, 0.5, 0.7, 0.85)


def score_cell(cell: Cell, coefficients: Coefficients) -> float:
    total = coefficients.get("", 0.0)
    for feature in cell:
        total += coefficients.get(feature, 0.0)
    return min(HIGHEST, max(LOWEST, 1 / (1 + exp(-total))))


class Confidences(dict[Cell, float]):
    """Probabilities of one decision by its cell. Each cell is worked out when it is first met."""

    def __init__(self, coefficients: Coefficients) -> None:
        super().__init__()
        self._coefficients = coefficients

    def __missing__(self, cell: Cell) -> float:
        confidence = self[cell] = round(score_cell(cell, self._coefficients), 4)
        return confidence


@lru_cache(maxsize=1)
def read_tables() -> Mapping[str, Coefficients]:
    file = files("kontor.analysis") / "data" / "model" / "confidences.json"
    if not file.is_file():
        return {}
    tables: Mapping[str, Coefficients] = json.loads(file.read_text(encoding="utf-8"))
    return tables


def load_confidences() -> tuple[Confidences, Confidences, Confidences, Confidences]:
    tables = read_tables()
    category, insurance, partner, freelancer = (Confidences(tables.get(name, {})) for name in DECISIONS)
    return category, insurance, partner, freelancer
