"""Cashflow by groups of categories, as budgets have them: the same bookings and the same predictions as by category.

A booking can be in several groups: one has its category, another its own category. It counts once in each.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import TypeAlias

from msgspec import structs

from kontor.analysis.cashflow.bookings import Tag, select_bookings, select_contracts
from kontor.analysis.cashflow.findings import Cashflow, Options, Prediction, Statistic, TaggedBy
from kontor.analysis.cashflow.histories import Histories, open_window
from kontor.analysis.cashflow.predictions import predict_months
from kontor.analysis.cashflow.sums import sum_tags
from kontor.analysis.contracts import Contract
from kontor.analysis.own_money import OwnMoney
from kontor.analysis.parts import split_records
from kontor.analysis.records import Account, Record

# The groups that a category and an own category (empty where there is none) are in.
FindGroups: TypeAlias = Callable[[str, str], Collection[str]]


def find_grouped_cashflow(
    records: Sequence[Record],
    contracts: Sequence[Contract],
    accounts: Sequence[Account],
    today: date,
    find_groups: FindGroups,
) -> dict[str, Cashflow]:
    """By group, as far as there are bookings or predictions."""
    options = Options(tagged_by=TaggedBy.BUSINESS_PARTNERS)  # groups are put in the place of partners
    bookings = select_bookings(records, today, options, OwnMoney(accounts))
    window = open_window(bookings.counted, accounts, today)
    agreed = _group_contracts(select_contracts(contracts, options, bookings), records, find_groups)
    bookings.counted = [
        structs.replace(record, partner=group)
        for record in bookings.counted
        for group in find_groups(record.category, record.own_category)
    ]
    sums = sum_tags(bookings, _name_group, with_aggregates=False)
    predictions: dict[Tag, tuple[Prediction, ...]] = {}
    if window is not None:
        histories = Histories(window, with_aggregates=False)
        regular_ids = {transaction_id for contract in contracts for transaction_id in contract.transaction_ids_regular}
        histories.add_bookings(bookings, _name_group, regular_ids)
        histories.add_contracts(agreed, bookings, _name_group, today)
        predictions = {tag: predict_months(tag, histories) for tag in histories.by_tag}
    return {
        tag.name: Cashflow(
            tag.name,
            statistics=tuple(map(Statistic._make, sums.get(tag, {}).items())),
            predictions=predictions.get(tag, ()),
        )
        for tag in {*sums, *predictions}
    }


def _group_contracts(
    contracts: Iterable[Contract], records: Iterable[Record], find_groups: FindGroups
) -> list[Contract]:
    """A contract has the own category of its latest payment."""
    own = {record.key: record.own_category for record in split_records(records) if record.own_category}
    return [
        replace(contract, partner=group)
        for contract in contracts
        for group in find_groups(contract.category, own.get(contract.transaction_ids_regular[-1], ""))
    ]


def _name_group(entry: Record | Contract) -> str:
    return entry.partner
