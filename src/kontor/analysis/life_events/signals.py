"""The signals of a life: periods over which somebody is paid, or pays, one thing, and single bookings. Life events are
their beginnings and ends."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

from kontor.analysis.calendars import find_day, number_month
from kontor.analysis.contracts import Contract, Status
from kontor.analysis.contracts.periods import BY_NAME
from kontor.analysis.contracts.texts import simplify_name
from kontor.analysis.day_order import order_records, select_days
from kontor.analysis.life_events.signs import CHILD_PURCHASES, READ_CATEGORIES, Sign, read_sign
from kontor.analysis.records import NO_PARTNER, Account, Record
from kontor.domain.products import ProductCategory

MONTH_DAYS = 31
# A pause longer than this parts two periods; a shorter one with the same partner does not.
MAX_PAUSE_DAYS = 100
FRESH_DAYS = 45
# So far weekends and holidays move a payment.
_MOVED_DAYS = 4
_MIN_GRACE_DAYS, _GRACE_SHARE = 7, 0.35
# Their category leaves little doubt: payments that are no contract yet are believed, and a first one while it is new.
_BELIEVED_AT_ONCE = frozenset(
    {
        Sign.SALARY,
        Sign.PENSION,
        Sign.UNEMPLOYMENT,
        Sign.PARENTAL_ALLOWANCE,
        Sign.STUDENT_AID,
        Sign.CHILD_BENEFIT,
        Sign.SIDE_JOB,
        Sign.SURVIVOR_PENSION,
        Sign.RENT,
        Sign.ROOM,
        Sign.MORTGAGE,
    }
)
# These are looked at one by one, not as periods.
SINGLE = frozenset(
    {
        Sign.PAYOUT,
        Sign.PAYOFF,
        Sign.MOVER,
        Sign.DEPOSIT,
        Sign.PURCHASE_PRICE,
        Sign.TRANSFER_TAX,
        Sign.WINDFALL,
        Sign.REVENUE,
        Sign.SEMESTER_FEE,
        Sign.MATERNITY_PAY,
    }
)


@dataclass(frozen=True, slots=True)
class SignalPeriod:
    """`is_over`: a payment that was due did not come although newer data is there. `has_beginning`: an earlier payment
    would have been seen."""

    sign: Sign
    partner: str
    records: tuple[Record, ...]
    is_over: bool
    has_beginning: bool

    @property
    def first(self) -> date:
        return self.records[0].day

    @property
    def last(self) -> date:
        return self.records[-1].day

    @property
    def usual_amount(self) -> Decimal:
        ordered = sorted(abs(record.amount) for record in self.records)
        return ordered[len(ordered) // 2]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(record.id for record in self.records)

    def covers(self, day: date) -> bool:
        return self.first <= day and (not self.is_over or day <= self.last)


@dataclass(frozen=True, slots=True)
class LifeSignals:
    """All signs of a life. `data_from` and `data_until` are by account, `child_days` of purchases for children, `count`
    says how many bookings there are."""

    today: date
    periods: Mapping[Sign, Sequence[SignalPeriod]]
    singles: Mapping[Sign, Sequence[Record]]
    data_from: Mapping[str, date]
    data_until: Mapping[str, date]
    child_days: Sequence[date] = ()
    regular_ids: frozenset[str] = field(default_factory=frozenset)
    monthly_income: Decimal = Decimal(0)
    count: int = 0

    def list_periods(self, *signs: Sign) -> list[SignalPeriod]:
        periods = [period for sign in signs for period in self.periods.get(sign, ())]
        periods.sort(key=lambda period: (period.first, period.records[0].id))
        return periods

    def list_singles(self, *signs: Sign) -> list[Record]:
        records = [record for sign in signs for record in self.singles.get(sign, ())]
        records.sort(key=lambda record: (record.day, record.id))
        return records

    @property
    def first_day(self) -> date:
        return min(self.data_from.values(), default=self.today)


def list_data_until(newest: Mapping[str, date], accounts: Sequence[Account], today: date) -> dict[str, date]:
    """Per account the newest day that is known about: what the bank told, else its newest booking."""
    known = dict(newest)
    for account in accounts:
        if account.data_until is not None and account.id in known:
            known[account.id] = min(today, max(account.data_until, known[account.id]))
    return known


def name_partner(record: Record) -> str:
    if record.partner not in (NO_PARTNER, ""):
        return record.partner
    return simplify_name(record.counterparty_name) or record.counterparty_iban or record.account


class _Builder:
    """Makes periods of one sign from groups of payments."""

    def __init__(self, data_from: Mapping[str, date], data_until: Mapping[str, date]) -> None:
        self._data_from = data_from
        self._data_until = data_until

    def _is_overdue(self, record: Record, period_days: float) -> bool:
        grace = max(_MIN_GRACE_DAYS, _GRACE_SHARE * period_days)
        return (self._data_until[record.account] - record.day).days > period_days + grace

    def _has_beginning(self, record: Record, period_days: float) -> bool:
        """Whether the account's data goes back to where the payment before the first one would have been."""
        data_from = self._data_from[record.account]
        if period_days <= MONTH_DAYS:
            before = find_day(number_month(record.day) - 1, record.day.day)
            return (before - data_from).days >= _MOVED_DAYS
        return (record.day - data_from).days > period_days * (1 + _GRACE_SHARE)

    def build(self, sign: Sign, members: list[Record], contract: Contract | None) -> list[SignalPeriod]:
        members.sort(key=lambda record: (record.day, record.id))
        period_days = BY_NAME[contract.period].days if contract is not None and contract.period in BY_NAME else 30.44
        pause = max(MAX_PAUSE_DAYS, 2.2 * period_days)
        pieces = [[members[0]]]
        for earlier, later in pairwise(members):
            if (later.day - earlier.day).days > pause:
                pieces.append([])
            pieces[-1].append(later)
        periods = []
        for place, piece in enumerate(pieces):
            if place < len(pieces) - 1:
                is_over = True
            elif contract is not None:
                is_over = contract.status is Status.INACTIVE
            else:
                is_over = self._is_overdue(piece[-1], period_days)
            begins = place > 0 or self._has_beginning(piece[0], period_days)
            periods.append(SignalPeriod(sign, name_partner(piece[-1]), tuple(piece), is_over, begins))
        return periods

    def is_believed(self, period: SignalPeriod) -> bool:
        """Whether payments that are no contract make a period."""
        if period.sign not in _BELIEVED_AT_ONCE:
            return False
        only = period.records[0]
        return len(period.records) > 1 or (self._data_until[only.account] - only.day).days <= FRESH_DAYS


