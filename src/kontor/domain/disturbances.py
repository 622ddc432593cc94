"""When a bank counts as disrupted: by its recent fetches, as people are told before they log in."""

from decimal import Decimal

FEWEST_FETCHES = 10  # fewer say nothing
DISTURBED_BELOW = Decimal("0.8")


def is_disturbed(fetches: int, rate: Decimal) -> bool:
    """`rate` is the share of fetches that succeeded."""
    return fetches >= FEWEST_FETCHES and rate < DISTURBED_BELOW
