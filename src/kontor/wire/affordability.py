"""Affordability: one tag instance of a customer."""

from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.affordability import Affordability as FoundAffordability
from kontor.analysis.budgets import Part, Split
from kontor.analysis.trees import AFFORDABILITY, CATEGORIES
from kontor.services.analyses import Facts
from kontor.wire.contracts import Day, Reason, make_user_entity, show_reasons
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import Entity, TagTreeItem, name_item, show_instance, show_item
from kontor.wire.urls import Urls

INFORMATION = "AFFORDABILITY_INFORMATION"
Ratio = Annotated[Decimal, Meta(description="not below 0; 0 where it would be over zero")]
Share = Annotated[Decimal, Meta(description="0 to 1")]
Positive = Annotated[Decimal, Meta(description="a month, two decimals, not below 0")]


class AmountPerTagTreeItem(msgspec.Struct):
    amount: Amount
    tagTreeItem: TagTreeItem  # noqa: N815


class RegularOrIrregular(msgspec.Struct):
    amount: Amount
    amountsPerTagTreeItem: list[AmountPerTagTreeItem]  # noqa: N815


class RegularIrregular(msgspec.Struct):
    """What belongs to contracts is regular."""

    amount: Amount
    regular: RegularOrIrregular
    irregular: RegularOrIrregular


class Expenses(msgspec.Struct):
    amount: Amount
    luxuries: RegularIrregular
    necessities: RegularIrregular


class AffordabilityDetails(msgspec.Struct):
    """Means over the last twelve complete months with data, as positive numbers."""

    discretionary: Positive
    discretionaryForIrregularLuxuries: Positive  # noqa: N815
    savings: Positive
    gambling: Positive
    existingLoans: bool  # noqa: N815
    mortgagePayments: bool  # noqa: N815
    rentalPayments: bool  # noqa: N815
    returnDebits: bool  # noqa: N815
    reminderCharges: bool  # noqa: N815
    seizurePayments: bool  # noqa: N815
    debtCollectionPayments: bool  # noqa: N815
    creditCards: Annotated[int, Meta(ge=0)]  # noqa: N815
    financialLiteracy: Annotated[str, Meta(examples=["low", "neutral", "high"])]  # noqa: N815
    ratioLuxuriesToExpenses: Share  # noqa: N815
    ratioNecessitiesToExpenses: Share  # noqa: N815
    ratioLuxuriesToIncome: Ratio  # noqa: N815
    ratioNecessitiesToIncome: Ratio  # noqa: N815
    ratioExpensesToIncome: Ratio  # noqa: N815
    ratioGamblingToDiscretionaryForIrregularLuxuries: Ratio  # noqa: N815
    expenses: Expenses
    income: RegularIrregular
    mostRecentRentalPayment: Day | UnsetType = UNSET  # noqa: N815
    excludedCurrencies: Annotated[list[str], Meta(description="what no sum contains")] | UnsetType = UNSET  # noqa: N815
    evidence: list[Reason] | UnsetType = UNSET


class Affordability(msgspec.Struct):
    id: str
    entity: Entity
    relations: list[Relation]
    tagTreeItem: TagTreeItem  # noqa: N815
    details: AffordabilityDetails


class Nothing(msgspec.Struct):
    """There is nothing to say."""


def show_affordability(
    affordability: FoundAffordability | None, facts: Facts, urls: Urls, *, explain: bool
) -> dict[str, Any] | Nothing:
    if affordability is None:
        return Nothing()
    details = _show_details(affordability, explain=explain)
    return show_instance(make_user_entity(facts), *name_item(AFFORDABILITY, INFORMATION), details, urls)


def _show_details(affordability: FoundAffordability, *, explain: bool) -> AffordabilityDetails:
    budget, signals, duties = affordability.budget, affordability.distress_signals, affordability.obligations
    return AffordabilityDetails(
        discretionary=affordability.discretionary,
        discretionaryForIrregularLuxuries=affordability.discretionary_for_irregular_luxuries,
        savings=budget.savings.amount,
        gambling=affordability.gambling,
        existingLoans=bool(duties.loans or duties.mortgages) or duties.has_loan_account,
        mortgagePayments=bool(duties.mortgages) or duties.has_home_loan,
        rentalPayments=bool(duties.rents),
        returnDebits=signals.returned_count > 0,
        reminderCharges=bool(signals.reminders),
        seizurePayments=bool(signals.seizures),
        debtCollectionPayments=bool(signals.collections),
        creditCards=duties.credit_cards,
        financialLiteracy=affordability.financial_literacy,
        ratioLuxuriesToExpenses=affordability.ratio_luxuries_to_expenses,
        ratioNecessitiesToExpenses=affordability.ratio_necessities_to_expenses,
        ratioLuxuriesToIncome=affordability.ratio_to_income(budget.luxuries.amount),
        ratioNecessitiesToIncome=affordability.ratio_to_income(budget.necessities.amount),
        ratioExpensesToIncome=affordability.ratio_to_income(budget.expenses),
        ratioGamblingToDiscretionaryForIrregularLuxuries=affordability.ratio_gambling,
        expenses=Expenses(budget.expenses, show_split(budget.luxuries), show_split(budget.necessities)),
        income=show_split(budget.income),
        mostRecentRentalPayment=duties.rents[-1].day.isoformat() if duties.rents else UNSET,
        excludedCurrencies=list(budget.excluded_currencies) or UNSET,
        evidence=show_reasons(affordability.reasons, explain=explain),
    )


def show_split(split: Split) -> RegularIrregular:
    return RegularIrregular(split.amount, _show_part(split.regular), _show_part(split.irregular))


def _show_part(part: Part) -> RegularOrIrregular:
    items = [
        AmountPerTagTreeItem(amount, show_item(*name_item(CATEGORIES, name))) for name, amount in part.items.items()
    ]
    return RegularOrIrregular(part.amount, items)
