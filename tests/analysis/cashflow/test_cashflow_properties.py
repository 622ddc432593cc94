"""What holds for cashflow whatever was booked."""

from collections import defaultdict
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from kontor.analysis.cashflow import Cashflow, Focus, Level, Options, TaggedBy, find_cashflow
from kontor.analysis.contracts import find_contracts
from kontor.analysis.records import Account, Record
from kontor.analysis.trees import CASHFLOW, TREES, find_item
from many_examples import many_examples

TODAY = date(2026, 6, 17)
NOTHING = Decimal("0.00")
amounts = st.integers(-500_000, 500_000).map(lambda cents: Decimal(cents).scaleb(-2))
CATEGORIES = """
    LIVING_GROCERIES LIVING_DRUGSTORE INCOME_SALARY INCOME_STATE_FAMILY TAXES SAVINGS_ACCOUNT TRANSFER_OWN
    TRANSFER_OTHER BANKFINANCE_INVESTMENT OTHER_INCOME
"""
categories = st.sampled_from(CATEGORIES.split())
recent = st.integers(0, 800).map(lambda days: TODAY - timedelta(days=days))
records_of_any_kind = st.lists(
    st.builds(
        Record,
        id=st.uuids().map(str),
        account=st.sampled_from(["giro", "card"]),
        day=st.one_of(recent, st.dates(date(1990, 1, 1), date(2060, 12, 31))),
        amount=amounts,
        category=categories,
        currency=st.sampled_from(["EUR", "EUR", "EUR", "USD", "CHF"]),
        partner=st.sampled_from(["UNKNOWN", "rewe", "dm"]),
        is_pending=st.sampled_from([False, False, False, True]),
    ),
    max_size=60,
)
options_of_any_kind = st.builds(
    Options,
    focus=st.sampled_from(Focus),
    tagged_by=st.sampled_from(TaggedBy),
    level=st.sampled_from(Level),
    exclude_savings=st.booleans(),
    explain=st.booleans(),
)


def find(records: list[Record], options: Options | None = None) -> list[Cashflow]:
    return find_cashflow(records, find_contracts(records, [], TODAY), [], TODAY, options)


def read_sums(flow: Cashflow, kind: str) -> dict[str, Decimal]:
    return {statistic.item: statistic.amount for statistic in flow.statistics if statistic.item[4:6] == f"_{kind}"}


@many_examples(60)
@given(records_of_any_kind, options_of_any_kind)
def test_months_and_quarters_add_up_to_their_year_exactly(records: list[Record], options: Options):
    for flow in find(records, replace(options, focus=Focus.TIME)):
        years = read_sums(flow, "Y")
        for kind in "QM":
            sums: dict[str, Decimal] = defaultdict(lambda: NOTHING)
            for item, amount in read_sums(flow, kind).items():
                sums[f"{item[:4]}_Y"] += amount
            assert sums == years


@many_examples(60)
@given(records_of_any_kind, st.sampled_from(Level))
def test_categories_without_saving_add_up_to_net_and_net_is_income_plus_expenses(records: list[Record], level: Level):
    flows = [flow for flow in find(records, Options(level=level)) if not flow.item.startswith("SAVINGS")]
    sums: dict[str, dict[str, Decimal]] = {name: defaultdict(lambda: NOTHING) for name in ("NET", "parts", "sides")}
    for flow in flows:
        name = "parts" if not flow.is_aggregate else "NET" if flow.item == "NET" else "sides"
        for statistic in flow.statistics:
            sums[name][statistic.item] += statistic.amount
            assert not (flow.is_aggregate and flow.item == "INCOME" and statistic.amount < 0)
            assert not (flow.is_aggregate and flow.item == "EXPENSES" and statistic.amount > 0)
    assert all(sums["parts"][span] == amount for span, amount in sums["NET"].items())
    assert sums["NET"].keys() >= sums["parts"].keys()
    assert all(sums["sides"][span] == amount for span, amount in sums["NET"].items())


@many_examples(40)
@given(records_of_any_kind)
def test_main_categories_are_the_sums_of_their_sub_categories(records: list[Record]):
    mains: dict[tuple[str, str], Decimal] = defaultdict(lambda: NOTHING)
    for flow in find(records):
        if not flow.is_aggregate:
            for statistic in flow.statistics:
                mains[flow.item.partition("_")[0], statistic.item] += statistic.amount
    found = find(records, Options(level=Level.MAIN))
    assert mains == {
        (flow.item, statistic.item): statistic.amount
        for flow in found
        if not flow.is_aggregate
        for statistic in flow.statistics
    }


@many_examples(60)
@given(records_of_any_kind, options_of_any_kind)
def test_focus_on_time_and_focus_on_tags_say_the_same(records: list[Record], options: Options):
    by_tag = [flow for flow in find(records, replace(options, focus=Focus.TIME)) if not flow.is_aggregate]
    by_span = find(records, replace(options, focus=Focus.TAG))
    assert {(flow.item, statistic.item): statistic.amount for flow in by_tag for statistic in flow.statistics} == {
        (statistic.item, flow.item): statistic.amount for flow in by_span for statistic in flow.statistics
    }
    assert {
        (flow.item, prediction.item): replace(prediction, item="") for flow in by_tag for prediction in flow.predictions
    } == {
        (prediction.item, flow.item): replace(prediction, item="")
        for flow in by_span
        for prediction in flow.predictions
    }
    assert not any(flow.is_aggregate for flow in by_span)


