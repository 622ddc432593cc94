"""Cashflow by own categories. Bookings without one take part in what months are known, and in no sum."""

from collections.abc import Collection, Sequence, Set
from dataclasses import replace
from datetime import date

from msgspec import structs

from kontor.analysis.cashflow.bookings import CURRENCY
from kontor.analysis.cashflow.findings import Cashflow, Focus, Options, TaggedBy
from kontor.analysis.cashflow.series import explain_sums, find_cashflow
from kontor.analysis.contracts import Contract
from kontor.analysis.parts import split_records
from kontor.analysis.records import Account, Record

_NONE = ""


def find_own_cashflow(
    records: Sequence[Record],
    contracts: Sequence[Contract],
    accounts: Sequence[Account],
    today: date,
    options: Options,
    known: Collection[str],
) -> list[Cashflow]:
    """As by partners, with own categories in their place. `known` are those that there are."""
    bookings = list(split_records(records))
    own = {record.key: record.own_category for record in bookings if record.own_category in known}
    named = [
        structs.replace(record, partner=own.get(record.key, _NONE))
        for record in bookings
        if record.key in own or record.currency == CURRENCY
    ]
    ids = {record.id for record in bookings if record.key in own}
    agreed = [replace(contract, partner=own.get(contract.transaction_ids_regular[-1], _NONE)) for contract in contracts]
    found = find_cashflow(named, agreed, accounts, today, replace(options, tagged_by=TaggedBy.BUSINESS_PARTNERS))
    if options.focus is Focus.TIME:
        return [cashflow for cashflow in found if cashflow.item != _NONE]
    shown = [_drop_nameless(cashflow, ids) for cashflow in found]
    return [span for span in shown if span.statistics or span.predictions or span.excluded_currencies]


def _drop_nameless(span: Cashflow, ids: Set[str]) -> Cashflow:
    """`ids` are those of bookings with an own category."""
    reasons = span.reasons
    if reasons:
        named = [booking for booking in reasons[0].transaction_ids if booking in ids]
        summed = explain_sums(named, span.excluded_currencies)
        reasons = (*summed, *reasons[len(summed) :])
    return replace(
        span,
        statistics=tuple(statistic for statistic in span.statistics if statistic.item != _NONE),
        predictions=tuple(prediction for prediction in span.predictions if prediction.item != _NONE),
        reasons=reasons,
    )
