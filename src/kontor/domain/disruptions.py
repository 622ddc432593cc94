"""When a bank counts as disrupted: by its recent fetches, as people are told before they choose it and log in."""

from decimal import Decimal
from enum import StrEnum

MIN_FETCHES = 10  # fewer say nothing
DISTURBED_BELOW = Decimal("0.8")


class Disruption(StrEnum):
    DOWN = "down"  # does not answer at present
    OFTEN = "disturbed"  # many of the recent fetches failed


def is_degraded(fetches: int, rate: Decimal) -> bool:
    """`rate` is the share of fetches that succeeded."""
    return fetches >= MIN_FETCHES and rate < DISTURBED_BELOW
