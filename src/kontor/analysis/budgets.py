"""Budgets: what comes in and what goes out in a usual month, by use and by category.

Counted are bookings in euros of the last twelve complete months with data. Money between own accounts counts as neither
income nor expense; putting something aside is no expense either. Income is what is earned (`earned_income.py`). Means
are rounded so that parts add up to their whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import Enum
from functools import lru_cache

from kontor.analysis.calendars import find_day, number_month
from kontor.analysis.contracts import Contract
from kontor.analysis.day_order import order_records, select_days
from kontor.analysis.earned_income import EarnedIncome
from kontor.analysis.own_money import LOAN_PAYMENTS, PASSIVE, OwnMoney
from kontor.analysis.parts import split_records
from kontor.analysis.records import Account, Record

CURRENCY = "EUR"
MONTHS = 12
# An access that is silent for longer does not hold back the months that are looked at.
_MAX_SILENCE = timedelta(days=190)
_LARGEST = Decimal("1e15")
CENT = Decimal("0.01")


class Use(Enum):
    """`RECEIVED` came in without being earned, such as a refund or a loan."""

    INCOME = "income"
    RECEIVED = "received"
    NECESSITY = "necessity"
    LUXURY = "luxury"
    SAVING = "saving"


_NECESSARY = frozenset(
    {"LIVING", "HOUSING", "BILLS", "HEALTH", "MOBILITY", "FAMILY", "EDUCATION", "INSURANCE", "TAXES"}
)
_NOT_NECESSARY = frozenset({"MOBILITY_VEHICLEACQUISITION", "MOBILITY_BIKEACQUISITION", "MOBILITY_TAXI"})
_INVESTMENT = "BANKFINANCE_INVESTMENT"


@lru_cache(maxsize=1024)
def find_use(category: str) -> Use:
    """What money that goes out is for, by its category."""
    main = category.partition("_")[0]
    if main == "SAVINGS" or category == _INVESTMENT:
        return Use.SAVING
    if category in LOAN_PAYMENTS or (main in _NECESSARY and category not in _NOT_NECESSARY):
        return Use.NECESSITY
    return Use.LUXURY


@dataclass(frozen=True, slots=True)
class Part:
    """An amount a month, and what it is made of by category."""

    amount: Decimal
    items: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Split:
    """What belongs to contracts, and what does not."""

    amount: Decimal
    regular: Part
    irregular: Part


@dataclass(frozen=True, slots=True)
class Budget:
    """Amounts a month, positive. `months` are the numbers of the months counted, the latest first. `installments` are
    what is paid regularly to lenders."""

    months: tuple[int, ...]
    income: Split
    necessities: Split
    luxuries: Split
    savings: Split
    expenses: Decimal
    installments: Decimal
    excluded_currencies: tuple[str, ...]
    counted: tuple[tuple[Use, bool, Record], ...] = field(repr=False, default=())

    @property
    def first_day(self) -> date:
        return find_day(self.months[-1], 1)

    @property
    def last_day(self) -> date:
        return find_day(self.months[0], 31)


def is_sum(amount: Decimal) -> bool:
    """Whether an amount can be summed: not zero, a number, and not beyond anything that is money."""
    return bool(amount) and amount.is_finite() and abs(amount) < _LARGEST


def is_countable(record: Record, today: date) -> bool:
    return not record.is_pending and record.day <= today and record.currency == CURRENCY and is_sum(record.amount)


def find_limit_month(accounts: Sequence[Account], today: date) -> int:
    """The first month that is not complete: today's, or an earlier one where a bank has not told of all of it."""
    limit = number_month(today)
    oldest = today - _MAX_SILENCE if today.toordinal() > _MAX_SILENCE.days else date.min
    for account in accounts:
        until = account.data_until
        if until is not None and oldest <= until < today and account.category not in PASSIVE:
            limit = min(limit, number_month(until + timedelta(days=1)))
    return limit


def select_months(ordered: Sequence[Record], limit: int) -> tuple[tuple[int, ...], list[Record], set[str]]:
    """The latest complete months that have data, the latest first; their bookings; and the other currencies."""
    months: list[int] = []
    chosen: list[Record] = []
    others: set[str] = set()
    latest = None
    for record in reversed(ordered):
        if record.is_pending:
            continue
        if record.currency != CURRENCY:
            others.add(record.currency)
            continue
        if record.day != latest:
            month, latest = number_month(record.day), record.day
            if month >= limit:
                latest = None
                continue
            if not months or months[-1] != month:
                if len(months) == MONTHS:
                    break
                months.append(month)
        if is_sum(record.amount):
            chosen.append(record)
    chosen.reverse()
    return tuple(months), chosen, others