@many_examples(60)
@given(records_of_any_kind, options_of_any_kind)
def test_predictions_are_of_two_months_within_their_bounds_and_add_up(records: list[Record], options: Options):
    for flow in find(records, replace(options, focus=Focus.TIME)):
        assert {prediction.item for prediction in flow.predictions} <= {"2026_M06", "2026_M07"}
        for prediction in flow.predictions:
            assert prediction.amount == prediction.regular + prediction.irregular
            assert prediction.lower <= prediction.amount <= prediction.upper
            assert all(value.is_finite() for value in (prediction.amount, prediction.lower, prediction.upper))
            assert prediction.confidence == 0.8


@many_examples(40)
@given(records_of_any_kind, options_of_any_kind, st.randoms(use_true_random=False))
def test_the_order_of_bookings_does_not_matter(records: list[Record], options: Options, random):
    contracts = find_contracts(records, [], TODAY)
    shuffled = random.sample(records, len(records))
    options = replace(options, explain=False)
    assert find_cashflow(shuffled, contracts, [], TODAY, options) == find_cashflow(
        records, contracts, [], TODAY, options
    )


@many_examples(40)
@given(records_of_any_kind, options_of_any_kind)
def test_every_span_is_an_item_of_the_tree(records: list[Record], options: Options):
    for flow in find(records, replace(options, focus=Focus.TAG)):
        assert find_item(TREES[CASHFLOW], flow.item) is not None


@many_examples(40)
@given(records_of_any_kind, options_of_any_kind)
def test_explained_sums_name_exactly_the_bookings_that_they_add_up(records: list[Record], options: Options):
    amounts_by_id = {record.id: record.amount for record in records}
    for flow in find(records, replace(options, focus=Focus.TIME, explain=True)):
        ids = flow.reasons[0].transaction_ids
        total = sum((amounts_by_id[transaction_id] for transaction_id in ids), NOTHING)
        assert total == (flow.statistics[0].amount if flow.statistics else NOTHING)


def test_amounts_that_are_no_money_spoil_no_sum():
    odd = [Decimal("NaN"), Decimal("Infinity"), Decimal("-Infinity"), Decimal("1e30")]
    records = [
        Record(str(number), "giro", TODAY - timedelta(days=90 * number), amount, "LIVING_GROCERIES")
        for number, amount in enumerate([*odd, Decimal("-5.00")])
    ]
    net = find_cashflow(records, [], [], TODAY)[0]
    assert net.statistics[0].amount == Decimal("-5.00")


def test_ten_accounts_in_five_currencies_are_kept_apart():
    currencies = ["EUR", "USD", "CHF", "GBP", "JPY"]
    records = [
        Record(f"{number}", f"account-{number}", TODAY, Decimal(-number), "LIVING_GROCERIES", currencies[number % 5])
        for number in range(10)
    ]
    accounts = [Account(f"account-{number}", currency=currencies[number % 5]) for number in range(10)]
    net, *_, groceries = find_cashflow(records, [], accounts, TODAY)
    assert net.statistics[0].amount == groceries.statistics[0].amount == Decimal(-5)
    assert net.excluded_currencies == groceries.excluded_currencies == ("CHF", "GBP", "JPY", "USD")


def test_first_and_last_day_of_the_calendar_are_no_trouble():
    for today in (date.min, date.max):
        record = Record("one", "giro", today, Decimal("-1.00"), "LIVING_GROCERIES")
        found = [flow.item for flow in find_cashflow([record], [], [], today)]
        assert found == ["NET", "INCOME", "EXPENSES", "LIVING_GROCERIES"]


def test_two_hundred_thousand_bookings_are_summed_to_the_cent():
    names = ["LIVING_GROCERIES", "MOBILITY_FUEL", "INCOME_SALARY"]
    records = [
        Record(
            str(number),
            "giro",
            TODAY - timedelta(days=number % 3000),
            Decimal(number % 997 - 500).scaleb(-2),
            names[number % 3],
        )
        for number in range(200_000)
    ]
    net = find_cashflow(records, [], [], TODAY)[0]
    assert net.statistics[0].amount == Decimal(sum(number % 997 - 500 for number in range(200_000))).scaleb(-2)


@many_examples(60)
@given(records_of_any_kind)
def test_predicted_net_is_the_predicted_income_and_expenses_together(records: list[Record]):
    flows = {flow.item: flow for flow in find(records) if flow.is_aggregate}
    sides = [prediction for item in ("INCOME", "EXPENSES") if item in flows for prediction in flows[item].predictions]
    for prediction in flows["NET"].predictions if "NET" in flows else ():
        same = [side.amount for side in sides if side.item == prediction.item]
        assert prediction.amount == prediction.regular + prediction.irregular == sum(same, NOTHING)
        assert prediction.lower <= prediction.amount <= prediction.upper


def test_every_month_has_income_expenses_and_net_also_where_nothing_was_booked():
    rows = [
        ("2026-01-05", "100.00", "INCOME_SALARY"),
        ("2026-02-05", "-7.00", "TAXES"),
        ("2026-05-05", "1.00", "OTHER_INCOME"),
    ]
    records = [
        Record(day, "giro", date.fromisoformat(day), Decimal(amount), category) for day, amount, category in rows
    ]
    found = {flow.item: read_sums(flow, "M") for flow in find_cashflow(records, [], [], TODAY) if flow.is_aggregate}
    months = [f"2026_M0{month}" for month in range(1, 6)]
    assert {item: list(sums) for item, sums in found.items()} == dict.fromkeys(("NET", "INCOME", "EXPENSES"), months)
    assert [str(amount) for amount in found["INCOME"].values()] == ["100.00", "0.00", "0.00", "0.00", "1.00"]
    assert [str(amount) for amount in found["EXPENSES"].values()] == ["0.00", "-7.00", "0.00", "0.00", "0.00"]
    assert [str(amount) for amount in found["NET"].values()] == ["100.00", "-7.00", "0.00", "0.00", "1.00"]
