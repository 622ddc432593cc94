"""What installments tell about a loan, by the annuity formula."""

from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from kontor.analysis.calendars import number_month
from kontor.analysis.contracts.due_dates import Schedule
from kontor.analysis.contracts.findings import Loan
from kontor.analysis.contracts.payments import Payment
from kontor.analysis.contracts.streams import Run
from kontor.analysis.records import Account
from kontor.domain.products import ProductCategory

LOAN_CATEGORIES = frozenset({"BANKFINANCE_CREDITPAYMENT", "HOUSING_FINANCING"})
PAYOUT_CATEGORY = "BANKFINANCE_CREDITINCOME"
_CENT = Decimal("0.01")
_RATE_STEP = Decimal("0.0001")
_PAYOUT_DAYS = 130
_MOST_MONTHS = 480
# Usual nominal rates in percent and terms in months where nothing better is known.
_CONSUMER, _MORTGAGE = (6.5, 60), (3.5, 300)
_ROUND_TERM = 12
_SOUGHT_RATE = 25.0


def compute_installment(principal: float, rate_percent: float, months: int) -> float:
    """The monthly payment that pays back `principal` in so many months at that nominal yearly rate."""
    rate = rate_percent / 1200
    if abs(rate) < 1e-9:
        return principal / months
    return principal * rate / (1 - (1 + rate) ** -months)


def compute_principal(installment: float, rate_percent: float, months: int) -> float:
    """What so many payments are worth at their beginning: the annuity formula the other way round."""
    rate = rate_percent / 1200
    if abs(rate) < 1e-9:
        return installment * months
    return installment * (1 - (1 + rate) ** -months) / rate


def compute_outstanding(principal: float, rate_percent: float, installment: float, paid: int) -> float:
    """The debt after so many payments."""
    rate = rate_percent / 1200
    if abs(rate) < 1e-9:
        return max(0.0, principal - installment * paid)
    growth = (1 + rate) ** paid
    return max(0.0, principal * growth - installment * (growth - 1) / rate)


def solve_rate(principal: float, installment: float, months: int) -> float | None:
    """The yearly rate in percent at which the payments pay the principal back, if there is a sensible one."""
    if installment * months < principal - 0.005 * months:
        return None
    low, high = 0.0, 100.0
    if compute_installment(principal, high, months) < installment:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        if compute_installment(principal, middle, months) < installment:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def choose_terms(principal: float, installment: float, usual_rate: float) -> tuple[float, int] | None:
    """Rate and term for a known principal: the whole years whose rate comes nearest to the usual one."""
    least = max(1, int(principal / installment))
    if least > _MOST_MONTHS:
        return None
    best: tuple[float, float, int] | None = None
    first = -(-least // _ROUND_TERM) * _ROUND_TERM
    for months in range(first, _MOST_MONTHS + 1, _ROUND_TERM):
        rate = solve_rate(principal, installment, months)
        if rate is None:
            continue
        if best is None or abs(rate - usual_rate) < best[0]:
            best = abs(rate - usual_rate), rate, months
        if rate > _SOUGHT_RATE:
            break
    return best[1:] if best is not None else None


def _round(amount: float) -> Decimal:
    return Decimal(repr(amount)).quantize(_CENT, ROUND_HALF_UP)


def find_payout(run: Run, others: Sequence[Payment]) -> Payment | None:
    """The booking that paid the loan out: same partner, shortly before the first installment."""
    first = run.payments[0].day
    payouts = [
        payment
        for payment in others
        if payment.record.category == PAYOUT_CATEGORY
        and payment.cents > 0
        and 0 <= first - payment.day <= _PAYOUT_DAYS
        and payment.cents > abs(run.payments[0].cents) * 3
    ]
    named = [payment for payment in payouts if run.numbers & frozenset(payment.all_numbers)]
    return max(named or payouts, key=lambda payment: payment.day, default=None)


def _find_balance(run: Run, accounts: Sequence[Account]) -> float | None:
    """What the loan's own account still owes, where it is one of the user's products."""
    iban = run.payments[-1].record.counterparty_iban.replace(" ", "")
    for account in accounts:
        if account.category is ProductCategory.LOAN and account.iban and account.iban.replace(" ", "") == iban:
            return float(-account.balance) if account.balance is not None and account.balance < 0 else None
    return None


def _count_months(principal: float, rate: float, installment: float) -> int:
    """How many payments it takes; at most forty years."""
    for months in range(1, _MOST_MONTHS + 1):
        if compute_outstanding(principal, rate, installment, months) < 0.5 * installment:
            return months
    return _MOST_MONTHS


def estimate_loan(
    run: Run, category: str, others: Sequence[Payment], accounts: Sequence[Account], schedule: Schedule, is_over: bool
) -> Loan | None:
    """The loan behind monthly installments. The figures always fulfil the annuity formula together."""
    if category not in LOAN_CATEGORIES or run.is_income or schedule.months != 1 or schedule.second_day:
        return None
    installment = -run.payments[-1].cents / 100
    usual_rate, usual_term = _MORTGAGE if category == "HOUSING_FINANCING" else _CONSUMER
    paid = number_month(schedule.base) - number_month(run.payments[0].record.day) + 1
    payout = find_payout(run, others)
    owed = _find_balance(run, accounts)
    rate, confidence = usual_rate, 0.2
    if payout is not None:
        principal = payout.cents / 100
        chosen = choose_terms(principal, installment, usual_rate)
        if chosen is None:
            return None
        rate, months = chosen
        confidence = 0.7
    elif is_over:
        months, confidence = paid, 0.3
        principal = compute_principal(installment, rate, months)
    elif owed is not None and owed * rate / 1200 < installment:
        months = paid + _count_months(owed, rate, installment)
        principal, confidence = compute_principal(installment, rate, months), 0.5
    else:
        months = max(usual_term, -(-paid // _ROUND_TERM) * _ROUND_TERM)
        principal = compute_principal(installment, rate, months)
    outstanding = (
        0.0 if is_over and payout is None else compute_outstanding(principal, rate, installment, min(paid, months))
    )
    return Loan(
        installment=_round(installment),
        principal_estimate=_round(principal),
        outstanding_estimate=_round(owed if owed is not None else outstanding),
        interest_rate_estimate=Decimal(repr(rate)).quantize(_RATE_STEP, ROUND_HALF_UP),
        term_months_estimate=months,
        last_installment_estimate=_find_last_day(schedule, months - paid, run.payments[-1].record.day),
        confidence=confidence,
    )


def _find_last_day(schedule: Schedule, remaining: int, latest: date) -> date:
    if remaining <= 0:
        return latest
    day = latest
    for number, due in enumerate(schedule.list_after(latest), 1):
        day = due
        if number >= remaining:
            break
    return day
