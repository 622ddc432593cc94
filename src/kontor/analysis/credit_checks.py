"""Credit check: facts for a lender, each with the bookings it stands on. No score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from math import sqrt

from kontor.analysis.affordability import Affordability, measure_affordability
from kontor.analysis.budgets import CENT, CURRENCY, Budget, Use, is_countable
from kontor.analysis.calendars import DAY, number_month
from kontor.analysis.contracts import Contract
from kontor.analysis.day_order import order_records, select_days
from kontor.analysis.life_events.signals import subtract_months
from kontor.analysis.reasons import Reason
from kontor.analysis.records import Account, Record
from kontor.domain.products import ProductCategory

# With fewer months than these, income cannot be called stable.
_SURE_MONTHS = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact that a lender would ask about. `amount` is the sum of its bookings, without a sign."""

    name: str
    text: str
    amount: Decimal
    transaction_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CreditCheck:
    """Amounts a month; `free_income_monthly` is income less all expenses and may be negative."""

    affordability: Affordability
    income_stability: Decimal
    fixed_costs_monthly: Decimal
    free_income_monthly: Decimal
    rent_monthly: Decimal
    loan_installments_monthly: Decimal
    overdraft_days: int
    data_from: date
    data_to: date
    findings: tuple[Finding, ...]
    reasons: tuple[Reason, ...]


def check_credit(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> CreditCheck | None:
    """The facts, or nothing where no complete month has data."""
    affordability = measure_affordability(records, contracts, accounts, today)
    if affordability is None:
        return None
    budget = affordability.budget
    ordered = select_days(order_records(records), date.min, today)
    begin = subtract_months(today, 12) + DAY
    usable = [record for record in select_days(ordered, begin, today) if is_countable(record, today)]
    overdrafts = find_overdrafts(usable, accounts, today)
    findings = _list_findings(affordability, budget)
    if overdrafts:
        findings.append(_tell_overdrafts(overdrafts, usable, accounts))
    stability = measure_stability(budget)
    fixed = budget.necessities.regular.amount + budget.luxuries.regular.amount
    return CreditCheck(
        affordability=affordability,
        income_stability=stability,
        fixed_costs_monthly=fixed,
        free_income_monthly=budget.income.amount - budget.expenses,
        rent_monthly=_sum_monthly(budget, "HOUSING_RENT"),
        loan_installments_monthly=budget.installments,
        overdraft_days=len(overdrafts),
        data_from=ordered[0].day,
        data_to=ordered[-1].day,
        findings=tuple(findings),
        reasons=(
            *affordability.reasons,
            Reason(f"Income is stable by {stability}: 1 less the spread of regular income from month to month"),
            Reason(f"Fixed costs of {fixed} a month are all expenses that belong to contracts"),
            Reason(
                f"On {len(overdrafts)} days of twelve months a checking account was overdrawn at the end of the day"
            ),
        ),
    )


def _sum_monthly(budget: Budget, category: str) -> Decimal:
    parts = (budget.necessities.regular, budget.necessities.irregular)
    return sum((part.items.get(category, Decimal(0)) for part in parts), Decimal("0.00"))


def measure_stability(budget: Budget) -> Decimal:
    """1 where regular income is the same every month, 0 where it spreads by as much as it is or where there is none."""
    months = dict.fromkeys(budget.months, 0.0)
    for use, is_regular, record in budget.counted:
        if use is Use.INCOME and is_regular:
            months[number_month(record.day)] += float(record.amount)
    amounts = list(months.values())
    mean = sum(amounts) / len(amounts)
    if mean <= 0:
        return Decimal("0.00")
    spread = sqrt(sum((amount - mean) ** 2 for amount in amounts) / len(amounts)) / mean
    stability = max(0.0, 1 - spread) * min(1.0, len(amounts) / _SURE_MONTHS)
    return Decimal(repr(stability)).quantize(CENT, ROUND_HALF_UP)


def find_overdrafts(records: Sequence[Record], accounts: Sequence[Account], today: date) -> dict[date, Decimal]:
    """Days at whose end checking accounts were below zero, and by how much together.

    Counted back from each account's balance over these bookings.
    """
    by_account: dict[str, dict[date, Decimal]] = {}
    for record in records:
        days = by_account.setdefault(record.account, {})
        days[record.day] = days.get(record.day, Decimal(0)) + record.amount
    overdrawn: dict[date, Decimal] = {}
    for account in accounts:
        is_counted = account.category is ProductCategory.CHECKING and account.currency == CURRENCY
        if is_counted and account.balance is not None and account.balance.is_finite() and account.id in by_account:
            until = today if account.data_until is None else min(today, account.data_until)
            for day, amount in _count_back(account.balance, by_account[account.id], until):
                overdrawn[day] = overdrawn.get(day, Decimal(0)) + amount
    return overdrawn


def _count_back(balance: Decimal, days: dict[date, Decimal], until: date) -> Iterator[tuple[date, Decimal]]:
    """Balances stay the same between two days with bookings, and before the first one nothing is known."""
    until = max(until, max(days))
    for day in sorted(days, reverse=True):
        if balance < 0:
            for number in range((until - day).days + 1):
                yield day + number * DAY, -balance
        balance -= days[day]
        until = day - DAY


def _tell_overdrafts(days: dict[date, Decimal], records: Sequence[Record], accounts: Sequence[Account]) -> Finding:
    """Its amount is the deepest overdraft, its bookings are the payments of the days on which one began."""
    checking = {account.id for account in accounts if account.category is ProductCategory.CHECKING}
    begun = {day for day in days if day - DAY not in days}
    ids = tuple(
        record.id for record in records if record.day in begun and record.account in checking and record.amount < 0
    )
    text = f"Overdrawn on {len(days)} days, first on {min(days)}, last on {max(days)}"
    return Finding("OVERDRAFTS", text, max(days.values()).quantize(CENT, ROUND_HALF_UP), ids)


def _sum_up(records: Sequence[Record]) -> Decimal:
    return sum((abs(record.amount) for record in records), Decimal(0)).quantize(CENT, ROUND_HALF_UP)


def _list_findings(affordability: Affordability, budget: Budget) -> list[Finding]:
    signals, duties = affordability.distress_signals, affordability.obligations
    payouts = [record for _, _, record in budget.counted if record.category == "BANKFINANCE_CREDITINCOME"]
    named = (
        ("RETURNED_DEBITS", "Returned debits and their fees", (*signals.returned_debits, *signals.return_fees)),
        ("REMINDER_CHARGES", "Reminder charges", signals.reminders),
        ("DEBT_COLLECTIONS", "Payments to debt collectors", signals.collections),
        ("SEIZURES", "Seizures", signals.seizures),
        ("GAMBLING", "Gambling", signals.gambling),
        ("LOANS", "Loan payments", duties.loans),
        ("MORTGAGES", "Mortgage payments", duties.mortgages),
        ("LOAN_PAYOUTS", "Loan payouts, which are no part of the income above", payouts),
    )
    return [
        Finding(name, text, _sum_up(records), tuple(record.id for record in records))
        for name, text, records in named
        if records
    ]
