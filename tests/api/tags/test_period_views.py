"""`tag=periods`: the period of a transaction's contract, on every list and in the changes."""

import jsonschema
import pytest
from pushed_rows import GROCERIES, RENT

from banking import href, new_customer

MONTHS = range(6, 12)
ALL = "/customer/v2/kontoumsaetze"


def push_rents(account, months=MONTHS):
    for month in months:
        account.push(RENT, batch=f"rent {month}", at=f"2026-{month:02}-02 00:00:00")


def name_periods(rows):
    return {(row["betrag"], row["tags"][0]["tagTreeItem"]["systemName"]) for row in rows}


EXPECTED = {(-900, "MONTH_ONE"), (-23.45, "IRREGULAR_UNKNOWN")}


@pytest.mark.parametrize("query", [{}, {"order": "asc"}, {"search": "e"}, {"categorize": "true"}, {"limit": 100}])
def test_a_products_list_shows_the_period_of_the_contract_or_that_there_is_none(account, query):
    push_rents(account)
    account.push(GROCERIES)
    rows = account.list(tag="periods", **query)
    assert len(rows) == len(MONTHS) + 1
    assert name_periods(rows) == EXPECTED


def test_the_list_over_all_accounts_shows_periods(account):
    push_rents(account)
    account.push(GROCERIES)
    assert name_periods(account.customer.read(ALL, params={"tag": "periods"})) == EXPECTED


def test_a_tag_is_an_instance_of_the_tree_of_periods(account):
    push_rents(account)
    account.push(GROCERIES)
    schemas = account.customer.http.get("/openapi.json").json()["components"]["schemas"]
    instance = {"$ref": "#/components/schemas/TagInstance", "components": {"schemas": schemas}}
    for row in account.list(tag="periods", explain="true"):
        [tag] = row["tags"]
        jsonschema.Draft202012Validator(instance).validate(tag)
        assert tag["tagTreeItem"]["tagTree"]["systemName"] == "PERIODS"
        assert account.customer.read(href(tag, "tag_tree_item"))["systemName"] == tag["tagTreeItem"]["systemName"]
        assert 0.5 < tag["details"]["confidenceLevel"] <= 1


def test_explain_names_the_contract(account):
    push_rents(account)
    account.push(GROCERIES)
    [contract] = account.customer.read("/customer/v2/ai/contracts/")
    for url in (account.url, ALL):
        rows = account.customer.read(url, params={"tag": "periods", "explain": "true"})
        evidence = {row["betrag"]: row["tags"][0]["details"]["evidence"] for row in rows}
        assert [(reason["kind"], reason["text"]) for reason in evidence[-900]] == [("contract", contract["id"])]
        assert evidence[-23.45] == []


def test_another_period_is_a_change_with_tag_periods_alone(account):
    push_rents(account, (9,))
    changes = f"{account.url}/aenderungen"
    plain = account.customer.read(changes)["cursor"]
    for url in (changes, f"{ALL}/aenderungen"):
        first = account.customer.read(url, params={"tag": "periods"})
        assert name_periods(first["neu"]) == {(-900, "IRREGULAR_UNKNOWN")}
    push_rents(account, (10, 11))
    with_tag = {"tag": "periods", "since": first["cursor"]}
    for url in (changes, f"{ALL}/aenderungen"):
        found = account.customer.read(url, params=with_tag)
        assert name_periods(found["neu"] + found["geaendert"]) == {(-900, "MONTH_ONE")}
        assert (len(found["neu"]), len(found["geaendert"])) == (2, 1)
        again = account.customer.read(url, params=with_tag | {"since": found["cursor"]})
        assert (again["neu"], again["geaendert"], again["entfernt"]) == ([], [], [])
    without = account.customer.read(changes, params={"since": plain})
    assert (len(without["neu"]), len(without["geaendert"])) == (2, 0)


def test_periods_are_those_of_the_customer_alone(account, shared):
    push_rents(account)
    other = new_customer(shared)
    access_id = other.add_complete("leer+tags")
    assert other.read(ALL, params={"tag": "periods"}) == []
    assert access_id
