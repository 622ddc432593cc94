"""Disposable money: what is left until the next salary.

The cycle runs from the day of the latest salary up to the day before the next one. Only euros are counted, only what
is booked, and no money between own accounts.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

from kontor.analysis.cashflow.bookings import CURRENCY, select_bookings, select_contracts
from kontor.analysis.cashflow.findings import Options
from kontor.analysis.cashflow.histories import Payment, list_due, to_cents
from kontor.analysis.cashflow.intervals import find_middle
from kontor.analysis.cashflow.predictions import to_amount
from kontor.analysis.contracts import Contract, Status
from kontor.analysis.own_money import OWN_TRANSFER
from kontor.analysis.reasons import Reason
from kontor.analysis.records import Record

SALARY = "INCOME_SALARY"
CYCLES = 12
_CENT = Decimal("0.01")
# A cycle this much longer than usual lacks a salary: it tells nothing about one cycle.
_MAX_CYCLE = 1.5


@dataclass(frozen=True, slots=True)
class DisposableMoney:
    """All amounts are signed as booked. Each is the sum of those before it, to the cent."""

    amount_salary_latest: Decimal
    amount_cashflow: Decimal
    amount_expected_fixed: Decimal
    amount_expected_flex: Decimal
    amount_salary_next: Decimal
    date_salary_latest: date
    date_salary_next: date
    days_until_salary: int
    salary: Contract
    excluded_currencies: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()

    @property
    def amount_currently_left(self) -> Decimal:
        return self.amount_salary_latest + self.amount_cashflow

    @property
    def amount_disposable(self) -> Decimal:
        return self.amount_currently_left + self.amount_expected_fixed

    @property
    def amount_expected_left(self) -> Decimal:
        return self.amount_disposable + self.amount_expected_flex

    @property
    def amount_expected_left_daily(self) -> Decimal:
        return (self.amount_expected_left / max(1, self.days_until_salary)).quantize(_CENT, ROUND_HALF_UP)


def find_salary(contracts: Sequence[Contract], today: date) -> Contract | None:
    """The active salary, also one that has been paid only once so far; of several the one that pays most."""
    salaries = [
        contract
        for contract in contracts
        if contract.category == SALARY
        and contract.status is not Status.INACTIVE
        and contract.is_income
        and contract.currency == CURRENCY
        if contract.date_next is not None
        and contract.amount_next is not None
        and contract.date_latest <= today < contract.date_next
    ]
    return max(salaries, key=lambda salary: (salary.amount_next or 0, salary.date_latest, salary.id), default=None)


def find_disposable_money(
    records: Sequence[Record], contracts: Sequence[Contract], today: date
) -> DisposableMoney | None:
    """What can be spent until the next salary, or nothing where no salary is active."""
    salary = find_salary(contracts, today)
    if salary is None or salary.date_next is None or salary.amount_next is None:
        return None
    begin, end = salary.date_latest, salary.date_next
    bookings = select_bookings(records, today, Options())
    salary_id = salary.transaction_ids_regular[-1]
    cycle = [record for record in bookings.counted if record.day >= begin and record.id != salary_id]
    cycle_ids = tuple(dict.fromkeys(record.id for record in cycle))
    payments = sorted(
        Payment(day, cents, contract.transaction_ids_regular[-1])
        for contract in select_contracts(contracts, Options(), bookings)
        for day, cents in list_due(contract, today, end - timedelta(days=1))
    )
    regular_ids = {transaction_id for contract in contracts for transaction_id in contract.transaction_ids_regular}
    rests = _list_rests(bookings.counted, regular_ids, salary, today)
    flex = find_middle(rests)
    reasons = (
        Reason(f"The latest salary came on {begin}, the next is expected on {end}", (salary_id,)),
        Reason(f"{len(cycle_ids)} bookings since then, without own transfers", cycle_ids),
        Reason(_name_payments(payments), tuple(dict.fromkeys(payment.latest_id for payment in payments))),
        Reason(_name_rests(rests)),
    )
    foreign = {
        record.currency
        for record in records
        if record.currency != CURRENCY and begin <= record.day <= today
        if not record.is_pending and record.category != OWN_TRANSFER
    }
    return DisposableMoney(
        amount_salary_latest=salary.amount_latest,
        amount_cashflow=sum((record.amount for record in cycle), Decimal("0.00")),
        amount_expected_fixed=to_amount(sum(payment.cents for payment in payments)),
        amount_expected_flex=to_amount(flex),
        amount_salary_next=salary.amount_next,
        date_salary_latest=begin,
        date_salary_next=end,
        days_until_salary=(end - today).days,
        salary=salary,
        excluded_currencies=tuple(sorted(foreign)),
        reasons=reasons,
    )


def _list_rests(records: Sequence[Record], regular_ids: set[str], salary: Contract, today: date) -> list[int]:
    """What came after as many days of each previous cycle, apart from contracts, in cents; the latest cycle first."""
    starts = sorted(salary.cost_development_regular)[-CYCLES - 1 :]
    lengths = [(later - earlier).days for earlier, later in pairwise(starts)]
    if not lengths:
        return []
    longest = _MAX_CYCLE * sorted(lengths)[len(lengths) // 2]
    elapsed = (today - salary.date_latest).days
    sums = [0] * len(lengths)
    for record in records:
        if not starts[0] <= record.day < starts[-1] or record.id in regular_ids:
            continue
        place = bisect_right(starts, record.day) - 1
        if (record.day - starts[place]).days > elapsed:
            sums[place] += to_cents(record.amount)
    return [cents for cents, days in zip(sums, lengths, strict=True) if days <= longest][::-1]


def _name_payments(payments: Sequence[Payment]) -> str:
    if not payments:
        return "No payment of a contract is due before the next salary"
    named = ", ".join(f"{to_amount(payment.cents)} on {payment.day}" for payment in payments[:30])
    return f"{len(payments)} payments of contracts are due before the next salary: {named}"


def _name_rests(rests: Sequence[int]) -> str:
    if not rests:
        return "There is no previous cycle to learn from"
    named = ", ".join(str(to_amount(cents)) for cents in rests)
    return (
        f"What else is to be expected is the median of the rest of the previous {len(rests)} cycles without contracts,"
        f" the latest first: {named}"
    )
