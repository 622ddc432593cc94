"""What the bookings of files mean. Every sum is made from the same bookings, so that parts add up to their totals."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property

from msgspec import structs

from kontor.analysis.calendars import find_day, number_month
from kontor.analysis.cashflow import Cashflow, Prediction, find_cashflow, name_month
from kontor.analysis.cashflow.bookings import CURRENCY, EXPENSES, INCOME, Bookings, select_bookings
from kontor.analysis.cashflow.findings import Options
from kontor.analysis.cashflow.histories import list_due
from kontor.analysis.contracts import Contract, Status, find_contracts
from kontor.analysis.day_order import order_records
from kontor.analysis.disposable_money import DisposableMoney, find_disposable_money
from kontor.analysis.life_events import LifeEvent, find_life_events
from kontor.analysis.own_money import OwnMoney
from kontor.analysis.records import NO_INSURANCE, Account, Record, make_record
from kontor.analysis.tagging import Tagging, load_tagger, make_own_accounts
from kontor.cli.file_analyses.reading import ReadFiles, ReadRow
from kontor.domain.transactions import Transaction
from kontor.domain.transactions import find_day as find_booking_day

MONTHS = 12
DUE_DAYS = 31
STALE_DAYS = 45  # bookings that end earlier are looked at on their last day, so that contracts are not all over
NOTHING = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class Sums:
    """Money of a span, without what moves between own accounts or is saved on one of them. `spent` is negative."""

    earned: Decimal = NOTHING
    spent: Decimal = NOTHING
    count: int = 0

    @property
    def net(self) -> Decimal:
        return self.earned + self.spent

    def add(self, amount: Decimal) -> "Sums":
        return Sums(self.earned + max(amount, NOTHING), self.spent + min(amount, NOTHING), self.count + 1)


@dataclass(frozen=True, slots=True)
class Month:
    first: date
    sums: Sums


@dataclass(frozen=True, slots=True)
class Forecast:
    """Of a whole month."""

    first: date
    income: Prediction
    expenses: Prediction


@dataclass(frozen=True, slots=True)
class Due:
    day: date
    amount: Decimal
    contract: Contract


@dataclass(frozen=True)
class FileAnalysis:
    """`today` is the day the bookings are looked at: their last one if `is_dated_back`, since they end long before.

    `rows` and `taggings` go together. The id of a row is its number, from 1 on.
    """

    read: ReadFiles
    today: date
    rows: Sequence[ReadRow]
    taggings: Sequence[Tagging]
    is_dated_back: bool = False

    @cached_property
    def counts(self) -> Counter[str]:
        """Bookings per account."""
        return Counter(row.account for row in self.rows)

    @cached_property
    def accounts(self) -> list[Account]:
        last_days: dict[str, date] = {}
        for row in self.rows:
            day = read_day(row.transaction)
            last_days[row.account] = max(day, last_days.get(row.account, day))
        return [
            Account(
                account.product.key,
                account.product.category,
                account.product.name,
                account.product.holder,
                account.product.iban or "",
                account.product.currency or CURRENCY,
                account.product.balance,
                last_days.get(account.product.key),
            )
            for account in self.read.accounts
        ]

    @cached_property
    def records(self) -> Sequence[Record]:
        made = []
        for number, (row, tagging) in enumerate(zip(self.rows, self.taggings, strict=True), start=1):
            transaction = row.transaction
            if transaction.booked_at is None:
                transaction = replace(transaction, booked_at=transaction.value_at)
            record = make_record(str(number), row.account, transaction, tagging)
            made.append(structs.replace(record, is_pending=True) if transaction.is_pending else record)
        return order_records(made)

    @cached_property
    def contracts(self) -> list[Contract]:
        """All that are not over, dearest first."""
        return sorted(
            (contract for contract in self._all_contracts if contract.status is not Status.INACTIVE),
            key=lambda contract: (contract.is_income, -abs(contract.amount_latest), contract.id),
        )

    @cached_property
    def ended_contracts(self) -> list[Contract]:
        ended = (contract for contract in self._all_contracts if contract.status is Status.INACTIVE)
        return sorted(ended, key=lambda contract: (contract.date_latest, contract.id), reverse=True)

    @cached_property
    def insurances(self) -> list[Contract]:
        return [contract for contract in self.contracts if contract.insurance_type != NO_INSURANCE]

    @cached_property
    def dues(self) -> list[Due]:
        """What is to be paid or received in the next month."""
        until = self.today + timedelta(days=DUE_DAYS)
        return sorted(
            (
                Due(day, Decimal(cents) / 100, contract)
                for contract in self.contracts
                if contract.currency == CURRENCY and contract.transaction_ids_regular[-1] not in self._bookings.own
                for day, cents in list_due(contract, self.today, until)
            ),
            key=lambda due: (due.day, due.amount, due.contract.id),
        )

    @cached_property
    def months(self) -> list[Month]:
        """The latest months up to today's, without gaps; the last one may be unfinished."""
        if not self._counted:
            return []
        by_month = _sum_by(lambda record: str(number_month(record.day)), self._counted)
        last = number_month(self.today)
        first = max(last - MONTHS, number_month(self._counted[0].day))
        return [Month(find_day(number, 1), by_month.get(str(number), Sums())) for number in range(first, last + 1)]

    @property
    def span(self) -> Sums:
        """All months that are shown together."""
        return _join(month.sums for month in self.months)

    @cached_property
    def categories(self) -> dict[str, Sums]:
        """Main categories of the months that are shown, the dearest first."""
        return _sort(_sum_by(lambda record: record.main_category, self._shown))

    @cached_property
    def subcategories(self) -> dict[str, dict[str, Sums]]:
        """Per main category."""
        return {
            main: _sort(_sum_by(lambda record: record.category, _select(self._shown, main))) for main in self.categories
        }

    @cached_property
    def saved(self) -> Decimal:
        """What was put aside in the months that are shown; negative where more was taken back."""
        first = self.months[0].first if self.months else self.today
        return -sum(
            (record.amount for record in self._bookings.counted if self._is_saved(record) and record.day >= first),
            NOTHING,
        )

    @cached_property
    def forecasts(self) -> list[Forecast]:
        flows = {flow.item: flow for flow in self._cashflow if flow.is_aggregate}
        if INCOME not in flows or EXPENSES not in flows:
            return []
        expenses = {prediction.item: prediction for prediction in flows[EXPENSES].predictions}
        firsts = {name_month(number): find_day(number, 1) for number in self._list_next_months()}
        return [
            Forecast(firsts[income.item], income, expenses[income.item])
            for income in flows[INCOME].predictions
            if income.item in expenses and income.item in firsts
        ]

    @cached_property
    def disposable(self) -> DisposableMoney | None:
        return find_disposable_money(self.records, self._all_contracts, self.today)

    @cached_property
    def events(self) -> list[LifeEvent]:
        """The latest first."""
        found = find_life_events(self.records, self._all_contracts, self.accounts, self.today)
        return sorted(found, key=lambda event: (event.day, event.name), reverse=True)

    @property
    def first_day(self) -> date:
        return min(read_day(row.transaction) for row in self.rows)

    @property
    def last_day(self) -> date:
        return max(read_day(row.transaction) for row in self.rows)

    @cached_property
    def left_out(self) -> dict[str, int]:
        """Bookings in other currencies, which no sum contains."""
        counts: dict[str, int] = {}
        for record in self.records:
            if record.currency != CURRENCY:
                counts[record.currency] = counts.get(record.currency, 0) + 1
        return counts

    @cached_property
    def _all_contracts(self) -> list[Contract]:
        return find_contracts(self.records, self.accounts, self.today)

    @cached_property
    def _cashflow(self) -> list[Cashflow]:
        return find_cashflow(self.records, self._all_contracts, self.accounts, self.today)

    @cached_property
    def _bookings(self) -> Bookings:
        return select_bookings(self.records, self.today, Options(), OwnMoney(self.accounts))

    @cached_property
    def _counted(self) -> list[Record]:
        return [record for record in self._bookings.counted if not self._is_saved(record)]

    @cached_property
    def _shown(self) -> list[Record]:
        """Those of the months that are shown."""
        return [record for record in self._counted if record.day >= self.months[0].first]

    def _is_saved(self, record: Record) -> bool:
        return record.key in self._bookings.saved

    def _list_next_months(self) -> range:
        current = number_month(self.today)
        return range(current, current + 3)


