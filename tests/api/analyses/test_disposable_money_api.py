"""Disposable money over HTTP: one tag instance whose amounts follow from each other, or an empty object."""

from decimal import Decimal

import pytest

from banking import href, narrow, new_customer
from kontor.domain.scopes import CUSTOMER_MODIFY

DISPOSABLE_MONEY = "/customer/v2/ai/disposable-money/"


@pytest.fixture(scope="module")
def money(demo1):
    return demo1[0].read(DISPOSABLE_MONEY)


def test_it_is_one_tag_instance_of_the_user_with_all_fields(demo1, money):
    assert money["tagTreeItem"]["systemName"] == "DISPOSABLEMONEY_INFORMATION"
    assert money["tagTreeItem"]["tagTree"]["systemName"] == "DISPOSABLE_MONEY"
    assert money["entity"]["entityClass"] == "USER"
    assert set(money["details"]) >= {
        "amountCashflow", "amountCurrentlyLeft", "amountDisposableMoney", "amountExpectedFixedCashflow",
        "amountExpectedFlexCashflow", "amountExpectedLeft", "amountExpectedLeftDaily", "amountSalaryLatest",
        "amountSalaryNext", "dateSalaryLatest", "dateSalaryNext", "daysUntilSalary", "confidenceLevel",
    }  # fmt: skip
    assert isinstance(money["details"]["daysUntilSalary"], int)
    item = demo1[0].read(href(money, "tag_tree_item"))
    assert item["systemName"] == "DISPOSABLEMONEY_INFORMATION"


def test_amounts_follow_from_each_other_to_the_cent(money):
    amounts = {key: Decimal(str(value)) for key, value in money["details"].items() if key.startswith("amount")}
    assert amounts["amountCurrentlyLeft"] == amounts["amountSalaryLatest"] + amounts["amountCashflow"]
    left = amounts["amountCurrentlyLeft"] + amounts["amountExpectedFixedCashflow"]
    assert amounts["amountDisposableMoney"] == left
    assert amounts["amountExpectedLeft"] == left + amounts["amountExpectedFlexCashflow"]
    days = max(1, money["details"]["daysUntilSalary"])
    daily = amounts["amountExpectedLeftDaily"]
    assert abs(daily * days - amounts["amountExpectedLeft"]) <= Decimal("0.005") * days


def test_the_salary_is_that_of_the_contracts(demo1, money):
    contracts = demo1[0].read("/customer/v2/ai/contracts/")
    salaries = [
        contract["details"] for contract in contracts if contract["tagTreeItem"]["systemName"] == "INCOME_SALARY"
    ]
    details = money["details"]
    assert (details["dateSalaryLatest"], details["dateSalaryNext"], details["amountSalaryNext"]) in {
        (salary["dateLatest"], salary.get("dateNext"), salary.get("amountNext")) for salary in salaries
    }


def test_explained_it_names_the_salary_and_the_bookings_since_then(demo1):
    evidence = demo1[0].read(DISPOSABLE_MONEY, params={"explain": "true"})["details"]["evidence"]
    assert len(evidence[0]["transactionIds"]) == 1
    assert len(evidence[1]["transactionIds"]) > 1
    assert not set(evidence[0]["transactionIds"]) & set(evidence[1]["transactionIds"])


def test_without_data_and_without_a_salary_the_answer_is_an_empty_object(customer, shared):
    assert customer.read(DISPOSABLE_MONEY) == {}
    retired = new_customer(shared)
    retired.add_complete("rente+cashflow")
    assert retired.read(DISPOSABLE_MONEY) == {}


def test_the_customer_leads_to_it(demo1):
    relation = href(demo1[0].read("/customer/v2"), "get_disposable_money")
    assert demo1[0].read(relation) == demo1[0].read(DISPOSABLE_MONEY)


def test_reading_needs_its_scope(customer):
    assert narrow(customer, CUSTOMER_MODIFY).get(DISPOSABLE_MONEY).status_code == 403
