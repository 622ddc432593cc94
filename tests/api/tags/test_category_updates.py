"""Users' corrections: the sign rule, existing and future transactions, and that nothing takes them back."""

import pytest
from pushed_rows import CAR_INSURANCE, GROCERIES, RENT, SALARY

from banking import narrow, new_customer


def item(system_name, tree="CATEGORIES"):
    return {"tags": {"systemName": system_name, "tagTree": {"systemName": tree}}}


def test_a_correction_is_shown_at_once_with_certainty(account):
    account.push(GROCERIES)
    row = account.list()[0]
    answer = account.correct(row, item("SHOPPING_OTHER"))
    assert (answer.status_code, answer.content) == (200, b"")
    found = account.tags()[-23.45]
    assert found["tagTreeItem"]["systemName"] == "SHOPPING_OTHER"
    assert found["details"]["confidenceLevel"] == 1
    [why] = account.tags(explain="true")[-23.45]["details"]["evidence"]
    assert why["kind"] == "user"


@pytest.mark.parametrize(
    "tags",
    [
        {"systemName": "SHOPPING_OTHER"},
        [{"systemName": "SHOPPING_OTHER", "tagTree": {"systemName": "CATEGORIES", "systemId": 1}}],
        {"systemName": "SHOPPING_OTHER", "systemId": 4711, "displayName": "Anderes"},
    ],
)
def test_an_item_is_taken_alone_or_in_an_array_of_one(account, tags):
    account.push(GROCERIES)
    assert account.correct(account.list()[0], {"tags": tags}).status_code == 200
    assert account.names()[-23.45] == "SHOPPING_OTHER"


@pytest.mark.parametrize(
    "body",
    [
        item("NO_CATEGORY"),
        item("LIVING"),
        item("NET"),
        item("INCOME"),
        item("VEHICLE_LIABILITY", "INSURANCE_TYPES"),
        item("LIVING_GROCERIES", "INSURANCE_TYPES"),
        item("INCOME_SALARY"),
        {},
        {"tags": []},
        {"tags": [{"systemName": "SHOPPING_OTHER"}, {"systemName": "SHOPPING_OTHER"}]},
        {"tags": "SHOPPING_OTHER"},
    ],
)
def test_what_does_not_fit_is_400_and_changes_nothing(account, body):
    account.push(GROCERIES)
    assert account.correct(account.list()[0], body).status_code == 400
    assert account.names()[-23.45] == "LIVING_GROCERIES"


def test_the_sign_rule_holds_for_every_kind_of_amount(account):
    account.push(GROCERIES, SALARY, GROCERIES | {"betrag": 0})
    rows = {row["betrag"]: row for row in account.list()}
    fits = {
        (-23.45, "INCOME_OTHER"): 400, (-23.45, "TRANSFER_OTHER"): 200, (-23.45, "TAXES"): 200,
        (2500, "OTHER_INCOME"): 400, (2500, "INCOME_RENTAL"): 200, (2500, "TRANSFER_OWN"): 200,
        (0, "INCOME_OTHER"): 400, (0, "LIVING_OTHER"): 400, (0, "TRANSFER_OTHER"): 200,
    }  # fmt: skip
    found = {(amount, name): account.correct(rows[amount], item(name)).status_code for amount, name in fits}
    assert found == fits


def test_the_insurance_type_follows_a_corrected_category(account):
    account.push(CAR_INSURANCE, GROCERIES)
    rows = {row["betrag"]: row for row in account.list()}
    account.correct(rows[-48.1], item("INSURANCE_HOME"))
    account.correct(rows[-23.45], item("INSURANCE_OTHER"))
    assert account.names("insurances") == {-48.1: "HOME_OTHER", -23.45: "OTHER_OTHER"}
    account.correct(rows[-48.1], item("MOBILITY_OTHER"))
    assert account.names("insurances")[-48.1] == "UNRELATED_OTHER"


def test_existing_transactions_of_the_counterparty_change_when_asked(account):
    account.push(RENT, RENT | {"betrag": -910}, RENT | {"betrag": 20}, GROCERIES)
    row = next(transaction for transaction in account.list() if transaction["betrag"] == -900)
    account.correct(row, item("HOUSING_OTHER"))
    assert account.names()[-910] == "HOUSING_RENT"
    account.correct(row, item("HOUSING_OTHER"), changeExisting="true")
    names = account.names()
    assert (names[-900], names[-910], names[-23.45]) == ("HOUSING_OTHER", "HOUSING_OTHER", "LIVING_GROCERIES")
    assert names[20] != "HOUSING_OTHER", "the sign would not fit"


def test_a_rule_holds_for_future_transactions_only(account):
    account.push(RENT | {"betrag": -910})
    account.push(RENT, batch="second")
    row = next(transaction for transaction in account.list() if transaction["betrag"] == -900)
    account.correct(row, item("HOUSING_OTHER"), createRule="true")
    assert account.names()[-910] == "HOUSING_RENT"
    account.push(RENT | {"betrag": -920, "gegenkontoInhaber": "HAUSVERWALTUNG  MEIER"}, batch="third")
    assert account.names()[-920] == "HOUSING_OTHER"
    [why] = account.tags(explain="true")[-920]["details"]["evidence"]
    assert why["kind"] == "rule"


def test_a_rule_without_a_counterparty_is_refused(account):
    account.push({"betrag": -5, "verwendungszweck": "Kartenzahlung"})
    assert account.correct(account.list()[0], item("SHOPPING_OTHER"), createRule="true").status_code == 400


