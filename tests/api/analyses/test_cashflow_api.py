"""Cashflow over HTTP: shapes, both foci, exact sums of what is listed, and what is refused."""

from collections import defaultdict
from decimal import Decimal

import pytest

from banking import href, narrow
from kontor.domain.scopes import CUSTOMER_MODIFY

CASHFLOW = "/customer/v2/ai/cashflow/"


@pytest.fixture(scope="module")
def reader(demo1):
    return demo1[0]


@pytest.fixture(scope="module")
def flows(reader):
    return reader.read(CASHFLOW)


def read_sums(found):
    """By outer and inner item; aggregates are told by their parent."""
    return {
        (
            flow["tagTreeItem"]["systemName"],
            flow["tagTreeItem"].get("systemNameParent"),
            statistic["tagTreeItem"]["systemName"],
        ): statistic["cashflow"]
        for flow in found
        for statistic in flow["details"]["statistics"]
    }


def list_booked(demo1):
    """All final bookings in euros with their category."""
    customer, access_id = demo1
    for product in customer.products(access_id):
        if product["kategorie"] == "DEPOT":
            continue
        for row in customer.transactions(product, tag="true"):
            if row["waehrung"] == "EUR" and not row.get("vorgemerkt"):
                yield row, row["tags"][0]["tagTreeItem"]["systemName"]


def is_between_own(row, category, products):
    """Moved between own accounts, or saved on one of them: in no sum."""
    if category in ("TRANSFER_OWN", "SAVINGS_ACCOUNT"):
        return True
    if category == "BANKFINANCE_TRANSFER":
        return "Kreditkartenabrechnung" in row["verwendungszweck"]
    is_own = any(
        row.get("gegenkontoIban") == product.get("iban", "") or row.get("gegenkontoInhaber") == product["inhaber"]
        for product in products
    )
    return is_own and category.startswith("SAVINGS_")


def test_sums_are_exactly_those_of_the_listed_transactions(demo1, flows):
    expected = defaultdict(Decimal)
    products = demo1[0].products(demo1[1])
    for row, category in list_booked(demo1):
        if is_between_own(row, category, products):
            continue
        amount = Decimal(str(row["betrag"]))
        month = f"{row['buchungsdatum'][:4]}_M{row['buchungsdatum'][5:7]}"
        for span in ("TOTAL_TOTAL", f"{month[:4]}_Y", month):
            expected["NET", span] += amount
            expected["INCOME" if amount > 0 else "EXPENSES", span] += amount
    found = {
        (outer, inner): Decimal(str(amount))
        for (outer, parent, inner), amount in read_sums(flows).items()
        if parent == "AGGREGATE" and "_Q" not in inner and "_W" not in inner
    }
    assert {key: amount for key, amount in found.items() if amount} == {
        key: amount for key, amount in expected.items() if amount
    }


def test_an_item_is_a_tag_instance_of_the_user_with_the_spans_of_the_cashflow_tree(reader, flows):
    groceries = next(flow for flow in flows if flow["tagTreeItem"]["systemName"] == "LIVING_GROCERIES")
    assert groceries["entity"]["entityClass"] == "USER"
    assert groceries["tagTreeItem"]["systemNameParent"] == "LIVING"
    assert groceries["tagTreeItem"]["tagTree"]["systemName"] == "CATEGORIES"
    first = groceries["details"]["statistics"][0]
    assert first["tagTreeItem"]["systemName"] == "TOTAL_TOTAL"
    assert first["tagTreeItem"]["tagTree"]["systemName"] == "CASHFLOW"
    week = next(
        statistic["tagTreeItem"]
        for statistic in groceries["details"]["statistics"]
        if "_W" in statistic["tagTreeItem"]["systemName"]
    )
    assert week["systemNameParent"] == week["systemName"][:4]
    assert reader.read(href(groceries, "tag_tree_item"))["systemName"] == "LIVING_GROCERIES"
    assert len({flow["id"] for flow in flows}) == len(flows)


