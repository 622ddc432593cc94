"""Notes and keywords of transactions over the API: where they are shown, what is refused, whose they are."""

import csv
import io

import pytest

from banking import href, narrow, new_customer
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS
from stored_text import find_tables_with

CUSTOMER = "/customer/v2"
ALL = f"{CUSTOMER}/kontoumsaetze"
NOBODY = "00000000-0000-4000-8000-000000000000"
ROWS = [
    {"betrag": -900, "gegenkontoInhaber": "Hausverwaltung Meier", "verwendungszweck": "Miete Wohnung 12"},
    {"betrag": -23.45, "gegenkontoInhaber": "REWE Markt GmbH", "verwendungszweck": "REWE SAGT DANKE"},
]


class Account:
    def __init__(self, customer):
        self.customer = customer
        self.access_id = customer.add_complete("leer+notizen")
        self.url = href(customer.products(self.access_id)[0], "get_kontoumsaetze")
        shared = {"identifier": {"batchId": "notes"}, "buchungsdatum": "2026-11-02 00:00:00"}
        assert customer.post(self.url, [row | shared for row in ROWS]).status_code == 201

    def list(self, **query):
        return {row["betrag"]: row for row in self.customer.read(self.url, params=query)}

    def put(self, body, amount=-900, customer=None):
        customer = customer or self.customer
        url = f"{self.url}/{self.list()[amount]['id']}"
        return customer.http.put(url, json=body, headers=customer.headers)


@pytest.fixture(scope="module")
def account(bank_server, shared):
    return Account(new_customer(shared))


@pytest.fixture(autouse=True)
def blank(account):
    for amount in (-900, -23.45):
        assert account.put({"notiz": None, "schlagworte": []}, amount).status_code == 200


def test_what_nobody_has_set_is_left_out_and_null_and_an_empty_array_remove(account):
    fields = {"notiz", "schlagworte"}
    assert not fields & set(account.list()[-900])
    answer = account.put({"notiz": "Kaution offen\nAnruf am Montag", "schlagworte": ["Wohnung"]})
    assert (answer.status_code, answer.content) == (200, b"")
    row = account.list()[-900]
    assert (row["notiz"], row["schlagworte"]) == ("Kaution offen\nAnruf am Montag", ["Wohnung"])
    assert account.put({"schlagworte": []}).status_code == 200
    row = account.list()[-900]
    assert ("notiz" in row, "schlagworte" in row) == (True, False)
    assert account.put({"notiz": "  "}).status_code == 200
    assert not fields & set(account.list()[-900])


def test_every_list_shows_them(account):
    account.put({"notiz": "Kaution", "schlagworte": ["Wohnung", "Steuer"]})
    lists = [
        account.customer.read(url, params=query)
        for url in (account.url, ALL)
        for query in ({}, {"tag": "true"}, {"search": "miete"}, {"tag": "categories", "minAmount": "-1000"})
    ]
    lists += [account.customer.read(f"{url}/aenderungen")["neu"] for url in (account.url, ALL)]
    for rows in lists:
        row = next(row for row in rows if row["betrag"] == -900)
        assert (row["notiz"], row["schlagworte"]) == ("Kaution", ["Wohnung", "Steuer"])


def test_keywords_are_kept_once_and_are_found_whatever_their_capitals(account):
    account.put({"schlagworte": ["Urlaub", "urlaub", "  Rom   2026 "]})
    account.put({"schlagworte": ["Steuer"]}, -23.45)
    assert account.list()[-900]["schlagworte"] == ["Urlaub", "Rom 2026"]
    for word, amounts in {"urlaub": [-900], "rom 2026": [-900], "STEUER": [-23.45], "Url": [], "x": []}.items():
        assert [row["betrag"] for row in account.customer.read(ALL, params={"schlagwort": word})] == amounts
        sums = account.customer.read(f"{ALL}/summe", params={"schlagwort": word})
        assert [entry["summe"] for entry in sums] == amounts
    found = account.customer.read(ALL, params={"schlagwort": "Urlaub", "richtung": "EIN"})
    assert found == []


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "notiz"),
        ({"unbekannt": 1}, "schlagworte"),
        ({"notiz": "x" * 1001}, "1000"),
        ({"notiz": 1}, "notiz"),
        ({"notiz": "a\x00b"}, "notiz"),
        ({"schlagworte": None}, "schlagworte"),
        ({"schlagworte": [f"w{number}" for number in range(21)]}, "20"),
        ({"schlagworte": ["x" * 101]}, "schlagworte[0]"),
        ({"schlagworte": ["gut", " "]}, "schlagworte[1]"),
        ({"notiz": "gut", "schlagworte": [""]}, "schlagworte[0]"),
        ({"notiz": "gut", "tags": {"systemName": "NO_CATEGORY"}}, "tags"),
    ],
)
def test_what_does_not_fit_is_400_naming_the_field_or_limit_and_changes_nothing(account, body, named):
    answer = account.put(body)
    assert answer.status_code == 400
    assert named in answer.json()["message"]
    assert "notiz" not in account.list()[-900]


