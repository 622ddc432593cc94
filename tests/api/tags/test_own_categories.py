"""Own categories over the API: the tree, corrections and rules with them, views, changes, cashflow, deletion."""

import re

import pytest
from pushed_rows import GROCERIES, RENT, SALARY

from banking import narrow, new_customer

CATEGORIES = "/customer/v2/ai/categories/"
RULES = "/customer/v2/ai/tagging-rules/"
TREES = "/tags/v1/tag-trees/"
PETS = {"displayName": "Hund Bella", "basis": "RECREATION_PETS", "description": "Futter und Tierarzt"}


def put(customer, url, body):
    return customer.http.put(url, json=body, headers=customer.headers)


def add(account, **changes):
    answer = account.customer.post(CATEGORIES, PETS | changes)
    assert answer.status_code == 201, answer.text
    return account.customer.read(answer.headers["location"])


def choose(item):
    return {"tags": {"systemName": item["systemName"], "tagTree": {"systemName": "CUSTOM_CATEGORIES"}}}


def own_names(account):
    """The own category of each transaction, by amount."""
    rows = account.list(tag="custom-categories")
    return {row["betrag"]: [tag["tagTreeItem"]["systemName"] for tag in row["tags"]] for row in rows}


def test_an_own_category_is_an_item_of_tree_20(account):
    trees = account.customer.read(TREES)
    assert 20 not in {tree["systemId"] for tree in trees}
    assert account.customer.get(TREES + "20").status_code == 404
    item = add(account)
    assert re.fullmatch("X_[0-9A-Z]{12}", item["systemName"])
    assert (item["displayName"], item["systemNameParent"]) == ("Hund Bella", "RECREATION_PETS")
    assert item["description"] == "Futter und Tierarzt"
    assert item["tagTree"] | {"description": ""} == {
        "systemId": 20, "systemName": "CUSTOM_CATEGORIES", "displayName": "Eigene Kategorien", "description": "",
        "version": 1, "isClientGenerated": True,
    }  # fmt: skip
    assert account.customer.read(CATEGORIES) == [item]
    assert [tree["systemId"] for tree in account.customer.read(TREES)][-1] == 20
    for key in ("20", "CUSTOM_CATEGORIES"):
        [listed] = account.customer.read(f"{TREES}{key}/tag-tree-items")
        assert listed["systemName"] == item["systemName"]
    for key in (item["systemId"], item["systemName"]):
        assert account.customer.read(f"{TREES}20/tag-tree-items/{key}")["displayName"] == "Hund Bella"


def test_a_correction_with_an_own_category_shows_the_basis_everywhere_else(account):
    account.push(GROCERIES, RENT)
    item = add(account, basis="RECREATION")
    row = next(row for row in account.list() if row["betrag"] == -23.45)
    assert account.correct(row, choose(item)).status_code == 200
    assert account.names() == {-23.45: "RECREATION_OTHER", -900: "HOUSING_RENT"}
    assert own_names(account) == {-23.45: [item["systemName"]], -900: []}
    [found] = account.list(tag="custom-categories", search="rewe")[0]["tags"]
    assert found["tagTreeItem"]["displayName"] == "Hund Bella"
    assert (found["details"]["confidenceLevel"], found["id"]) == (1, f"{row['id']}-20")
    assert account.correct(row, {"tags": {"systemName": "LIVING_OTHER"}}).status_code == 200
    assert own_names(account) == {-23.45: [], -900: []}


def test_the_sign_rule_is_that_of_the_basis(account):
    account.push(GROCERIES, SALARY)
    rows = {row["betrag"]: row for row in account.list()}
    pets, pay, other = add(account), add(account, basis="INCOME"), add(account, basis="OTHER")
    found = {
        (amount, name): account.correct(rows[amount], choose(item)).status_code
        for amount in rows
        for name, item in (("pets", pets), ("pay", pay), ("other", other))
    }
    assert found == {
        (-23.45, "pets"): 200, (-23.45, "pay"): 400, (-23.45, "other"): 200,
        (2500, "pets"): 400, (2500, "pay"): 200, (2500, "other"): 200,
    }  # fmt: skip
    assert account.names() == {-23.45: "OTHER_SPENDING", 2500: "OTHER_INCOME"}


@pytest.mark.parametrize(
    "tags",
    [
        {"systemName": "X_0123456789AB"},
        {"systemName": "X_0123456789AB", "tagTree": {"systemName": "CUSTOM_CATEGORIES"}},
        {"systemName": "LIVING_OTHER", "tagTree": {"systemName": "CUSTOM_CATEGORIES"}},
    ],
)
def test_a_category_that_is_not_there_cannot_be_chosen(account, tags):
    account.push(GROCERIES)
    assert account.correct(account.list()[0], {"tags": tags}).status_code == 400
    assert account.customer.post(RULES, {"tagTreeItem": tags, "counterpartyName": "Meier"}).status_code == 400


