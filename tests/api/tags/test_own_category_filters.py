"""`category` of lists, sums and bulk edits names own categories too: those of the user and of the tenant, no others."""

import pytest
from pushed_rows import GROCERIES, RENT, SALARY

from banking import new_customer

CATEGORIES = "/customer/v2/ai/categories/"
ALL = "/customer/v2/kontoumsaetze"


@pytest.fixture
def pets(account):
    """An own category that one transaction has, and a part of another one."""
    account.push(GROCERIES, RENT, SALARY)
    added = account.customer.post(CATEGORIES, {"displayName": "Hund Bella", "basis": "RECREATION_PETS"})
    item = account.customer.read(added.headers["location"])
    rows = {row["betrag"]: row for row in account.list()}
    chosen = {"systemName": item["systemName"]}
    assert account.correct(rows[-23.45], {"tags": chosen}).status_code == 200
    parts = [{"betrag": -100, "tags": chosen}, {"betrag": -800, "tags": {"systemName": "HOUSING_RENT"}}]
    assert account.correct(rows[-900], {"teile": parts}).status_code == 200
    return item


@pytest.mark.parametrize("key", ["systemName", "systemId"])
def test_lists_and_sums_find_an_own_category_by_its_name_and_id(account, pets, key):
    query = {"category": pets[key]}
    assert {row["betrag"] for row in account.list(**query)} == {-23.45, -900}
    assert [row["betrag"] for row in account.list(limit=1, order="asc", **query)] == [
        account.list(**query)[-1]["betrag"]
    ]
    assert {row["betrag"] for row in account.customer.read(ALL, params=query)} == {-23.45, -900}
    [found] = account.customer.read(ALL + "/summe", params=query)
    assert (found["anzahl"], found["ausgaben"], found["einnahmen"]) == (2, -123.45, 0)
    body = {"filter": {"category": str(pets[key])}, "schlagworte": ["Bella"]}
    preview = account.customer.http.post(
        ALL + "/bearbeitungen", json=body, params={"preview": "true"}, headers=account.customer.headers
    )
    assert (preview.status_code, preview.json()["anzahl"]) == (200, 2)


def test_the_filter_for_the_base_category_finds_own_categories(account, pets):
    assert {row["betrag"] for row in account.list(category="RECREATION")} == {-23.45, -900}
    [found] = account.customer.read(ALL + "/summe", params={"category": "RECREATION_PETS"})
    assert found["ausgaben"] == -123.45


@pytest.mark.parametrize("name", ["X_0123456789AB", "1999999999", "Hund Bella", ""])
def test_a_category_that_is_not_there_is_400_and_named(account, pets, name):
    answers = [account.customer.get(url, params={"category": name}) for url in (account.url, ALL, ALL + "/summe")]
    body = {"filter": {"category": name}, "notiz": "x"}
    answers.append(account.customer.post(ALL + "/bearbeitungen", body))
    for answer in answers:
        assert answer.status_code == 400
        assert "category" in answer.json()["message"]


def test_the_own_category_of_somebody_else_is_as_unknown_as_any(account, pets, shared):
    stranger = new_customer(shared)
    for name in (pets["systemName"], pets["systemId"], "X_0123456789AB"):
        answer = stranger.get(ALL, params={"category": name})
        assert (answer.status_code, answer.json()["message"]) == (400, "category: is no system name of a category")


def test_a_deleted_category_is_unknown(account, pets):
    assert account.customer.delete(f"{CATEGORIES}{pets['systemId']}").status_code == 200
    assert account.customer.get(account.url, params={"category": pets["systemName"]}).status_code == 400
