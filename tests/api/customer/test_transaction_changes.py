"""Changes of transactions over HTTP: cursors, pages, tags, and what is refused."""

import base64

import pytest

from banking import ACCESSES, href, narrow, new_customer, rels
from kontor.domain.scopes import CUSTOMER_MODIFY

CUSTOMER = "/customer/v2"
ALL = f"{CUSTOMER}/kontoumsaetze/aenderungen"
REL = "get_kontoumsaetze_aenderungen"


def push(customer, product, *amounts, batch):
    rows = [
        {
            "identifier": {"batchId": batch},
            "betrag": amount,
            "buchungsdatum": "2026-11-02 00:00:00",
            "gegenkontoInhaber": "Kiosk am Ring",
            "verwendungszweck": f"Zeitung {batch} {amount}",
        }
        for amount in amounts
    ]
    assert customer.post(href(product, "get_kontoumsaetze"), rows).status_code == 201


def read_pages(customer, url, **query):
    """All answers of one reading, and their cursor at the end."""
    answers = [customer.read(url, params=query)]
    while answers[-1]["weitere"]:
        answers.append(customer.read(url, params=query | {"since": answers[-1]["cursor"]}))
    return answers, answers[-1]["cursor"]


@pytest.fixture(scope="module")
def customer(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete("demo1+changes", access_id="first")
    return customer


@pytest.fixture(scope="module")
def giro(customer):
    return customer.product("first", "GIROKONTO")


def list_all(customer, access_id):
    rows = []
    for product in customer.products(access_id):
        if product["kategorie"] != "DEPOT":
            place = {"zugangId": access_id, "produktId": product["id"]}
            rows += [row | place for row in customer.transactions(product)]
    return rows


def by_id(rows):
    return {row["id"]: row for row in rows}


def test_product_and_customer_offer_their_changes(customer, giro):
    assert href(giro, REL) == f"{href(giro, 'get_kontoumsaetze')}/aenderungen"
    assert href(customer.read(CUSTOMER), REL).endswith(ALL)
    assert REL not in rels(customer.product("first", "DEPOT"))


def test_without_a_cursor_everything_is_new_and_equals_the_list(customer, giro):
    answer = customer.read(href(giro, REL), params={"limit": 5000})
    assert by_id(answer["neu"]) == by_id(customer.transactions(giro))
    assert (answer["geaendert"], answer["entfernt"], answer["weitere"]) == ([], [], False)


def test_over_all_accounts_each_row_says_its_access_and_product(customer):
    answer = customer.read(ALL, params={"limit": 5000})
    assert by_id(answer["neu"]) == by_id(list_all(customer, "first"))


def test_pages_tell_each_row_once(customer):
    answers, _ = read_pages(customer, ALL, limit=100)
    told = [row["id"] for answer in answers for row in answer["neu"]]
    assert len(answers) > 2
    assert all(len(answer["neu"]) == 100 for answer in answers[:-1])
    assert sorted(told) == sorted(row["id"] for row in list_all(customer, "first"))


def test_after_the_end_nothing_is_told_and_the_cursor_stays(customer, giro):
    for url in (ALL, href(giro, REL)):
        _, cursor = read_pages(customer, url)
        again = customer.read(url, params={"since": cursor})
        assert again == {"neu": [], "geaendert": [], "entfernt": [], "cursor": cursor, "weitere": False}


def test_a_pushed_row_is_new_on_its_product_and_over_all(customer, giro):
    savings = customer.product("first", "TAGESGELDKONTO")
    _, cursor = read_pages(customer, ALL)
    push(customer, giro, -3.5, batch="pushed")
    (row,) = customer.read(href(giro, REL), params={"since": cursor})["neu"]
    assert (row["betrag"], row["identifier"]) == (-3.5, {"batchId": "pushed"})
    (placed,) = customer.read(ALL, params={"since": cursor})["neu"]
    assert placed == row | {"zugangId": "first", "produktId": giro["id"]}
    assert customer.read(href(savings, REL), params={"since": cursor})["neu"] == []


def test_a_corrected_category_is_a_change_with_tags_of_its_tree_alone(customer, giro):
    push(customer, giro, -4.5, batch="corrected")
    row = next(row for row in customer.transactions(giro) if row["betrag"] == -4.5)
    _, cursor = read_pages(customer, ALL, tag="categories")
    body = {"tags": {"systemName": "HOUSING_RENT"}}
    url = f"{href(giro, 'get_kontoumsaetze')}/{row['id']}"
    assert customer.http.put(url, json=body, headers=customer.headers).status_code == 200
    told = {
        tag: customer.read(ALL, params={"since": cursor, "tag": tag})["geaendert"]
        for tag in ("false", "categories", "true", "business-partners", "freelancer-categories")
    }
    assert {tag: [row["id"] for row in rows] for tag, rows in told.items()} == {
        "false": [], "categories": [row["id"]], "true": [row["id"]], "business-partners": [],
        "freelancer-categories": [],
    }  # fmt: skip
    (tag,) = told["categories"][0]["tags"]
    assert tag["tagTreeItem"]["systemName"] == "HOUSING_RENT"


def test_rows_with_tags_and_reasons_are_shown_as_in_the_list(customer, giro):
    listed = by_id(customer.transactions(giro, tag="categories", explain="true"))
    answer = customer.read(href(giro, REL), params={"limit": 5000, "tag": "categories", "explain": "true"})
    assert by_id(answer["neu"]) == listed


def test_rows_of_a_deleted_access_are_removed(customer):
    customer.add_complete("familie+changes", access_id="second")
    _, cursor = read_pages(customer, ALL)
    product = customer.product("second", "GIROKONTO")
    rows = list_all(customer, "second")
    assert rows
    assert customer.delete(f"{ACCESSES}/second").status_code == 200
    answers, _ = read_pages(customer, ALL, since=cursor, limit=5000)
    told = [gone for answer in answers for gone in answer["entfernt"]]
    assert sorted(told, key=lambda gone: gone["id"]) == sorted(
        ({"id": row["id"], "produktId": row["produktId"]} for row in rows), key=lambda gone: gone["id"]
    )
    assert customer.get(href(product, REL)).status_code == 404


@pytest.mark.parametrize(
    "since", ["", "x", "AQ", "ä", "AAAA", base64.urlsafe_b64encode(b"\x01" + bytes(16)).decode(), "A" * 5000]
)
def test_a_malformed_cursor_is_refused(customer, giro, since):
    for url in (ALL, href(giro, REL)):
        answer = customer.get(url, params={"since": since})
        assert (answer.status_code, answer.json()["message"]) == (409, "since: start again without since")


def test_a_cursor_of_another_user_is_refused(customer, bank_server, shared):
    _, cursor = read_pages(customer, ALL)
    stranger = new_customer(shared)
    assert stranger.get(ALL, params={"since": cursor}).status_code == 409
    own = stranger.read(ALL)
    assert (own["neu"], own["weitere"]) == ([], False)
    assert stranger.read(ALL, params={"since": own["cursor"]})["cursor"] == own["cursor"]


def test_a_reading_goes_on_with_the_same_product_and_tag_only(customer, giro):
    cursor = customer.read(ALL, params={"limit": 1})["cursor"]
    assert customer.get(href(giro, REL), params={"since": cursor}).status_code == 409
    assert customer.get(ALL, params={"since": cursor, "tag": "true"}).status_code == 409
    assert customer.get(ALL, params={"since": cursor}).status_code == 200


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 5001}, {"limit": "x"}, {"tag": "colours"}, {"from": "2026-01-01"}, {"cursor": "x"}],
)
def test_a_wrong_parameter_is_named(customer, giro, query):
    for url in (ALL, href(giro, REL)):
        answer = customer.get(url, params=query)
        assert answer.status_code == 400
        assert next(iter(query)) in answer.json()["message"]


def test_a_stranger_sees_nothing_and_reading_needs_its_scope(customer, giro, bank_server, shared):
    stranger = new_customer(shared)
    assert stranger.get(href(giro, REL)).status_code == 404
    assert narrow(customer, CUSTOMER_MODIFY).get(ALL).status_code == 403
