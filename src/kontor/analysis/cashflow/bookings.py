"""Which bookings count, and under which tag.

A booking counts on the day it is booked, once it is booked: pending ones and days to come are left out. Money between
own accounts is neither income nor expense; what is saved on one of them is listed, and is neither as well. Only euros
are summed; what is in another currency is named, not converted. Of a booking that the user has split, the parts count.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from kontor.analysis.cashflow.findings import Level, Options, TaggedBy
from kontor.analysis.cashflow.spans import Cell, find_cell
from kontor.analysis.contracts import Contract
from kontor.analysis.own_money import OWN_TRANSFER, OwnMoney
from kontor.analysis.parts import split_records
from kontor.analysis.records import Record

CURRENCY = "EUR"
NET, INCOME, EXPENSES = "NET", "INCOME", "EXPENSES"
_SAVINGS, _INVESTMENT = "SAVINGS_", "BANKFINANCE_INVESTMENT"
# What is not a number, or beyond anything that is money, would spoil every sum that it is part of.
_LARGEST = Decimal("1e15")


@dataclass(frozen=True, slots=True)
class Tag:
    """An outer item: aggregates share names with categories, so they are told apart."""

    name: str
    is_aggregate: bool = False


AGGREGATES = (Tag(NET, True), Tag(INCOME, True), Tag(EXPENSES, True))


@dataclass(slots=True)
class Bookings:
    """Counted bookings, and where which currency was left out: name of the tag, time, currency. `saved` are the keys of
    what was put aside, `own` those of transfers between own accounts, which are not counted."""

    counted: list[Record] = field(default_factory=list)
    saved: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    excluded: set[tuple[str, Cell, str]] = field(default_factory=set)


def choose_tag(options: Options) -> Callable[[Record | Contract], str]:
    """How a booking or contract is named under these options."""
    if options.tagged_by is TaggedBy.BUSINESS_PARTNERS:
        return lambda entry: entry.partner
    if options.level is Level.MAIN:
        return lambda entry: entry.category.partition("_")[0]
    return lambda entry: entry.category


def is_left_out(category: str, *, exclude_savings: bool) -> bool:
    if category == OWN_TRANSFER:
        return True
    return exclude_savings and (category.startswith(_SAVINGS) or category == _INVESTMENT)


def select_bookings(records: Iterable[Record], today: date, options: Options, own: OwnMoney | None = None) -> Bookings:
    """All bookings that count up to today. Without `own`, own transfers are those that are tagged so."""
    chosen = Bookings()
    find_tag = choose_tag(options)
    counted, exclude_savings = chosen.counted, options.exclude_savings
    decided: dict[str, bool] = {}
    whole = list(records)
    for record in split_records(whole):
        if record.is_pending or record.day > today:
            continue
        is_out = decided.get(record.category)
        if is_out is None:
            is_out = decided[record.category] = is_left_out(record.category, exclude_savings=exclude_savings)
        if is_out:
            continue
        if own is not None:
            if own.is_transfer(record):
                chosen.own.add(record.key)
                continue
            if own.is_saved(record):
                chosen.saved.add(record.key)
        if record.currency != CURRENCY:
            chosen.excluded.add((find_tag(record), find_cell(record.day), record.currency))
        elif record.amount.is_finite() and -_LARGEST < record.amount < _LARGEST:
            counted.append(record)
    if own is not None:
        _mark_split(chosen, whole, own)
    return chosen


def _mark_split(chosen: Bookings, records: Iterable[Record], own: OwnMoney) -> None:
    """Contracts are found in whole bookings: what those are counts for them, whatever their parts are."""
    for record in records:
        if record.part_categories and own.is_transfer(record):
            chosen.own.add(record.key)
        elif record.part_categories and own.is_saved(record):
            chosen.saved.add(record.key)


def select_contracts(contracts: Sequence[Contract], options: Options, bookings: Bookings) -> list[Contract]:
    """The contracts whose payments count."""
    return [
        contract
        for contract in contracts
        if contract.currency == CURRENCY and not is_left_out(contract.category, exclude_savings=options.exclude_savings)
        if contract.transaction_ids_regular[-1] not in bookings.own
    ]
