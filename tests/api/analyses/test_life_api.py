"""Life events, life stages and sales triggers over HTTP: shapes, evidence, scopes, and people whose lives are known."""

import re

import pytest

import shapes
from banking import href, narrow, new_customer
from kontor.domain.scopes import CUSTOMER_MODIFY, CUSTOMER_READ

AI = "/customer/v2/ai"
PATHS = ("life-events", "life-stages", "life/stages", "sales-triggers")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@pytest.fixture(scope="module")
def mover(bank_server, shared):
    """Somebody who has changed job and home a year ago."""
    customer = new_customer(shared)
    customer.add_complete("umzug+life")
    return customer


def read_names(found):
    return [instance["tagTreeItem"]["systemName"] for instance in found]


def list_ids(customer):
    accesses = customer.read("/customer/v2/bankzugaenge")
    products = [
        product for access in accesses.values() for product in access["bankprodukte"] if product["kategorie"] != "DEPOT"
    ]
    return {row["id"] for product in products for row in customer.transactions(product)}


@pytest.mark.parametrize("path", PATHS)
def test_without_any_data_the_answer_is_an_empty_array(customer, path):
    assert customer.read(f"{AI}/{path}/") == []


@pytest.mark.parametrize("path", PATHS)
def test_reading_needs_the_read_scope_and_a_token(mover, path):
    assert narrow(mover, CUSTOMER_READ).get(f"{AI}/{path}").status_code == 200
    assert narrow(mover, CUSTOMER_MODIFY).get(f"{AI}/{path}").status_code == 403
    assert mover.http.get(f"{AI}/{path}").status_code == 401
    assert mover.get(f"{AI}/{path}?explain=perhaps").status_code == 400


def test_life_events_are_tag_instances_with_their_dates(mover):
    events = mover.read(f"{AI}/life-events/")
    assert {"EMPLOYMENT_CHANGE", "TENANCY_START", "TENANCY_END", "RELOCATION"} <= set(read_names(events))
    days = [event["details"]["eventDate"] for event in events]
    assert days == sorted(days)
    assert len({event["id"] for event in events}) == len(events)
    for event in events:
        assert set(event) == {"id", "entity", "relations", "tagTreeItem", "details"}
        assert event["entity"]["entityClass"] == "USER"
        assert (event["tagTreeItem"]["tagTree"]["systemName"], event["tagTreeItem"]["tagTree"]["systemId"]) == (
            "LIFE_EVENTS", 10
        )  # fmt: skip
        assert set(event["details"]) <= {"eventDate", "confidenceLevel", "transactionIds", "amount"}
        assert DAY.fullmatch(event["details"]["eventDate"])
        assert 0 <= event["details"]["confidenceLevel"] <= 1
    assert mover.read(href(events[0], "tag_tree_item"))["systemName"] == read_names(events)[0]


def test_evidence_names_transactions_that_exist(mover):
    known = list_ids(mover)
    for path in PATHS:
        found = mover.read(f"{AI}/{path}/", params={"explain": "true"})
        assert found
        for instance in found:
            evidence = instance["details"]["evidence"]
            assert evidence
            assert all(set(reason) <= {"text", "transactionIds"} and reason["text"] for reason in evidence)
            named = {number for reason in evidence for number in reason.get("transactionIds", [])}
            assert named | set(instance["details"]["transactionIds"]) <= known


def test_life_stages_are_one_item_per_group_at_both_addresses(mover):
    stages = mover.read(f"{AI}/life-stages/")
    assert [stage["tagTreeItem"]["systemNameParent"] for stage in stages] == [
        "LABOURMARKET", "PARENTHOOD", "HOUSING", "SAVINGS"
    ]  # fmt: skip
    assert read_names(stages)[0] == "LABOURMARKET_EMPLOYED"
    assert read_names(stages)[2] == "HOUSING_TENANT"
    assert mover.read(f"{AI}/life/stages/") == stages


def test_sales_triggers_carry_date_confidence_and_transactions(mover):
    text = mover.get(f"{AI}/sales-triggers/").text
    triggers = shapes.parse_raw(text)
    assert "MISSINGINSURANCE_PRIVATEHEALTH" in read_names(triggers)
    for trigger in triggers:
        details = trigger["details"]
        assert {"triggerDate", "confidenceLevel", "transactionIds"} <= set(details)
        assert set(details) <= {"triggerDate", "confidenceLevel", "transactionIds", "amount"}
        assert DAY.fullmatch(details["triggerDate"])
        assert shapes.is_money(details["amount"]) if "amount" in details else True
        assert trigger["tagTreeItem"]["systemNameParent"] == trigger["tagTreeItem"]["systemName"].partition("_")[0]


def test_the_customer_offers_the_analyses(mover):
    root = mover.read("/customer/v2")
    for rel in ("get_life_events", "get_life_stages", "get_sales_triggers"):
        assert mover.get(href(root, rel)).status_code == 200


def test_somebody_who_lost_a_job_and_found_another(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete("arbeitslos")
    names = set(read_names(customer.read(f"{AI}/life-events/")))
    assert {"EMPLOYMENT_END", "UNEMPLOYMENT_START", "UNEMPLOYMENT_END", "EMPLOYMENT_START"} <= names
