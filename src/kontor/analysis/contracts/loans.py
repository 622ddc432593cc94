"""What installments tell about a loan, by the annuity formula.

Interest and term are told where the bookings carry them: by their texts, by the payout, or by the shares of interest
and repayment that a lender names. Where they do not, they stay open, and so does what follows from them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

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
_MAX_MONTHS = 480
# Usual nominal rates in percent: of the terms that a payout allows, the one nearest to them is chosen.
_CONSUMER_RATE, _MORTGAGE_RATE = 6.5, 3.5
_HIGHEST_RATE = 25.0
_INSTALLMENT_OF = re.compile(r"RATE(?:NR\.?)?(\d{1,3})(?:/|VON)(\d{1,3})(?![\d.])")
_TERM = re.compile(r"LAUFZEIT:?(\d{1,3})MON|(?<!\d)(\d{2,3})MONATE")
_RATE = re.compile(r"(?<![\d,.])(\d{1,2}[.,]\d{1,3})%")
_SHARES = re.compile(
    r"ZINS(?:EN|ANTEIL)?:?(\d{1,3}(?:\.\d{3})*,\d\d).{0,12}?TILG(?:UNG|\.)?:?(\d{1,3}(?:\.\d{3})*,\d\d)"
)
# How sure the figures are: what a lender writes, what follows from payout and installments, what is chosen, nothing.
_WRITTEN, _SOLVED, _CHOSEN, _OPEN = 0.9, 0.8, 0.7, 0.2
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
    if least > _MAX_MONTHS:
        return None
    best: tuple[float, float, int] | None = None
    first = -(-least // _ROUND_TERM) * _ROUND_TERM
    for months in range(first, _MAX_MONTHS + 1, _ROUND_TERM):
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
    for months in range(1, _MAX_MONTHS + 1):
        if compute_outstanding(principal, rate, installment, months) < 0.5 * installment:
            return months
    return _MAX_MONTHS


@dataclass(frozen=True, slots=True)
class Terms:
    """What is known of a loan's terms; `paid` installments of `months` are over."""

    paid: int
    months: int | None = None
    rate: float | None = None
    principal: float | None = None
    outstanding: float | None = None
    confidence: float = _OPEN


def read_count(run: Run) -> tuple[int, int] | None:
    """Which installment of how many the latest is, where texts count them: `Rate 18/60`. Dates look alike: `03/25`."""
    found = []
    for payment in run.payments:
        match = _INSTALLMENT_OF.search(payment.purpose)
        if match is None:
            return None
        found.append((int(match[1]), int(match[2]), payment.record.day))
    totals = {total for _, total, _ in found}
    is_date = all(number == day.month and total == day.year % 100 for number, total, day in found)
    is_counted = all(later[0] > earlier[0] for earlier, later in pairwise(found))
    number, total, _ = found[-1]
    return (number, total) if len(totals) == 1 and is_counted and not is_date and 0 < number <= total else None


def read_number(run: Run, pattern: re.Pattern[str]) -> float | None:
    """The number that the latest text with one names."""
    for payment in reversed(run.payments):
        match = pattern.search(payment.purpose)
        if match is not None:
            return float(next(group for group in match.groups() if group).replace(",", "."))
    return None


def _read_euros(text: str) -> float:
    return float(text.replace(".", "").replace(",", "."))


def read_shares(run: Run) -> tuple[float, float] | None:
    """Rate and debt by the shares of interest and repayment that texts name: interest falls with what is repaid."""
    found = [match for payment in run.payments if (match := _SHARES.search(payment.purpose))]
    if len(found) != len(run.payments) or len(found) < 2:
        return None
    shares = [(_read_euros(match[1]), _read_euros(match[2])) for match in found]
    repaid = sum(repayment for _, repayment in shares[:-1])
    fallen = shares[0][0] - shares[-1][0]
    rate = 1200 * fallen / repaid if repaid > 0 else 0.0
    if not 0 < rate < _HIGHEST_RATE:
        return None
    interest, repayment = shares[-1]
    return rate, interest * 1200 / rate - repayment


def _find_terms(run: Run, usual_rate: float, paid: int, payout: Payment | None, is_over: bool) -> Terms:
    """What texts and payout tell."""
    installment = -run.payments[-1].cents / 100
    count = read_count(run)
    paid, months = count if count is not None else (paid, None)
    if months is None and (term := read_number(run, _TERM)) is not None:
        months = int(term)
    rate, shares = read_number(run, _RATE), read_shares(run)
    if shares is not None:
        rate, outstanding = shares
        left = _count_months(outstanding, rate, installment)
        return Terms(paid, months or paid + left, rate, None, outstanding, _WRITTEN)
    if payout is not None:
        principal = payout.cents / 100
        if months is None and is_over:
            months = paid
        if months is not None:
            solved = solve_rate(principal, installment, months) if rate is None else rate
            return Terms(paid, months, solved, principal, None, _SOLVED)
        if rate is not None:
            return Terms(paid, _count_months(principal, rate, installment), rate, principal, None, _SOLVED)
        chosen = choose_terms(principal, installment, usual_rate)
        if chosen is None:
            return Terms(paid, principal=principal)
        return Terms(paid, chosen[1], chosen[0], principal, None, _CHOSEN)
    if months is not None and rate is not None:
        return Terms(paid, months, rate, compute_principal(installment, rate, months), None, _WRITTEN)
    return Terms(paid, months, rate)


def estimate_loan(
    run: Run, category: str, others: Sequence[Payment], accounts: Sequence[Account], schedule: Schedule, is_over: bool
) -> Loan | None:
    """The loan behind monthly installments. Figures that are told fulfil the annuity formula together."""
    if category not in LOAN_CATEGORIES or run.is_income or schedule.months != 1 or schedule.second_day:
        return None
    installment = -run.payments[-1].cents / 100
    usual_rate = _MORTGAGE_RATE if category == "HOUSING_FINANCING" else _CONSUMER_RATE
    paid = number_month(schedule.base) - number_month(run.payments[0].record.day) + 1
    terms = _find_terms(run, usual_rate, paid, find_payout(run, others), is_over)
    months, rate, principal = terms.months, terms.rate, terms.principal
    outstanding = _find_balance(run, accounts)
    if outstanding is None:
        outstanding = terms.outstanding
    if outstanding is None and principal is not None and rate is not None and months is not None:
        outstanding = compute_outstanding(principal, rate, installment, min(terms.paid, months))
    elif outstanding is None and is_over:
        outstanding = 0.0
    if rate is not None and months is None and outstanding is not None and outstanding * rate / 1200 < installment:
        months = terms.paid + _count_months(outstanding, rate, installment)
    if principal is None and rate is not None and months is not None:
        principal = compute_principal(installment, rate, months)
    last = None if months is None else _find_last_day(schedule, months - terms.paid, run.payments[-1].record.day)
    return Loan(
        installment=_round(installment),
        principal_estimate=None if principal is None else _round(principal),
        outstanding_estimate=None if outstanding is None else _round(outstanding),
        interest_rate_estimate=None if rate is None else Decimal(repr(rate)).quantize(_RATE_STEP, ROUND_HALF_UP),
        term_months_estimate=months,
        last_installment_estimate=last,
        confidence=terms.confidence,
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
