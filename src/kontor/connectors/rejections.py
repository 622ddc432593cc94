"""Rows that a connector could not read, as a problem of their account."""

from collections.abc import Sequence

from kontor.connectors.base import Problem, ProblemKind
from kontor.connectors.statements import RejectedRow

SHOWN = 3


def report_rejected(key: str, rejected: Sequence[RejectedRow]) -> Problem:
    """All are counted, the first ones are quoted."""
    return Problem(ProblemKind.TRANSACTIONS, key, " ".join(str(row) for row in rejected[:SHOWN]), count=len(rejected))
