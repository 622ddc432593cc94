"""Affordability: what somebody can spend in a usual month, and what speaks for or against it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from kontor.analysis.budgets import CENT, Budget, Use, is_countable, make_budget, measure_ratio
from kontor.analysis.calendars import DAY
from kontor.analysis.contracts import Contract
from kontor.analysis.contracts.texts import squeeze_text
from kontor.analysis.day_order import order_records, select_days
from kontor.analysis.distress_signals import DistressSignals, find_distress_signals, sum_gambling
from kontor.analysis.life_events.signals import subtract_months
from kontor.analysis.life_events.signs import Sign, is_home_loan, is_price, read_sign
from kontor.analysis.reasons import Reason
from kontor.analysis.records import Account, Record
from kontor.domain.products import ProductCategory

_ZERO = Decimal("0.00")
_SAVER_SHARE = Decimal("0.1")
_CARD_WORDS = ("KREDITKARTENABR", "KREDITKARTEABR", "KARTENABRECHNUNG")


@dataclass(frozen=True, slots=True)
class Obligations:
    """What twelve months show: the bookings of loans, mortgages and rents, the latest rent last. `has_home_loan` is
    told by an account of the customer."""

    loans: tuple[Record, ...]
    mortgages: tuple[Record, ...]
    rents: tuple[Record, ...]
    has_loan_account: bool
    has_home_loan: bool
    credit_cards: int


@dataclass(frozen=True, slots=True)
class Affordability:
    """Amounts a month, positive numbers."""

    budget: Budget
    distress_signals: DistressSignals
    obligations: Obligations
    discretionary: Decimal
    discretionary_for_irregular_luxuries: Decimal
    gambling: Decimal
    financial_literacy: str
    reasons: tuple[Reason, ...]

    @property
    def ratio_luxuries_to_expenses(self) -> Decimal:
        return measure_ratio(self.budget.luxuries.amount, self.budget.expenses)

    @property
    def ratio_necessities_to_expenses(self) -> Decimal:
        """Together with the luxuries always 1, whatever is rounded."""
        return 1 - self.ratio_luxuries_to_expenses if self.budget.expenses else Decimal(0)

    def ratio_to_income(self, amount: Decimal) -> Decimal:
        return measure_ratio(amount, self.budget.income.amount)

    @property
    def ratio_gambling(self) -> Decimal:
        return measure_ratio(self.gambling, self.discretionary_for_irregular_luxuries)


def measure_affordability(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> Affordability | None:
    """All of it, or nothing where no complete month has data."""
    budget = make_budget(records, contracts, accounts, today)
    if budget is None:
        return None
    signals = find_distress_signals(records, today)
    obligations = find_obligations(records, accounts, today)
    gambling = measure_gambling(budget)
    left = budget.income.amount - budget.necessities.amount
    left_regular = (
        budget.income.regular.amount
        - budget.necessities.amount
        - budget.luxuries.regular.amount
        - budget.savings.amount
    )
    return Affordability(
        budget=budget,
        distress_signals=signals,
        obligations=obligations,
        discretionary=max(_ZERO, left),
        discretionary_for_irregular_luxuries=max(_ZERO, left_regular),
        gambling=gambling,
        financial_literacy=judge_literacy(budget, signals),
        reasons=_explain(budget, signals, obligations),
    )


def measure_gambling(budget: Budget) -> Decimal:
    staked = sum_gambling(record for use, _, record in budget.counted if use is Use.LUXURY)
    return (staked / len(budget.months)).quantize(CENT, ROUND_HALF_UP)


def judge_literacy(budget: Budget, signals: DistressSignals) -> str:
    if signals.has_any:
        return "low"
    income, saved = budget.income.amount, budget.savings.regular.amount
    return "high" if income > 0 and saved >= income * _SAVER_SHARE else "neutral"


def find_obligations(records: Sequence[Record], accounts: Sequence[Account], today: date) -> Obligations:
    begin = subtract_months(today, 12) + DAY
    passive = {account.id for account in accounts if account.category is ProductCategory.LOAN}
    by_category: dict[str, list[Record]] = {
        "BANKFINANCE_CREDITPAYMENT": [],
        "HOUSING_FINANCING": [],
        "HOUSING_RENT": [],
        "BANKFINANCE_TRANSFER": [],
    }
    for record in select_days(order_records(records), begin, today):
        kept = by_category.get(record.category)
        if kept is None or record.account in passive:
            continue
        if is_countable(record, today) and record.amount < 0:
            kept.append(record)
    home_loans = {account.iban.replace(" ", "") for account in accounts if is_home_loan(account) and account.iban}
    loans: list[Record] = []
    mortgages = [record for record in by_category["HOUSING_FINANCING"] if not is_price(record)]
    for record in by_category["BANKFINANCE_CREDITPAYMENT"]:
        is_mortgage = record.counterparty_iban in home_loans or read_sign(record) is Sign.MORTGAGE
        (mortgages if is_mortgage else loans).append(record)
    rents = sorted(by_category["HOUSING_RENT"], key=lambda record: (record.day, record.id))
    cards = sum(account.category is ProductCategory.CREDIT_CARD for account in accounts)
    return Obligations(
        loans=tuple(loans),
        mortgages=tuple(sorted(mortgages, key=lambda record: (record.day, record.id))),
        rents=tuple(rents),
        has_loan_account=any(
            account.category is ProductCategory.LOAN and account.balance is not None and account.balance < 0
            for account in accounts
        ),
        has_home_loan=any(is_home_loan(account) for account in accounts),
        credit_cards=cards or _count_settled_cards(by_category["BANKFINANCE_TRANSFER"]),
    )


def _count_settled_cards(records: Sequence[Record]) -> int:
    """Cards at other banks show only in the settlements that their banks collect."""
    partners = {
        record.counterparty_name
        for record in records
        if any(word in squeeze_text(f"{record.booking_text} {record.purpose}") for word in _CARD_WORDS)
    }
    return len(partners)


def list_ids(budget: Budget, *uses: Use) -> tuple[str, ...]:
    return tuple(dict.fromkeys(record.id for use, _, record in budget.counted if use in uses))


def _ids(records: Sequence[Record]) -> tuple[str, ...]:
    return tuple(record.id for record in records)


def _explain(budget: Budget, signals: DistressSignals, obligations: Obligations) -> tuple[Reason, ...]:
    reasons = [
        Reason(f"Means of {len(budget.months)} complete months with data, {budget.first_day} to {budget.last_day}"),
        Reason(f"Income of {budget.income.amount} a month", list_ids(budget, Use.INCOME)),
        Reason(f"Necessities of {budget.necessities.amount} a month", list_ids(budget, Use.NECESSITY)),
        Reason(f"Luxuries of {budget.luxuries.amount} a month", list_ids(budget, Use.LUXURY)),
        Reason(f"Savings of {budget.savings.amount} a month", list_ids(budget, Use.SAVING)),
    ]
    named = (
        ("Loan payments", obligations.loans),
        ("Mortgage payments", obligations.mortgages),
        ("Rents", obligations.rents),
        ("Returned debits", (*signals.returned_debits, *signals.return_fees)),
        ("Reminder charges", signals.reminders),
        ("Payments to debt collectors", signals.collections),
        ("Seizures", signals.seizures),
        ("Gambling", signals.gambling),
    )
    reasons += [Reason(f"{name} in twelve months: {len(records)}", _ids(records)) for name, records in named if records]
    if budget.excluded_currencies:
        reasons.append(Reason(f"Not counted, in other currencies: {', '.join(budget.excluded_currencies)}"))
    return tuple(reasons)