def test_several_wrong_fields_are_all_named(account):
    answer = account.put({"notiz": "x" * 1001, "schlagworte": [1]})
    assert answer.status_code == 400
    message = answer.json()["message"]
    assert "notiz" in message
    assert "; schlagworte[0]" in message


def test_the_limits_themselves_are_accepted(account):
    words = [f"{number:02}" + "x" * 98 for number in range(20)]
    assert account.put({"notiz": "ä" * 1000, "schlagworte": words}).status_code == 200
    assert account.list()[-900]["schlagworte"] == words


def test_reading_alone_may_not_write_and_nobody_writes_beside_what_is_anothers(account, shared):
    reader = narrow(account.customer, CUSTOMER_READ)
    assert account.put({"notiz": "x"}, customer=reader).status_code == 403
    tagger = narrow(account.customer, CUSTOMER_TAGS)
    assert account.put({"notiz": None}, customer=tagger).status_code == 200
    stranger = new_customer(shared)
    assert account.put({"notiz": "x"}, customer=stranger).status_code == 404
    assert account.put({}, customer=stranger).status_code == 404  # the object is checked before the body
    url = f"{account.url}/{NOBODY}"
    answer = account.customer.http.put(url, json={"notiz": "x"}, headers=account.customer.headers)
    assert answer.status_code == 404
    assert "notiz" not in account.list()[-900]


def test_exports_have_them(account):
    account.put({"notiz": "=Kaution\noffen", "schlagworte": ["Wohnung", "Steuer"]})
    dump = account.customer.read(f"{CUSTOMER}/export")
    row = next(row for row in dump["transactions"] if row["amount"] == -900)
    assert (row["note"], row["keywords"]) == ("=Kaution\noffen", ["Wohnung", "Steuer"])
    assert "transaction.annotate" in [entry["action"] for entry in dump["audit_entries"]]
    text = account.customer.get(f"{CUSTOMER}/export", params={"format": "csv"}).text
    lines = {line["amount"]: line for line in csv.DictReader(io.StringIO(text))}
    assert (lines["-900.00"]["note"], lines["-900.00"]["keywords"]) == ("'=Kaution offen", "Wohnung, Steuer")
    assert (lines["-23.45"]["note"], lines["-23.45"]["keywords"]) == ("", "")
    book = account.customer.get(f"{CUSTOMER}/export", params={"format": "beancount"}).text
    assert '  note: "=Kaution offen"\n  keywords: "Wohnung, Steuer"\n' in book


def test_they_go_with_the_access_and_with_the_user(account, shared, owner):
    other = Account(new_customer(shared))
    mark = f"Geheimnis {other.customer.reference}"
    assert other.put({"notiz": mark, "schlagworte": [mark]}).status_code == 200
    assert find_tables_with(owner, mark) == {"transactions"}
    assert other.customer.delete(f"{CUSTOMER}/bankzugaenge/{other.access_id}").status_code == 200
    assert find_tables_with(owner, mark) == set()
    again = Account(other.customer)
    assert again.put({"notiz": mark}).status_code == 200
    answer = other.customer.http.delete(
        CUSTOMER, params={"confirm": other.customer.username}, headers=other.customer.headers
    )
    assert answer.status_code == 200
    assert find_tables_with(owner, mark) == set()