def make_budget(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> Budget | None:
    """The budget, or nothing where no complete month has data."""
    ordered = select_days(order_records(records), date.min, today)
    months, chosen, others = select_months(ordered, find_limit_month(accounts, today))
    if not months:
        return None
    own = OwnMoney(accounts)
    begin = find_day(months[-1], 1)
    regular_ids = {
        number for contract in contracts if contract.date_latest >= begin for number in contract.transaction_ids
    }
    earned = EarnedIncome(contracts, accounts)
    counted = [
        (_find_use_of(record, earned), record.id in regular_ids, record)
        for record in split_records(chosen)
        if not own.is_own(record)
    ]
    sums = _Sums(counted, len(months))
    necessities, luxuries, expenses = sums.split_expenses()
    return Budget(
        months=months,
        income=sums.split(Use.INCOME),
        necessities=necessities,
        luxuries=luxuries,
        savings=sums.split(Use.SAVING),
        expenses=expenses,
        installments=_sum_installments(counted, contracts, len(months)),
        excluded_currencies=tuple(sorted(others)),
        counted=tuple(counted),
    )


def _find_use_of(record: Record, earned: EarnedIncome) -> Use:
    if record.amount < 0:
        return find_use(record.category)
    return Use.INCOME if earned.is_earned(record) else Use.RECEIVED


def _sum_installments(
    counted: Iterable[tuple[Use, bool, Record]], contracts: Sequence[Contract], count: int
) -> Decimal:
    """What lenders get regularly. A price, money held by a notary and a single repayment are no installments."""
    regular_ids = {
        number
        for contract in contracts
        if contract.category in LOAN_PAYMENTS and not contract.is_income
        for number in contract.transaction_ids_regular
    }
    paid = sum((-record.amount for _, _, record in counted if record.id in regular_ids), Decimal(0))
    return (paid / count).quantize(CENT, ROUND_HALF_UP)


class _Sums:
    """Cents by use, regularity and category, and their means."""

    def __init__(self, counted: Iterable[tuple[Use, bool, Record]], count: int) -> None:
        sums: dict[tuple[Use, bool], dict[str, Decimal]] = {(use, flag): {} for use in Use for flag in (True, False)}
        for use, is_regular, record in counted:
            of_part = sums[use, is_regular]
            of_part[record.category] = of_part.get(record.category, Decimal(0)) + record.amount
        self._cents = {
            key: {name: abs(int((amount * 100).to_integral_value(ROUND_HALF_UP))) for name, amount in of_part.items()}
            for key, of_part in sums.items()
        }
        self._count = count

    def _total(self, use: Use) -> int:
        return sum(sum(self._cents[use, flag].values()) for flag in (True, False))

    def _mean(self, cents: int) -> int:
        return (2 * cents + self._count) // (2 * self._count)

    def split(self, use: Use, mean: int | None = None) -> Split:
        mean = self._mean(self._total(use)) if mean is None else mean
        totals = [sum(self._cents[use, flag].values()) for flag in (True, False)]
        shares = share_out(mean, totals, self._count)
        parts = []
        for share, flag in zip(shares, (True, False), strict=True):
            names = sorted(self._cents[use, flag])
            cents = share_out(share, [self._cents[use, flag][name] for name in names], self._count)
            parts.append(
                Part(to_money(share), {name: to_money(amount) for name, amount in zip(names, cents, strict=True)})
            )
        return Split(to_money(mean), *parts)

    def split_expenses(self) -> tuple[Split, Split, Decimal]:
        totals = [self._total(Use.NECESSITY), self._total(Use.LUXURY)]
        mean = self._mean(sum(totals))
        necessities, luxuries = share_out(mean, totals, self._count)
        return self.split(Use.NECESSITY, necessities), self.split(Use.LUXURY, luxuries), to_money(mean)


def share_out(whole: int, parts: Sequence[int], count: int) -> list[int]:
    """Means of the parts that add up to the mean of the whole: the largest remainders are rounded up."""
    shares = [part // count for part in parts]
    by_rest = sorted(range(len(parts)), key=lambda place: (-(parts[place] % count), place))
    missing = whole - sum(shares)
    for place in by_rest[: max(0, missing)]:
        shares[place] += 1
    return shares


def to_money(cents: int) -> Decimal:
    return (Decimal(cents) / 100).quantize(CENT)


def measure_ratio(part: Decimal, whole: Decimal) -> Decimal:
    """A ratio over zero is 0."""
    if not whole:
        return Decimal(0)
    return (part / whole).quantize(Decimal("0.0001"), ROUND_HALF_UP)
