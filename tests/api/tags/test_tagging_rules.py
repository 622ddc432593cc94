"""Rules over the API: conditions, changing, switching off, previews, and what is refused."""

import pytest
from pushed_rows import CAR_INSURANCE, GROCERIES, RENT, SALARY

from banking import narrow, new_customer

RULES = "/customer/v2/ai/tagging-rules/"
PREVIEW = RULES + "preview"
CATEGORY = {"tagTreeItem": {"systemName": "RECREATION_HOBBY"}}


def put(customer, url, body):
    return customer.http.put(url, json=body, headers=customer.headers)


def test_a_rule_with_conditions_applies_at_once_and_deleting_it_undoes_it(account):
    account.push(RENT, GROCERIES, CAR_INSURANCE, SALARY)
    before = account.tags()
    body = CATEGORY | {"name": "Probe", "conditions": {"text": "wohnung MIETE", "amountFrom": 899.99, "sign": "-"}}
    added = account.customer.post(RULES, body)
    assert added.status_code == 201
    rule = account.customer.read(added.headers["location"])
    assert rule["conditions"] == {"text": "wohnung MIETE", "amountFrom": 899.99, "sign": "-"}
    assert (rule["name"], "active" in rule) == ("Probe", False)
    after = account.names()
    assert after.pop(-900) == "RECREATION_HOBBY"
    assert after == {amount: tag["tagTreeItem"]["systemName"] for amount, tag in before.items() if amount != -900}
    assert account.customer.delete(added.headers["location"]).status_code == 200
    assert account.tags() == before


def test_a_rule_is_changed_and_switched_off(account):
    account.push(RENT, GROCERIES)
    location = account.customer.post(RULES, CATEGORY | {"conditions": {"text": "rewe"}}).headers["location"]
    assert account.names() == {-900: "HOUSING_RENT", -23.45: "RECREATION_HOBBY"}
    changed = CATEGORY | {"conditions": {"product": account.product["id"], "amountTo": 900}, "active": False}
    answer = put(account.customer, location, changed)
    assert (answer.status_code, answer.content) == (200, b"")
    assert account.customer.read(location)["active"] is False
    assert account.names() == {-900: "HOUSING_RENT", -23.45: "LIVING_GROCERIES"}
    assert put(account.customer, location, changed | {"active": True}).status_code == 200
    assert account.names() == {-900: "RECREATION_HOBBY", -23.45: "RECREATION_HOBBY"}
    assert "active" not in account.customer.read(location)


def test_a_plain_rule_looks_as_before(account):
    location = account.customer.post(RULES, CATEGORY | {"counterpartyName": "Meier"}).headers["location"]
    rule = account.customer.read(location)
    assert set(rule) == {"id", "tagTreeItem", "counterpartyIban", "counterpartyName", "relations"}


def test_a_preview_tells_what_the_rule_will_decide_and_stores_nothing(account):
    account.push(*({**GROCERIES, "betrag": -amount} for amount in range(1, 13)), SALARY)
    before = account.names()
    rule = CATEGORY | {"conditions": {"text": "rewe", "amountFrom": 2}}
    found = account.customer.post(PREVIEW, rule)
    assert found.status_code == 200
    assert (found.json()["anzahl"], found.json()["summe"]) == (11, -77)
    examples = found.json()["beispiele"]
    assert len(examples) == 10
    assert {row["produktId"] for row in examples} == {account.product["id"]}
    assert account.names() == before
    assert account.customer.read(RULES) == []
    location = account.customer.post(RULES, rule).headers["location"]
    assert sum(name == "RECREATION_HOBBY" for name in account.names().values()) == 11
    narrowed = CATEGORY | {"conditions": {"text": "rewe", "amountFrom": 12}, "id": location.rpartition("/")[2]}
    assert account.customer.post(PREVIEW, narrowed).json()["anzahl"] == 1
    assert account.customer.post(PREVIEW, rule | {"active": False}).json()["anzahl"] == 0


@pytest.mark.parametrize(
    ("conditions", "field"),
    [
        ({}, "conditions"),
        ({"text": "  "}, "conditions"),
        ({"text": "*?!"}, "conditions.text"),
        ({"partner": "NOBODY_KNOWS"}, "conditions.partner"),
        ({"partner": "1"}, "conditions.partner"),
        ({"amountFrom": -1}, "conditions.amountFrom"),
        ({"amountTo": 1.005}, "conditions.amountTo"),
        ({"amountFrom": 2, "amountTo": 1}, "conditions.amountTo"),
        ({"sign": "*"}, "conditions.sign"),
        ({"product": "00000000-0000-4000-8000-000000000000"}, "conditions.product"),
        ({"text": "x" * 300}, "conditions.text"),
    ],
)
def test_wrong_conditions_are_400_and_named(account, conditions, field):
    for url in (RULES, PREVIEW):
        answer = account.customer.post(url, CATEGORY | {"conditions": conditions})
        assert answer.status_code == 400, answer.text
        assert answer.json()["message"].startswith(field + ":"), answer.text


def test_rules_need_the_scope_for_tags_and_foreign_ones_are_404(account, shared):
    location = account.customer.post(RULES, CATEGORY | {"counterpartyName": "Meier"}).headers["location"]
    reader = narrow(account.customer, "http://service/customer/read")
    tagger = narrow(account.customer, "http://service/customer/tags")
    stranger = new_customer(shared)
    assert reader.post(PREVIEW, CATEGORY | {"counterpartyName": "Meier"}).status_code == 403
    assert put(reader, location, CATEGORY | {"counterpartyName": "Meier"}).status_code == 403
    assert put(tagger, location, CATEGORY | {"counterpartyName": "Huber"}).status_code == 200
    assert put(stranger, location, {}).status_code == 404, "the object comes first"
    body = CATEGORY | {"counterpartyName": "Meier", "id": location.rpartition("/")[2]}
    assert stranger.post(PREVIEW, body).status_code == 404
