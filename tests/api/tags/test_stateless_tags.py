"""Tagging transactions that the caller brings along."""

import json

import pytest

URL = "/ai/v1/transactions/tags"
ROW = {
    "betrag": -48.10, "buchungsdatum": "2026-11-02T00:00:00Z", "verwendungszweck": "Kfz-Haftpflicht Vertrag 4711",
    "gegenkontoInhaber": "HUK-COBURG", "user": "u", "provider": "p", "product": "k", "tenant": "t", "id": "mine",
}  # fmt: skip


@pytest.fixture(scope="module")
def caller(demo1):
    return demo1[0]


def test_each_transaction_comes_back_with_the_tags_of_all_four_trees(caller):
    answer = caller.post(URL, [ROW, ROW | {"id": None, "buchungsdatum": "2026-11-02 00:00:00"}])
    assert answer.status_code == 200, answer.text
    first, second = answer.json()
    assert {key: first[key] for key in ROW} == ROW
    trees = {tag["tagTreeItem"]["tagTree"]["systemName"]: tag["tagTreeItem"]["systemName"] for tag in first["tags"]}
    assert trees == {
        "CATEGORIES": "INSURANCE_VEHICLE",
        "INSURANCE_TYPES": "VEHICLE_LIABILITY",
        "BUSINESS_PARTNERS": "HUK_COBURG",
        "FREELANCER_CATEGORIES": trees["FREELANCER_CATEGORIES"],
    }
    assert {tag["entity"]["id"] for tag in first["tags"]} == {"mine"}
    assert len(second["tags"]) == 4


def test_every_tag_says_what_it_is_based_on_if_asked(caller):
    [plain] = caller.post(URL, [ROW]).json()
    [explained] = caller.post(URL, [ROW], params={"explain": "true"}).json()
    assert all("evidence" not in tag["details"] for tag in plain["tags"])
    assert all(tag["details"]["evidence"] for tag in explained["tags"])
    for tag in explained["tags"]:
        del tag["details"]["evidence"]
    assert explained == plain


def test_ids_of_the_caller_are_kept_whatever_they_contain(caller):
    strange = 'a"b\\c\u0001</script>ü'
    [found] = caller.post(URL, [ROW | {"id": strange}]).json()
    assert found["id"] == strange
    assert found["tags"][0]["entity"]["id"] == strange


@pytest.mark.parametrize("amount", ["0", "-9", "-9.9", "10.0"])
def test_amounts_come_back_with_two_decimals(caller, amount):
    content = json.dumps([ROW]).replace("-48.1", amount).encode()
    answer = caller.http.post(URL, content=content, headers=caller.headers | {"Content-Type": "application/json"})
    assert f'"betrag":{float(amount):.2f}' in answer.text


def test_no_transactions_give_no_tags(caller):
    assert caller.post(URL, []).json() == []


@pytest.mark.parametrize(
    "field", ["betrag", "buchungsdatum", "verwendungszweck", "user", "provider", "product", "tenant"]
)
def test_required_fields_are_required(caller, field):
    answer = caller.post(URL, [ROW, {key: value for key, value in ROW.items() if key != field}])
    assert answer.status_code == 400
    assert field in answer.json()["message"]


@pytest.mark.parametrize(
    "change",
    [{"betrag": 1.234}, {"betrag": "many"}, {"buchungsdatum": "yesterday"}, {"waehrung": "euro"}, {"betrag": 1e30},
     {"wertstellungsdatum": "2026-13-01"}],
)  # fmt: skip
def test_wrong_values_are_400(caller, change):
    assert caller.post(URL, [ROW | change]).status_code == 400


def test_more_than_50000_are_413(caller):
    small = json.dumps(ROW | {"verwendungszweck": ""})
    content = f"[{','.join([small] * 50_001)}]".encode()
    headers = caller.headers | {"Content-Type": "application/json"}
    assert caller.http.post(URL, content=content, headers=headers).status_code == 413
