"""Contracts of the API, read once for all pages that show them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

from kontor.console.entries import LOW_CONFIDENCE
from kontor.console.gateway import segment
from kontor.console.rendering import read_day

ENDED = "INACTIVE"
UNKNOWN_PARTNER = "UNKNOWN"
NO_INSURANCE = "UNRELATED_OTHER"
SAVINGS = "SAVINGS"
_CENT = Decimal("0.01")
# A price rise as the API's alerts know it: of what somebody else sets, and above a price that was paid again and again.
_CHOSEN = (SAVINGS, "TRANSFER")
_MIN_RISE, _MIN_RISE_SHARE = Decimal(1), Decimal("0.03")
_STEADY_PAYMENTS = 2
_RARE = ("MONTH_SIX", "YEAR_ONE", "YEAR_TWO")
# Payments in a year.
_PER_YEAR = {
    "WEEK_ONE": Decimal(52), "WEEK_TWO": Decimal(26), "WEEK_FOUR": Decimal(13),
    "MONTH_ONE": Decimal(12), "MONTH_TWO": Decimal(6), "MONTH_THREE": Decimal(4), "MONTH_SIX": Decimal(2),
    "YEAR_ONE": Decimal(1), "YEAR_TWO": Decimal("0.5"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PriceChange:
    """From one regular payment to the next. `is_rise`: by somebody else, and not as amounts vary."""

    day: date
    before: Decimal
    after: Decimal
    is_rise: bool = False

    @property
    def share(self) -> Decimal:
        return self.after / self.before - 1


@dataclass(frozen=True, slots=True)
class Contract:
    """`name` is the customer's own, or the partner's; empty where the bookings tell nobody's name."""

    id: str
    name: str
    category: str
    category_name: str
    insurance_name: str | None
    period: str
    period_name: str
    status: str
    confidence: Decimal
    amount: Decimal  # of the next payment, or of the latest one of a contract that has ended
    next_day: date | None
    development: Mapping[date, Decimal]  # regular payments
    facts: Mapping[str, Any]  # `details` as the API told them

    @property
    def is_unsure(self) -> bool:
        return self.confidence < LOW_CONFIDENCE

    @property
    def url(self) -> str:
        return f"/console/contracts/{segment(self.id)}"

    @property
    def title(self) -> str:
        """Never empty: a contract with nobody known is called by what it is for."""
        return self.name or self.insurance_name or self.category_name

    @property
    def is_running(self) -> bool:
        return self.status != ENDED

    @property
    def is_income(self) -> bool:
        return self.amount > 0

    @property
    def is_insurance(self) -> bool:
        return self.insurance_name is not None

    @property
    def is_saving(self) -> bool:
        return self.category.partition("_")[0] == SAVINGS

    @property
    def yearly(self) -> Decimal | None:
        """What it makes in a year, or nothing where the period is unknown."""
        often = _PER_YEAR.get(self.period)
        return None if often is None else self.amount * often

    @property
    def price(self) -> Decimal:
        return abs(self.amount)

    @property
    def first_price(self) -> Decimal:
        return abs(Decimal(self.facts["amountFirst"]))

    @property
    def latest_price(self) -> Decimal:
        return abs(Decimal(self.facts["amountLatest"]))

    @property
    def price_change(self) -> Decimal:
        return self.latest_price - self.first_price

    @property
    def price_change_share(self) -> Decimal | None:
        return self.price_change / self.first_price if self.first_price else None

    @property
    def last_instalment(self) -> date | None:
        """Of a loan whose end can be told."""
        loan = self.facts.get("loan")
        return read_day(loan["lastInstallmentEstimate"]) if loan and loan["lastInstallmentEstimate"] else None

    def list_price_changes(self) -> list[PriceChange]:
        """The latest first."""
        paid = sorted(self.development.items())
        amounts = [abs(amount) for _, amount in paid]
        changes = [
            PriceChange(day, abs(before), abs(after), self._is_rise(amounts, place))
            for place, ((_, before), (day, after)) in enumerate(pairwise(paid), start=1)
            if before != after and before
        ]
        return changes[::-1]

    def find_latest_rise(self) -> PriceChange | None:
        return next((change for change in self.list_price_changes() if change.is_rise), None)

    def _is_rise(self, amounts: Sequence[Decimal], place: int) -> bool:
        """Of the amount at that place, against those before it."""
        if self.is_income or self.category.startswith(_CHOSEN):
            return False
        before, after = amounts[place - 1], amounts[place]
        needed = 1 if self.period in _RARE else _STEADY_PAYMENTS
        if place < needed or set(amounts[place - needed : place]) != {before}:
            return False
        return after - before >= max(_MIN_RISE, before * _MIN_RISE_SHARE)


@dataclass(frozen=True, slots=True)
class Totals:
    """What all running contracts make. Amounts are positive."""

    monthly_costs: Decimal
    yearly_costs: Decimal
    monthly_savings: Decimal
    monthly_income: Decimal
    count: int
    income_count: int


def read_contracts(answer: Iterable[Mapping[str, Any]] | None) -> list[Contract]:
    return [read_contract(contract) for contract in answer or ()]


def read_contract(contract: Mapping[str, Any]) -> Contract:
    details = contract["details"]
    category, insurance = contract["tagTreeItemCategory"], contract["tagTreeItemInsuranceType"]
    partner, period = contract["tagTreeItemBusinessPartner"], contract["tagTreeItemPeriod"]
    known = "" if partner["systemName"] == UNKNOWN_PARTNER else partner["displayName"]
    names = (details.get("name"), known, details.get("counterpartyName"), details.get("counterpartyNameUltimate"))
    is_insured = insurance["systemName"] != NO_INSURANCE
    return Contract(
        id=contract["id"],
        name=next(filter(_is_name, names), ""),
        category=category["systemName"],
        category_name=category["displayName"],
        insurance_name=insurance["displayName"] if is_insured else None,
        period=period["systemName"],
        period_name=period["displayName"],
        status=details["status"],
        confidence=Decimal(details["confidenceLevel"]),
        amount=Decimal(details.get("amountNext", details["amountLatest"])),
        next_day=read_day(details.get("dateNext")),
        development=read_development(details["costDevelopmentRegular"]),
        facts=details,
    )


def _is_name(text: str | None) -> bool:
    """Some banks write a dash where they know nobody."""
    return text is not None and any(character.isalnum() for character in text)


def read_development(development: Mapping[str, Any]) -> dict[date, Decimal]:
    return {date.fromisoformat(day): Decimal(amount) for day, amount in sorted(development.items())}


def sum_contracts(contracts: Sequence[Contract]) -> Totals:
    running = [contract for contract in contracts if contract.is_running]
    costs = [contract for contract in running if not contract.is_income]
    incomes = [contract for contract in running if contract.is_income]
    yearly = _sum_years(costs)
    return Totals(
        _month_of(-yearly),
        -yearly,
        _month_of(-_sum_years([contract for contract in costs if contract.is_saving])),
        _month_of(_sum_years(incomes)),
        len(running),
        len(incomes),
    )


def _sum_years(contracts: Sequence[Contract]) -> Decimal:
    return sum((contract.yearly or Decimal(0) for contract in contracts), Decimal(0))


def _month_of(yearly: Decimal) -> Decimal:
    return (yearly / 12).quantize(_CENT)
