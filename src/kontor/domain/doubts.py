"""Doubts about stored bookings, as values: the bookings are there all the same."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Doubt:
    """`kind` names the contradiction, `detail` its place. `difference` is what is said minus what parts add up to."""

    kind: str
    difference: Decimal | None = None
    detail: str | None = None