def analyse(read: ReadFiles, today: date, *, is_fixed: bool = False) -> FileAnalysis:
    """`today` where it is fixed; otherwise the last booked day, if the bookings end long before."""
    own = make_own_accounts(
        (account.product.iban or "", account.product.holder, account.product.category) for account in read.accounts
    )
    rows = sorted(read.rows, key=lambda row: read_day(row.transaction))
    taggings = load_tagger().tag([row.transaction for row in rows], own)
    booked = [read_day(row.transaction) for row in rows if not row.transaction.is_pending]
    last = max(booked, default=today)
    is_dated_back = not is_fixed and last < today - timedelta(days=STALE_DAYS)
    return FileAnalysis(read, last if is_dated_back else today, rows, taggings, is_dated_back)


def read_day(transaction: Transaction) -> date:
    day = find_booking_day(transaction)
    assert day is not None, "rows without a day are not read"
    return day


def _sum_by(find_key: Callable[[Record], str], records: Iterable[Record]) -> dict[str, Sums]:
    sums: dict[str, Sums] = {}
    for record in records:
        key = find_key(record)
        sums[key] = sums.get(key, Sums()).add(record.amount)
    return sums


def _select(records: Iterable[Record], main: str) -> Iterable[Record]:
    return (record for record in records if record.main_category == main)


def _sort(sums: dict[str, Sums]) -> dict[str, Sums]:
    return dict(sorted(sums.items(), key=lambda entry: (entry[1].net, entry[0])))


def _join(parts: Iterable[Sums]) -> Sums:
    total = Sums()
    for part in parts:
        total = Sums(total.earned + part.earned, total.spent + part.spent, total.count + part.count)
    return total
