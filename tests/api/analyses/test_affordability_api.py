"""Affordability and credit check over HTTP: their scope, every field, sums that add up, and somebody in trouble."""

from decimal import Decimal

import pytest

import shapes
from banking import href, narrow, new_customer, rels
from kontor.domain.scopes import CUSTOMER_CREDIT, CUSTOMER_READ

AI = "/customer/v2/ai"
NUMBERS = (
    "discretionary", "discretionaryForIrregularLuxuries", "savings", "gambling", "ratioLuxuriesToExpenses",
    "ratioNecessitiesToExpenses", "ratioLuxuriesToIncome", "ratioNecessitiesToIncome", "ratioExpensesToIncome",
    "ratioGamblingToDiscretionaryForIrregularLuxuries", "creditCards",
)  # fmt: skip
FLAGS = (
    "existingLoans", "mortgagePayments", "rentalPayments", "returnDebits", "reminderCharges", "seizurePayments",
    "debtCollectionPayments",
)  # fmt: skip
CREDIT_FIELDS = {
    "incomeMonthly", "incomeStability", "expensesMonthly", "fixedCostsMonthly", "freeIncomeMonthly", "rentMonthly",
    "loanInstallmentsMonthly", "returnDebitsCount", "reminderChargesCount", "debtCollectionsCount", "seizuresCount",
    "gamblingMonthly", "overdraftDays", "dataFrom", "dataTo", "findings",
}  # fmt: skip


@pytest.fixture(scope="module")
def debtor(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete("schulden")
    return customer


@pytest.mark.parametrize("path", ["affordability", "credit-check"])
def test_it_needs_the_credit_scope(customer, path):
    assert narrow(customer, CUSTOMER_CREDIT).get(f"{AI}/{path}").status_code == 200
    answer = narrow(customer, CUSTOMER_READ).get(f"{AI}/{path}")
    assert answer.status_code == 403
    assert CUSTOMER_CREDIT in answer.headers["www-authenticate"]
    assert customer.http.get(f"{AI}/{path}").status_code == 401


@pytest.mark.parametrize("path", ["affordability", "credit-check"])
def test_without_any_data_the_answer_is_an_empty_object(customer, path):
    assert customer.get(f"{AI}/{path}/").text == "{}"


def test_affordability_has_every_required_field_and_its_type(debtor):
    shown = shapes.parse_raw(debtor.get(f"{AI}/affordability/").text)
    assert set(shown) == {"id", "entity", "relations", "tagTreeItem", "details"}
    assert shown["tagTreeItem"]["systemName"] == "AFFORDABILITY_INFORMATION"
    details = shown["details"]
    assert all(shapes.is_number(details[name]) and Decimal(details[name]) >= 0 for name in NUMBERS)
    assert all(shapes.is_money(details[name]) for name in NUMBERS[:4])
    assert all(shapes.is_flag(details[name]) for name in FLAGS)
    assert details["financialLiteracy"] == "low"
    assert details["rentalPayments"]
    assert len(details["mostRecentRentalPayment"]) == 10
    assert [details[name] for name in ("returnDebits", "reminderCharges", "debtCollectionPayments")] == [True] * 3
    assert Decimal(details["gambling"]) > 0


def read_amount(value):
    return Decimal(str(value["amount"]))


def test_nested_amounts_add_up_to_their_wholes(debtor):
    details = shapes.parse_raw(debtor.get(f"{AI}/affordability/").text)["details"]
    expenses, income = details["expenses"], details["income"]
    assert read_amount(expenses) == read_amount(expenses["luxuries"]) + read_amount(expenses["necessities"])
    for split in (income, expenses["luxuries"], expenses["necessities"]):
        assert read_amount(split) == read_amount(split["regular"]) + read_amount(split["irregular"])
        for part in (split["regular"], split["irregular"]):
            items = part["amountsPerTagTreeItem"]
            assert read_amount(part) == sum(map(read_amount, items))
            assert all(item["tagTreeItem"]["tagTree"]["systemName"] == "CATEGORIES" for item in items)
    assert read_amount(income["regular"]) > 0
    assert Decimal(details["discretionary"]) == max(0, read_amount(income) - read_amount(expenses["necessities"]))


def test_credit_check_has_every_fact_and_its_transactions(debtor):
    shown = shapes.parse_raw(debtor.get(f"{AI}/credit-check/").text)
    assert shown["tagTreeItem"]["systemName"] == "CREDITCHECK_INFORMATION"
    details = shown["details"]
    assert set(details) == CREDIT_FIELDS
    assert 0 <= Decimal(details["incomeStability"]) <= 1
    assert int(details["overdraftDays"]) > 100
    findings = {finding["type"]: finding for finding in details["findings"]}
    assert {"RETURNED_DEBITS", "REMINDER_CHARGES", "DEBT_COLLECTIONS", "GAMBLING", "LOANS", "OVERDRAFTS"} <= set(
        findings
    )
    assert Decimal(findings["OVERDRAFTS"]["amount"]) > 0
    assert len(findings["DEBT_COLLECTIONS"]["transactionIds"]) == int(details["debtCollectionsCount"])
    assert Decimal(details["freeIncomeMonthly"]) == Decimal(details["incomeMonthly"]) - Decimal(
        details["expensesMonthly"]
    )


@pytest.mark.parametrize("path", ["affordability", "credit-check"])
def test_evidence_is_shown_where_it_is_asked_for(debtor, path):
    explained = debtor.read(f"{AI}/{path}/", params={"explain": "true"})
    evidence = explained["details"].pop("evidence")
    assert any(reason.get("transactionIds") for reason in evidence)
    assert explained == debtor.read(f"{AI}/{path}/")


def test_other_currencies_are_named_and_not_summed(demo1):
    for path in ("affordability", "credit-check"):
        assert demo1[0].read(f"{AI}/{path}/")["details"]["excludedCurrencies"] == ["CHF", "USD"]


def test_the_customer_offers_them_with_the_credit_scope_only(debtor):
    root = debtor.read("/customer/v2")
    assert debtor.get(href(root, "get_affordability")).status_code == 200
    assert debtor.get(href(root, "get_credit_check")).status_code == 200
    assert not {"get_affordability", "get_credit_check"} & set(rels(narrow(debtor, CUSTOMER_READ).read("/customer/v2")))
