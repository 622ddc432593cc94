"""What the contracts analysis finds. Values only; amounts are signed as booked (income is positive)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

from kontor.analysis.contracts.due_dates import Schedule
from kontor.analysis.records import NO_INSURANCE, NO_PARTNER


class Status(StrEnum):
    """`PROVISIONAL`: one payment only, whose text tells the period."""

    ACTIVE = "ACTIVE"
    INACTIVE = "INACTIVE"
    PROVISIONAL = "PROVISIONAL"


@dataclass(frozen=True, slots=True)
class Loan:
    """What installments tell about a loan. Money is positive, the rate is nominal per year in percent. What the
    bookings do not carry is None."""

    installment: Decimal
    principal_estimate: Decimal | None
    outstanding_estimate: Decimal | None
    interest_rate_estimate: Decimal | None
    term_months_estimate: int | None
    last_installment_estimate: date | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Contract:
    """One agreement with one partner.

    Amount statistics are of the regular payments; totals say which they count. `date_next` and `amount_next` are the
    first payment after today for contracts that are not over, otherwise nothing. `period_confidence` is None where the
    period is fully reliable.
    """

    id: str
    category: str
    period: str
    status: Status
    is_income: bool
    currency: str
    accounts: tuple[str, ...]
    transaction_ids: tuple[str, ...]
    transaction_ids_regular: tuple[str, ...]
    transaction_ids_non_regular: tuple[str, ...]
    amount_first: Decimal
    amount_latest: Decimal
    amount_maximum: Decimal
    amount_mean: Decimal
    amount_median: Decimal
    amount_minimum: Decimal
    amount_total: Decimal
    amount_total_regular: Decimal
    amount_total_non_regular: Decimal
    standard_deviation: Decimal
    growth_rate: Decimal
    date_first: date
    date_latest: date
    date_start: date
    days_age: int
    insurance_type: str = NO_INSURANCE
    partner: str = NO_PARTNER
    amount_next: Decimal | None = None
    date_next: date | None = None
    contract_numbers: tuple[str, ...] = ()
    customer_numbers: tuple[str, ...] = ()
    cost_development: Mapping[date, Decimal] = field(default_factory=dict)
    cost_development_regular: Mapping[date, Decimal] = field(default_factory=dict)
    cost_development_non_regular: Mapping[date, Decimal] = field(default_factory=dict)
    counterparty_name: str = ""
    counterparty_iban: str = ""
    counterparty_bic: str = ""
    counterparty_name_ultimate: str = ""
    period_confidence: float | None = None
    schedule: Schedule | None = None
    loan: Loan | None = None
    reasons: tuple[str, ...] = ()