def test_rules_give_own_categories_and_a_deleted_category_leaves_its_basis(account):
    account.push(RENT, GROCERIES)
    item = add(account, basis="RECREATION")
    body = {"tagTreeItem": {"systemName": item["systemName"]}, "conditions": {"text": "rewe"}}
    location = account.customer.post(RULES, body).headers["location"]
    rule = account.customer.read(location)
    assert rule["tagTreeItem"]["systemName"] == item["systemName"]
    assert rule["tagTreeItem"]["tagTree"]["systemName"] == "CUSTOM_CATEGORIES"
    assert own_names(account) == {-23.45: [item["systemName"]], -900: []}
    assert account.names()[-23.45] == "RECREATION_OTHER"
    changed = {"displayName": "Bella", "basis": "LIVING_DRUGSTORE"}
    url = CATEGORIES + str(item["systemId"])
    assert put(account.customer, url, changed).status_code == 200
    assert "description" not in account.customer.read(url), "what is left out is reset"
    assert account.names()[-23.45] == "LIVING_DRUGSTORE"
    assert own_names(account)[-23.45] == [item["systemName"]]
    assert account.customer.delete(url).status_code == 200
    assert own_names(account) == {-23.45: [], -900: []}
    assert account.names()[-23.45] == "LIVING_DRUGSTORE"
    assert account.customer.read(location)["tagTreeItem"]["systemName"] == "LIVING_DRUGSTORE"
    assert account.customer.read(CATEGORIES) == []


def test_the_delta_tells_a_changed_own_category_to_those_who_ask_for_it(account):
    account.push(GROCERIES, RENT)
    changes = f"{account.url}/aenderungen"
    item = add(account)
    row = next(row for row in account.list() if row["betrag"] == -23.45)
    cursors = {
        tag: account.customer.read(changes, params={"tag": tag})["cursor"] for tag in ("false", "custom-categories")
    }
    account.correct(row, choose(item))
    plain = account.customer.read(changes, params={"since": cursors["false"]})
    assert plain["geaendert"] == []
    told = account.customer.read(changes, params={"tag": "custom-categories", "since": cursors["custom-categories"]})
    [changed] = told["geaendert"]
    assert changed["tags"][0]["tagTreeItem"]["systemName"] == item["systemName"]
    everything = account.customer.read("/customer/v2/kontoumsaetze", params={"tag": "custom-categories"})
    assert {row["betrag"]: len(row["tags"]) for row in everything} == {-23.45: 1, -900: 0}


def test_the_cashflow_by_own_categories_has_those_alone_and_new_names_at_once(account):
    account.push(GROCERIES, RENT)
    item = add(account)
    row = next(row for row in account.list() if row["betrag"] == -23.45)
    account.correct(row, choose(item))
    query = {"tag": "CUSTOM_CATEGORIES", "explain": "true"}
    url = "/customer/v2/ai/cashflow"
    [found] = account.customer.read(url, params=query)
    assert found["tagTreeItem"]["displayName"] == "Hund Bella"
    assert found["tagTreeItem"]["tagTree"]["systemId"] == 20
    total = next(part for part in found["details"]["statistics"] if part["tagTreeItem"]["systemName"] == "TOTAL_TOTAL")
    assert total["cashflow"] == -23.45
    put(account.customer, CATEGORIES + str(item["systemId"]), PETS | {"displayName": "Bella"})
    [renamed] = account.customer.read(url, params=query)
    assert renamed["tagTreeItem"]["displayName"] == "Bella"
    spans = account.customer.read(url, params=query | {"focus": "tag"})
    named = {part["tagTreeItem"]["displayName"] for span in spans for part in span["details"]["statistics"]}
    assert named == {"Bella"}
    by_category = account.customer.read(url, params={"tag": "CATEGORIES"})
    assert "RECREATION_PETS" in {entry["tagTreeItem"]["systemName"] for entry in by_category}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"displayName": " "}, "displayName"),
        ({"displayName": "x" * 101}, "displayName"),
        ({"basis": "NET"}, "basis"),
        ({"basis": "UNKNOWN"}, "basis"),
        ({"basis": None}, "basis"),
        ({"description": "x" * 1001}, "description"),
    ],
)
def test_wrong_categories_are_400_and_named(account, changes, field):
    answer = account.customer.post(CATEGORIES, PETS | changes)
    assert answer.status_code == 400
    assert field in answer.json()["message"]


def test_own_categories_are_the_users_own(account, shared):
    item = add(account)
    url = CATEGORIES + str(item["systemId"])
    stranger = new_customer(shared)
    reader = narrow(account.customer, "http://service/customer/read")
    tagger = narrow(account.customer, "http://service/customer/tags")
    assert stranger.read(CATEGORIES) == []
    assert [stranger.get(url).status_code, put(stranger, url, {}).status_code] == [404, 404]
    assert stranger.delete(url).status_code == 404
    assert stranger.get(f"{TREES}20/tag-tree-items/{item['systemId']}").status_code == 404
    assert [reader.post(CATEGORIES, PETS).status_code, reader.delete(url).status_code] == [403, 403]
    assert account.customer.get(CATEGORIES + "no-number").status_code == 404
    assert tagger.delete(url).status_code == 200


def test_own_categories_are_exported_with_the_transactions_that_have_them(account):
    account.push(GROCERIES)
    item = add(account)
    account.correct(account.list()[0], choose(item))
    dump = account.customer.read("/customer/v2/export")
    assert [category["system_name"] for category in dump["own_categories"]] == [item["systemName"]]
    [row] = dump["transactions"]
    assert (row["tags"]["own_category"], row["tags"]["category"]) == (item["systemName"], "RECREATION_PETS")