def test_a_correction_survives_a_refresh(bank_server, shared):
    customer = new_customer(shared)
    access_id = customer.add_complete("student+correction")
    product = customer.product(access_id, "GIROKONTO")
    url = f"/customer/v2/bankzugaenge/{access_id}/{product['id']}/kontoumsaetze"
    row = next(
        transaction
        for transaction in customer.read(url)
        if transaction["betrag"] < 0 and not transaction.get("vorgemerkt")
    )
    customer.http.put(f"{url}/{row['id']}", json=item("RECREATION_HOBBY"), headers=customer.headers)
    assert customer.refresh(access_id).status_code == 201
    shown = next(
        transaction for transaction in customer.read(url, params={"tag": "true"}) if transaction["id"] == row["id"]
    )
    assert shown["tags"][0]["tagTreeItem"]["systemName"] == "RECREATION_HOBBY"


def test_nobody_corrects_what_is_not_theirs(account, shared):
    account.push(GROCERIES)
    row = account.list()[0]
    stranger = new_customer(shared)
    url = f"{account.url}/{row['id']}"
    assert stranger.http.put(url, json=item("SHOPPING_OTHER"), headers=stranger.headers).status_code == 404
    assert stranger.http.put(url, json={}, headers=stranger.headers).status_code == 404, "the object comes first"
    reader = narrow(account.customer, "http://service/customer/read")
    assert reader.http.put(url, json=item("SHOPPING_OTHER"), headers=reader.headers).status_code == 403
    missing = f"{account.url}/00000000-0000-4000-8000-000000000000"
    answer = account.customer.http.put(missing, json=item("SHOPPING_OTHER"), headers=account.customer.headers)
    assert answer.status_code == 404


# Rules by themselves

RULES = "/customer/v2/ai/tagging-rules/"


def test_rules_are_added_read_listed_and_deleted(account):
    body = {"tagTreeItem": {"systemName": "HOUSING_OTHER"}, "counterpartyName": "Hausverwaltung Meier"}
    added = account.customer.post(RULES, body)
    assert added.status_code == 201
    rule = account.customer.read(added.headers["location"])
    assert rule["tagTreeItem"]["systemName"] == "HOUSING_OTHER"
    assert (rule["counterpartyIban"], rule["counterpartyName"]) == ("", "Hausverwaltung Meier")
    assert account.customer.read(RULES) == [rule]
    account.push(RENT)
    assert account.names()[-900] == "HOUSING_OTHER"
    assert account.customer.delete(added.headers["location"]).status_code == 200
    assert account.customer.read(RULES) == []
    assert account.customer.delete(added.headers["location"]).status_code == 404
    assert account.names()[-900] == "HOUSING_RENT", "what the tagger says"


def test_all_rules_are_deleted_at_once_and_nobody_elses(account, shared):
    stranger = new_customer(shared)
    for customer, name in ((account.customer, "Meier"), (account.customer, "Huber"), (stranger, "Meier")):
        body = {"tagTreeItem": {"systemName": "HOUSING_OTHER"}, "counterpartyName": name}
        assert customer.post(RULES, body).status_code == 201
    assert account.customer.delete(RULES).status_code == 200
    assert (len(account.customer.read(RULES)), len(stranger.read(RULES))) == (0, 1)
    assert account.customer.delete(RULES).status_code == 200, "nothing is left to delete"


def test_a_second_rule_for_a_counterparty_replaces_the_first(account):
    for name in ("HOUSING_OTHER", "HOUSING_SERVICES"):
        body = {"tagTreeItem": {"systemName": name}, "counterpartyIban": "DE02 1203 0000 0000 2020 51"}
        assert account.customer.post(RULES, body).status_code == 201
    [rule] = account.customer.read(RULES)
    assert rule["tagTreeItem"]["systemName"] == "HOUSING_SERVICES"
    account.push(RENT)
    assert account.names()[-900] == "HOUSING_SERVICES"


@pytest.mark.parametrize(
    "body",
    [
        {"tagTreeItem": {"systemName": "HOUSING_OTHER"}},
        {"tagTreeItem": {"systemName": "HOUSING_OTHER"}, "counterpartyName": "  ", "counterpartyIban": None},
        {"tagTreeItem": {"systemName": "NO"}, "counterpartyName": "Meier"},
        {"counterpartyName": "Meier"},
        {"tagTreeItem": {"systemName": "HOUSING_OTHER"}, "counterpartyName": "x" * 300},
    ],
)
def test_wrong_rules_are_400(account, body):
    assert account.customer.post(RULES, body).status_code == 400


def test_a_rule_keeps_only_what_can_be_stored(account):
    body = {"tagTreeItem": {"systemName": "HOUSING_OTHER"}, "counterpartyName": "a\0b"}
    added = account.customer.post(RULES, body)
    assert added.status_code == 201
    assert "\0" not in account.customer.read(added.headers["location"])["counterpartyName"]
    assert account.customer.post(RULES, body | {"counterpartyName": "\0"}).status_code == 400


def test_rules_are_the_users_own(account, shared):
    body = {"tagTreeItem": {"systemName": "HOUSING_OTHER"}, "counterpartyName": "Meier"}
    location = account.customer.post(RULES, body).headers["location"]
    stranger = new_customer(shared)
    assert stranger.read(RULES) == []
    assert (stranger.get(location).status_code, stranger.delete(location).status_code) == (404, 404)
