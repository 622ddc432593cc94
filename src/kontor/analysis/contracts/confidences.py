"""How likely a contract is right: an agreement that exists, with its period and status.

A contract is described by a few facts (`describe_certainty`). A logistic model over these, fitted on the demo bank's
people, about whom the truth is known, gives the probability; `scripts/fit_contract_confidences.py` makes its
coefficients.
"""

import json
from bisect import bisect_right
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files

from kontor.analysis.contracts.findings import Contract
from kontor.analysis.records import NO_PARTNER
from kontor.analysis.tagging.calibrating import Cell, Coefficients, score_cell

FILE_NAME = "confidences.json"
_COUNTS = (2, 3, 4, 6, 12)
_SPREAD = Decimal("0.1")


def describe_certainty(contract: Contract) -> Cell:
    """How often it was paid and in which step, how much amounts spread, who is paid, and what the text told."""
    mean = abs(contract.amount_mean)
    told = contract.period_confidence
    return (
        f"n{bisect_right(_COUNTS, len(contract.transaction_ids_regular))}",
        contract.period,
        contract.status.value,
        "spread" if mean and contract.standard_deviation > mean * _SPREAD else "steady",
        "in" if contract.is_income else "out",
        "unknown" if contract.partner == NO_PARTNER else "known",
        "paid" if told is None else f"told{round(told * 10)}",
    )


@lru_cache(maxsize=1)
def _read_coefficients() -> Coefficients:
    text = (files("kontor.analysis.contracts") / FILE_NAME).read_text(encoding="utf-8")
    coefficients: Coefficients = json.loads(text)
    return coefficients


@lru_cache(maxsize=4096)
def score_certainty(cell: Cell) -> float:
    """The probability for that description."""
    return round(score_cell(cell, _read_coefficients()), 4)


def estimate_confidence(contract: Contract) -> float:
    return score_certainty(describe_certainty(contract))
