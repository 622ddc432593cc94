"""The answer as a whole: one item per tag with its spans, or one item per span with its tags."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from kontor.analysis.cashflow.bookings import AGGREGATES, Bookings, Tag, choose_tag, select_bookings, select_contracts
from kontor.analysis.cashflow.findings import Cashflow, Focus, Options, Prediction, Statistic, TaggedBy
from kontor.analysis.cashflow.histories import Histories, open_window
from kontor.analysis.cashflow.predictions import explain_predictions, predict_months, predict_net
from kontor.analysis.cashflow.spans import find_cell, list_spans, sort_key
from kontor.analysis.cashflow.sums import Sums, sum_tags
from kontor.analysis.contracts import Contract
from kontor.analysis.own_money import OwnMoney
from kontor.analysis.reasons import Reason
from kontor.analysis.records import Account, Record

NET, INCOME, EXPENSES = AGGREGATES


def find_cashflow(
    records: Sequence[Record],
    contracts: Sequence[Contract],
    accounts: Sequence[Account],
    today: date,
    options: Options | None = None,
) -> list[Cashflow]:
    """All that was booked up to today, summed, and what this and the next month will be.

    `contracts` are those found in the same records. With the focus on time, aggregates come first, then tags by name;
    with the focus on tags, spans come in their order.
    """
    options = options or Options()
    bookings = select_bookings(records, today, options, OwnMoney(accounts))
    find_tag = choose_tag(options)
    with_aggregates = options.focus is Focus.TIME and options.tagged_by is TaggedBy.CATEGORIES
    sums = sum_tags(bookings, find_tag, with_aggregates=with_aggregates)
    histories = _read_histories(bookings, contracts, accounts, today, options)
    predictions = {} if histories is None else {tag: predict_months(tag, histories) for tag in histories.by_tag}
    if NET in predictions:
        predictions[NET] = predict_net(predictions[NET], predictions.get(INCOME, ()), predictions.get(EXPENSES, ()))
    if options.focus is Focus.TAG:
        return _list_spans(sums, predictions, bookings, options)
    return _list_tags(sums, predictions, bookings, histories, options)


def _read_histories(
    bookings: Bookings, contracts: Sequence[Contract], accounts: Sequence[Account], today: date, options: Options
) -> Histories | None:
    window = open_window(bookings.counted, accounts, today)
    if window is None:
        return None
    find_tag = choose_tag(options)
    with_aggregates = options.focus is Focus.TIME and options.tagged_by is TaggedBy.CATEGORIES
    histories = Histories(window, with_aggregates=with_aggregates)
    regular_ids = {transaction_id for contract in contracts for transaction_id in contract.transaction_ids_regular}
    histories.add_bookings(bookings, find_tag, regular_ids)
    histories.add_contracts(select_contracts(contracts, options, bookings), bookings, find_tag, today)
    return histories


def _order_tags(tag: Tag) -> tuple[int, str]:
    return (AGGREGATES.index(tag), "") if tag.is_aggregate else (len(AGGREGATES), tag.name)


def _list_tags(
    sums: Mapping[Tag, Sums],
    predictions: Mapping[Tag, tuple[Prediction, ...]],
    bookings: Bookings,
    histories: Histories | None,
    options: Options,
) -> list[Cashflow]:
    excluded: dict[Tag, set[str]] = {}
    has_aggregates = options.tagged_by is TaggedBy.CATEGORIES
    for name, _, currency in bookings.excluded:
        excluded.setdefault(Tag(name), set()).add(currency)
        if has_aggregates:
            excluded.setdefault(NET, set()).add(currency)
    ordered = sorted({*sums, *predictions, *excluded}, key=_order_tags)
    ids = _collect_ids(bookings, options) if options.explain else {}
    cashflows = []
    for tag in ordered:
        statistics = tuple(map(Statistic._make, sums.get(tag, {}).items()))
        of_tag, currencies = predictions.get(tag, ()), tuple(sorted(excluded.get(tag, ())))
        if not statistics and not of_tag and not currencies:
            continue
        reasons: list[Reason] = []
        if options.explain:
            reasons = explain_sums(ids.get(tag, []), currencies)
            if of_tag and histories is not None:
                reasons += explain_predictions(histories.by_tag[tag], len(histories.window.months))
        cashflows.append(Cashflow(tag.name, tag.is_aggregate, statistics, of_tag, currencies, tuple(reasons)))
    return cashflows


def _list_spans(
    sums: Mapping[Tag, Sums],
    predictions: Mapping[Tag, tuple[Prediction, ...]],
    bookings: Bookings,
    options: Options,
) -> list[Cashflow]:
    """The same numbers the other way round."""
    statistics: dict[str, list[Statistic]] = {}
    for tag, of_tag in sums.items():
        for span, amount in of_tag.items():
            statistics.setdefault(span, []).append(Statistic(tag.name, amount))
    expected: dict[str, list[Prediction]] = {}
    for tag in sorted(predictions, key=lambda tag: tag.name):
        for prediction in predictions[tag]:
            expected.setdefault(prediction.item, []).append(replace(prediction, item=tag.name))
    excluded: dict[str, set[str]] = {}
    for _, cell, currency in bookings.excluded:
        for span in list_spans(cell):
            excluded.setdefault(span, set()).add(currency)
    ids: dict[str, list[str]] = {}
    if options.explain:
        for record in bookings.counted:
            for span in list_spans(find_cell(record.day)):
                ids.setdefault(span, []).append(record.id)
    cashflows = []
    for span in sorted({*statistics, *expected, *excluded}, key=sort_key):
        currencies = tuple(sorted(excluded.get(span, ())))
        reasons = explain_sums(ids.get(span, []), currencies) if options.explain else []
        if reasons and span in expected:
            reasons.append(Reason("Predictions are the middle of the previous complete months plus contracts"))
        cashflows.append(
            Cashflow(
                span, False, tuple(statistics.get(span, ())), tuple(expected.get(span, ())), currencies, tuple(reasons)
            )
        )
    return cashflows


def _collect_ids(bookings: Bookings, options: Options) -> dict[Tag, list[str]]:
    find_tag = choose_tag(options)
    has_aggregates = options.tagged_by is TaggedBy.CATEGORIES
    ids: dict[Tag, list[str]] = {}
    for record in bookings.counted:
        ids.setdefault(Tag(find_tag(record)), []).append(record.id)
        if has_aggregates and record.key not in bookings.saved:
            ids.setdefault(NET, []).append(record.id)
            if record.amount:
                ids.setdefault(INCOME if record.amount > 0 else EXPENSES, []).append(record.id)
    return ids


def explain_sums(ids: Sequence[str], currencies: Sequence[str]) -> list[Reason]:
    ids = tuple(dict.fromkeys(ids))  # several parts may be of one booking
    text = f"{len(ids)} bookings are summed by their booking date, without pending ones and own transfers"
    reasons = [Reason(text, ids)]
    if currencies:
        reasons.append(Reason(f"Bookings in {', '.join(currencies)} are in no sum: amounts are not converted"))
    return reasons