def join_periods(periods: Iterable[SignalPeriod]) -> list[SignalPeriod]:
    """Periods with one partner that follow upon each other closely are one."""
    joined: list[SignalPeriod] = []
    latest: dict[str, int] = {}
    for period in sorted(periods, key=lambda period: (period.first, period.records[0].id)):
        place = latest.get(period.partner)
        before = None if place is None else joined[place]
        if place is not None and before is not None and _follows(before, period):
            records = tuple(sorted(before.records + period.records, key=lambda record: (record.day, record.id)))
            joined[place] = SignalPeriod(period.sign, period.partner, records, period.is_over, before.has_beginning)
        else:
            latest[period.partner] = len(joined)
            joined.append(period)
    return joined


def _follows(before: SignalPeriod, period: SignalPeriod) -> bool:
    pause = (period.first - before.last).days
    return 0 < pause <= MAX_PAUSE_DAYS


@dataclass(slots=True)
class _Reading:
    """What one pass over the bookings gathers."""

    data_from: dict[str, date] = field(default_factory=dict)
    newest: dict[str, date] = field(default_factory=dict)
    signs: list[tuple[Sign, Record]] = field(default_factory=list)
    child_days: list[date] = field(default_factory=list)
    income: Decimal = Decimal(0)
    income_months: set[int] = field(default_factory=set)

    @property
    def monthly_income(self) -> Decimal:
        return self.income / len(self.income_months) if self.income_months else Decimal(0)


def _read_records(ordered: Iterable[Record], passive: set[str]) -> _Reading:
    """Most bookings say nothing about a life, so that little may be done for each."""
    reading = _Reading()
    data_from, newest = reading.data_from, reading.newest
    for record in ordered:
        account, category = record.account, record.category
        if record.is_pending or account in passive:
            continue
        newest[account] = record.day
        if account not in data_from:
            data_from[account] = record.day
        if category in READ_CATEGORIES:
            if record.currency == "EUR" and record.amount.is_finite() and record.amount:
                _read_record(record, reading)
        elif category in CHILD_PURCHASES:
            reading.child_days.append(record.day)
    return reading


def _read_record(record: Record, reading: _Reading) -> None:
    sign = read_sign(record)
    if sign is not None:
        reading.signs.append((sign, record))
    if record.amount > 0 and record.category.startswith("INCOME_"):
        reading.income += record.amount
        reading.income_months.add(number_month(record.day))


def read_life_signals(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> LifeSignals:
    """All that the bookings up to today say about a life."""
    passive = {account.id for account in accounts if account.category is ProductCategory.LOAN}
    ordered = select_days(order_records(records), date.min, today)
    reading = _read_records(ordered, passive)
    data_until = list_data_until(reading.newest, accounts, today)
    telling = [contract for contract in contracts if contract.category in READ_CATEGORIES]
    owners = {number: contract for contract in telling for number in contract.transaction_ids_regular}
    extras = {number for contract in telling for number in contract.transaction_ids_non_regular}
    grouped: dict[Sign, dict[str, list[Record]]] = {}
    singles: dict[Sign, list[Record]] = {}
    for sign, record in reading.signs:
        if sign in SINGLE:
            singles.setdefault(sign, []).append(record)
        elif record.id not in extras:
            owner = owners.get(record.id)
            key = f"P {name_partner(record)}" if owner is None else f"C {owner.id}"
            grouped.setdefault(sign, {}).setdefault(key, []).append(record)
    by_id = {f"C {contract.id}": contract for contract in telling}
    builder = _Builder(reading.data_from, data_until)
    periods = {}
    for sign, groups in grouped.items():
        found: list[SignalPeriod] = []
        for key, members in groups.items():
            contract = by_id.get(key)
            for period in builder.build(sign, members, contract):
                if contract is not None or builder.is_believed(period):
                    found.append(period)
                else:
                    singles.setdefault(sign, []).extend(period.records)
        periods[sign] = join_periods(found)
    return LifeSignals(
        today=today,
        periods=periods,
        singles=singles,
        data_from=reading.data_from,
        data_until=data_until,
        child_days=tuple(reading.child_days),
        regular_ids=frozenset(owners),
        monthly_income=reading.monthly_income,
        count=len(ordered),
    )


def count_days(first: date, second: date) -> int:
    return abs((first - second).days)


def subtract_months(day: date, months: int) -> date:
    """The same day so many months ago; at the beginning of the calendar the first day there is."""
    if number_month(day) - months < 12:
        return date.min
    return find_day(number_month(day) - months, day.day)


def subtract_days(day: date, days: int) -> date:
    return date.fromordinal(max(1, day.toordinal() - days)) if days >= 0 else day + timedelta(days=-days)
