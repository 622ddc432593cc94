"""What is concluded from transactions. The figures are in `details`, what they are about in `item`."""

from datetime import date
from decimal import Decimal
from typing import TypeAlias

from kontor_client.models.shapes import Model
from kontor_client.models.tags import TagInstance, TagTreeItem


class Reason(Model, rename="camel"):
    """One step of what led to a finding; there with `explain=True`."""

    text: str
    transaction_ids: list[str] = []


# Contracts


class Loan(Model, rename="camel"):
    """What the transactions do not tell is None."""

    installment: Decimal
    principal_estimate: Decimal | None
    outstanding_estimate: Decimal | None
    interest_rate_estimate: Decimal | None
    term_months_estimate: int | None
    last_installment_estimate: date | None
    confidence_level: float


class ContractDetails(Model, rename="camel"):
    """`status` is ACTIVE, INACTIVE or PROVISIONAL; developments are amounts by date.

    `name`, `notice_period` and `minimum_term_end` are what the customer has set; `notice_date` follows from them.
    """

    amount_first: Decimal
    amount_latest: Decimal
    amount_maximum: Decimal
    amount_mean: Decimal
    amount_median: Decimal
    amount_minimum: Decimal
    amount_total: Decimal
    amount_total_non_regular: Decimal
    amount_total_regular: Decimal
    contract_numbers: list[str]
    customer_numbers: list[str]
    cost_development: dict[str, Decimal]
    cost_development_non_regular: dict[str, Decimal]
    cost_development_regular: dict[str, Decimal]
    counterparty_bic: str
    counterparty_iban: str
    counterparty_name: str
    counterparty_name_ultimate: str
    date_first: date
    date_latest: date
    date_start: date
    days_age: int
    growth_rate: Decimal
    standard_deviation: Decimal
    status: str
    transaction_ids: list[str]
    transaction_ids_non_regular: list[str]
    transaction_ids_regular: list[str]
    confidence_level: float
    amount_next: Decimal | None = None
    date_next: date | None = None
    period_confidence_level: float | None = None
    loan: Loan | None = None
    name: str | None = None
    notice_period: str | None = None
    notice_date: date | None = None
    minimum_term_end: date | None = None
    evidence: list[Reason] = []


class Contract(
    TagInstance[ContractDetails],
    kw_only=True,
    rename={
        "item": "tagTreeItem",
        "partner": "tagTreeItemBusinessPartner",
        "category": "tagTreeItemCategory",
        "insurance_type": "tagTreeItemInsuranceType",
        "period": "tagTreeItemPeriod",
    },
):
    """An agreement that the bookings show."""

    partner: TagTreeItem
    category: TagTreeItem
    insurance_type: TagTreeItem
    period: TagTreeItem


# Cashflow and disposable money


class CashflowSum(Model, rename={"amount": "cashflow", "item": "tagTreeItem"}):
    amount: Decimal
    item: TagTreeItem


class CashflowPrediction(
    Model,
    rename={
        "confidence": "confidenceLevel",
        "amount": "cashflow",
        "item": "tagTreeItem",
        "regular": "cashflowRegular",
        "irregular": "cashflowIrregular",
    },
):
    """Of a whole month; 80 % of outcomes lie from `lower` to `upper`."""

    item: TagTreeItem
    amount: Decimal
    regular: Decimal
    irregular: Decimal
    lower: Decimal
    upper: Decimal
    confidence: float


class CashflowDetails(Model, rename={"excluded_currencies": "excludedCurrencies"}):
    statistics: list[CashflowSum]
    predictions: list[CashflowPrediction]
    excluded_currencies: list[str] = []
    evidence: list[Reason] = []


Cashflow: TypeAlias = TagInstance[CashflowDetails]


class DisposableMoneyDetails(Model, rename="camel"):
    amount_cashflow: Decimal
    amount_currently_left: Decimal
    amount_disposable_money: Decimal
    amount_expected_fixed_cashflow: Decimal
    amount_expected_flex_cashflow: Decimal
    amount_expected_left: Decimal
    amount_expected_left_daily: Decimal
    amount_salary_latest: Decimal
    amount_salary_next: Decimal
    date_salary_latest: date
    date_salary_next: date
    days_until_salary: int
    confidence_level: float
    excluded_currencies: list[str] = []
    evidence: list[Reason] = []


DisposableMoney: TypeAlias = TagInstance[DisposableMoneyDetails]


# Life


class LifeEventDetails(Model, rename="camel"):
    event_date: date
    confidence_level: float
    transaction_ids: list[str]
    amount: Decimal | None = None
    evidence: list[Reason] = []


class LifeStageDetails(Model, rename="camel"):
    confidence_level: float
    transaction_ids: list[str]
    evidence: list[Reason] = []


class SalesTriggerDetails(Model, rename="camel"):
    trigger_date: date
    confidence_level: float
    transaction_ids: list[str]
    amount: Decimal | None = None
    evidence: list[Reason] = []


LifeEvent: TypeAlias = TagInstance[LifeEventDetails]
LifeStage: TypeAlias = TagInstance[LifeStageDetails]
SalesTrigger: TypeAlias = TagInstance[SalesTriggerDetails]


# Affordability and credit checks


class AmountOfItem(Model, rename={"item": "tagTreeItem"}):
    amount: Decimal
    item: TagTreeItem


class Part(Model, rename={"items": "amountsPerTagTreeItem"}):
    amount: Decimal
    items: list[AmountOfItem]


class Split(Model):
    """What belongs to contracts is regular."""

    amount: Decimal
    regular: Part
    irregular: Part


class Expenses(Model):
    amount: Decimal
    luxuries: Split
    necessities: Split


class AffordabilityDetails(Model, rename="camel"):
    """Monthly means of the last twelve complete months, as positive numbers."""

    discretionary: Decimal
    discretionary_for_irregular_luxuries: Decimal
    savings: Decimal
    gambling: Decimal
    existing_loans: bool
    mortgage_payments: bool
    rental_payments: bool
    return_debits: bool
    reminder_charges: bool
    seizure_payments: bool
    debt_collection_payments: bool
    credit_cards: int
    financial_literacy: str
    ratio_luxuries_to_expenses: Decimal
    ratio_necessities_to_expenses: Decimal
    ratio_luxuries_to_income: Decimal
    ratio_necessities_to_income: Decimal
    ratio_expenses_to_income: Decimal
    ratio_gambling_to_discretionary_for_irregular_luxuries: Decimal
    expenses: Expenses
    income: Split
    most_recent_rental_payment: date | None = None
    excluded_currencies: list[str] = []
    evidence: list[Reason] = []


class CreditFinding(Model, rename="camel"):
    type: str
    text: str
    amount: Decimal
    transaction_ids: list[str]


class CreditCheckDetails(Model, rename="camel"):
    income_monthly: Decimal
    income_stability: Decimal
    expenses_monthly: Decimal
    fixed_costs_monthly: Decimal
    free_income_monthly: Decimal
    rent_monthly: Decimal
    loan_installments_monthly: Decimal
    return_debits_count: int
    reminder_charges_count: int
    debt_collections_count: int
    seizures_count: int
    gambling_monthly: Decimal
    overdraft_days: int
    data_from: date
    data_to: date
    findings: list[CreditFinding]
    excluded_currencies: list[str] = []
    evidence: list[Reason] = []


Affordability: TypeAlias = TagInstance[AffordabilityDetails]
CreditCheck: TypeAlias = TagInstance[CreditCheckDetails]