def test_this_and_the_next_month_are_predicted_with_bounds(flows):
    groceries = next(flow for flow in flows if flow["tagTreeItem"]["systemName"] == "LIVING_GROCERIES")
    predictions = groceries["details"]["predictions"]
    assert len(predictions) == 2
    for prediction in predictions:
        assert set(prediction) == {
            "tagTreeItem", "cashflow", "cashflowRegular", "cashflowIrregular", "lower", "upper", "confidenceLevel"
        }  # fmt: skip
        assert prediction["lower"] < prediction["cashflow"] < prediction["upper"] <= 0
        assert Decimal(str(prediction["cashflow"])) == Decimal(str(prediction["cashflowRegular"])) + Decimal(
            str(prediction["cashflowIrregular"])
        )
    current = predictions[0]["tagTreeItem"]["systemName"]
    assert current in {statistic["tagTreeItem"]["systemName"] for statistic in groceries["details"]["statistics"]}


def test_aggregates_are_there_with_focus_on_time_and_categories_only(reader, flows):
    def list_aggregates(**query):
        items = [flow["tagTreeItem"] for flow in reader.read(CASHFLOW, params=query)]
        return [item["systemName"] for item in items if item.get("systemNameParent") == "AGGREGATE"]

    assert list_aggregates() == list_aggregates(catLevel="main") == ["NET", "INCOME", "EXPENSES"]
    assert list_aggregates(focus="tag") == list_aggregates(tag="BUSINESS_PARTNERS") == []


@pytest.mark.parametrize("query", [{}, {"catLevel": "main"}, {"tag": "BUSINESS_PARTNERS"}])
def test_focus_on_tags_is_the_same_the_other_way_round(reader, query):
    by_tag = read_sums(reader.read(CASHFLOW, params=query))
    by_span = read_sums(reader.read(CASHFLOW, params=query | {"focus": "tag"}))
    assert {(outer, inner): value for (outer, parent, inner), value in by_tag.items() if parent != "AGGREGATE"} == {
        (inner, outer): value for (outer, _, inner), value in by_span.items()
    }


def test_savings_and_investments_can_be_left_out(reader, flows):
    found = reader.read(CASHFLOW, params={"excludeSavings": "true"})
    names = {flow["tagTreeItem"]["systemName"] for flow in found}
    left_out = {flow["tagTreeItem"]["systemName"] for flow in flows} - names
    assert {"SAVINGS_ACCOUNT", "SAVINGS_LIFEBUILDING"} <= left_out
    assert all(name.startswith("SAVINGS_") or name == "BANKFINANCE_INVESTMENT" for name in left_out)


def test_other_currencies_are_named_and_in_no_sum(flows):
    net = flows[0]
    assert net["tagTreeItem"]["systemName"] == "NET"
    assert net["details"]["excludedCurrencies"] == ["CHF", "USD"]


def test_explained_items_name_their_transactions(demo1, reader):
    known = {row["id"]: category for row, category in list_booked(demo1)}
    found = reader.read(CASHFLOW, params={"explain": "true"})
    for flow in found:
        name, parent = flow["tagTreeItem"]["systemName"], flow["tagTreeItem"].get("systemNameParent")
        first = flow["details"]["evidence"][0]
        assert first["text"]
        if parent != "AGGREGATE" and flow["details"]["statistics"]:
            assert {known[transaction_id] for transaction_id in first["transactionIds"]} == {name}


def test_the_customer_leads_to_it_and_a_second_call_answers_the_same(reader):
    relation = href(reader.read("/customer/v2"), "get_cashflow")
    assert reader.get(relation).content == reader.get(relation).content == reader.get(CASHFLOW).content


def test_without_data_the_answer_is_empty(customer):
    assert customer.read(CASHFLOW) == []
    assert customer.read(CASHFLOW, params={"focus": "tag"}) == []


@pytest.mark.parametrize(
    "query", [{"focus": "money"}, {"tag": "INSURANCE_TYPES"}, {"catLevel": "top"}, {"excludeSavings": "maybe"}]
)
def test_an_unknown_choice_is_refused(customer, query):
    assert customer.get(CASHFLOW, params=query).status_code == 400


def test_reading_needs_its_scope(customer):
    assert narrow(customer, CUSTOMER_MODIFY).get(CASHFLOW).status_code == 403
