"""The analyses as a library: rows of the caller in, tags and findings out. Needs no server and no database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

from kontor.analysis.affordability import Affordability, measure_affordability
from kontor.analysis.cashflow import Cashflow, find_cashflow
from kontor.analysis.contracts import Contract
from kontor.analysis.contracts import find_contracts as find_contracts_of_records
from kontor.analysis.credit_checks import CreditCheck, check_credit
from kontor.analysis.day_order import order_records
from kontor.analysis.disposable_money import DisposableMoney, find_disposable_money
from kontor.analysis.duplicates import find_shared, join_accounts
from kontor.analysis.life_events import LifeEvent, find_life_events
from kontor.analysis.life_stages import LifeStage, find_life_stages
from kontor.analysis.records import Account, Record, make_record
from kontor.analysis.sales_triggers import SalesTrigger, find_sales_triggers
from kontor.analysis.tables import Row, add_columns, read_accounts, read_rows
from kontor.analysis.tagging import OwnAccounts, Tagging, load_tagger, make_own_accounts
from kontor.domain.clocks import BERLIN

NO_COLUMNS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Analysis:
    """What follows from the bookings of one person. Each finding is computed when it is read for the first time."""

    records: Sequence[Record]
    accounts: Sequence[Account]
    today: date

    @cached_property
    def contracts(self) -> list[Contract]:
        return find_contracts_of_records(self.records, self.accounts, self.today)

    @cached_property
    def cashflow(self) -> list[Cashflow]:
        return find_cashflow(self.records, self.contracts, self.accounts, self.today)

    @cached_property
    def disposable_money(self) -> DisposableMoney | None:
        return find_disposable_money(self.records, self.contracts, self.today)

    @cached_property
    def life_events(self) -> list[LifeEvent]:
        return find_life_events(self.records, self.contracts, self.accounts, self.today)

    @cached_property
    def life_stages(self) -> list[LifeStage]:
        return find_life_stages(self.records, self.contracts, self.accounts, self.today)

    @cached_property
    def sales_triggers(self) -> list[SalesTrigger]:
        return find_sales_triggers(self.records, self.contracts, self.accounts, self.today)

    @cached_property
    def affordability(self) -> Affordability | None:
        return measure_affordability(self.records, self.contracts, self.accounts, self.today)

    @cached_property
    def credit_check(self) -> CreditCheck | None:
        return check_credit(self.records, self.contracts, self.accounts, self.today)


def tag(table: Any, *, accounts: Iterable[Mapping[str, Any]] = (), columns: Mapping[str, str] = NO_COLUMNS) -> Any:
    """The table with a column per tag, and one with the confidence in each.

    `accounts` are those of the person whose bookings these are: transfers between them are own transfers.
    """
    rows = read_rows(table, columns)
    taggings = _tag_rows(rows, read_accounts(accounts, rows))
    names = Tagging._fields
    return add_columns(table, {name: [getattr(tagging, name) for tagging in taggings] for name in names})


def find_contracts(
    table: Any,
    *,
    accounts: Iterable[Mapping[str, Any]] = (),
    columns: Mapping[str, str] = NO_COLUMNS,
    today: date | None = None,
) -> list[Contract]:
    """The contracts that the bookings of one person show."""
    return analyse(table, accounts=accounts, columns=columns, today=today).contracts


def analyse(
    table: Any,
    *,
    accounts: Iterable[Mapping[str, Any]] = (),
    columns: Mapping[str, str] = NO_COLUMNS,
    today: date | None = None,
) -> Analysis:
    """All analyses of the bookings of one person. Accounts with the same IBAN are one account."""
    rows = read_rows(table, columns)
    known = read_accounts(accounts, rows)
    taggings = _tag_rows(rows, known)
    records = [
        make_record(row.id, row.account, row.transaction, tagging) for row, tagging in zip(rows, taggings, strict=True)
    ]
    shared = find_shared(known, records, [row.transaction for row in rows])
    joined, known = join_accounts(records, known, shared)
    return Analysis(order_records(joined), known, today or datetime.now(BERLIN).date())


def _tag_rows(rows: Sequence[Row], accounts: Sequence[Account]) -> list[Tagging]:
    own: OwnAccounts = make_own_accounts((account.iban, account.holder, account.category) for account in accounts)
    return load_tagger().tag([row.transaction for row in rows], own)
