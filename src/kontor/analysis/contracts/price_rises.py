"""Has a contract become dearer? A rise is told to the user as an alert."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from kontor.analysis.contracts.findings import Contract, Status
from kontor.analysis.contracts.periods import BY_NAME

CURRENCY = "EUR"
MIN_RISE, MIN_RISE_SHARE = Decimal(1), Decimal("0.03")
# Such payments are chosen by the user, not set by somebody else.
_CHOSEN = ("SAVINGS", "TRANSFER")
_STEADY_PAYMENTS = 2  # of the same amount, before a higher one counts as a rise
_RARE_MONTHS = 6  # what is paid as seldom as this has risen when it is more than the last time


@dataclass(frozen=True, slots=True)
class PriceRise:
    day: date  # of the first payment at the new price
    before: Decimal
    amount: Decimal


def find_price_rise(contract: Contract) -> PriceRise | None:
    """The latest price, where it is higher than one that was paid before again and again."""
    if contract.is_income or contract.status is not Status.ACTIVE or contract.currency != CURRENCY:
        return None
    if contract.category.startswith(_CHOSEN):
        return None
    paid = sorted(contract.cost_development_regular.items())
    latest = contract.amount_latest
    while len(paid) > 1 and paid[-2][1] == latest == paid[-1][1]:
        paid.pop()
    if len(paid) < 2 or paid[-1][1] != latest:
        return None
    day, before = paid[-1][0], paid[-2][1]
    needed = 1 if BY_NAME[contract.period].months >= _RARE_MONTHS else _STEADY_PAYMENTS
    if [amount for _, amount in paid[-1 - needed : -1]] != [before] * needed:
        return None
    if abs(latest) - abs(before) < max(MIN_RISE, abs(before) * MIN_RISE_SHARE):
        return None
    return PriceRise(day, before, latest)
