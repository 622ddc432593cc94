"""Edits of several transactions over the API: which rows, what is refused, the list, and undoing."""

from uuid import uuid4

import pytest

from banking import href, narrow, new_customer
from kontor.domain.scopes import CUSTOMER_MODIFY, CUSTOMER_READ, CUSTOMER_TAGS
from stored_text import find_tables_with

CUSTOMER = "/customer/v2"
ALL = f"{CUSTOMER}/kontoumsaetze"
EDITS = f"{ALL}/bearbeitungen"
SHOPPING = {"systemName": "SHOPPING_OTHER", "tagTree": {"systemName": "CATEGORIES"}}
REWE = {"gegenkontoInhaber": "REWE Markt GmbH", "verwendungszweck": "REWE SAGT DANKE"}
ROWS = [
    {"betrag": 2500, "gegenkontoInhaber": "Muster GmbH", "verwendungszweck": "Lohn / Gehalt 10/2026"},
    {"betrag": -900, "gegenkontoInhaber": "Hausverwaltung Meier", "verwendungszweck": "Miete Wohnung 12"},
    {"betrag": -23.45, **REWE},
    {"betrag": -12.5, **REWE},
    {"betrag": 5, **REWE},
    {"betrag": -7, "gegenkontoInhaber": "Café Zürich", "verwendungszweck": "Kaffee", "waehrung": "CHF"},
]


class Account:
    def __init__(self, customer):
        self.customer = customer
        self.access_id = customer.add_complete("leer+bearbeitungen")
        self.url = href(customer.products(self.access_id)[0], "get_kontoumsaetze")
        shared = {"identifier": {"batchId": "edits"}}
        rows = [row | shared | {"buchungsdatum": f"2026-10-{day:02} 00:00:00"} for day, row in enumerate(ROWS, 1)]
        assert customer.post(self.url, rows).status_code == 201

    def list(self, **query):
        return {row["betrag"]: row for row in self.customer.read(ALL, params={"limit": 1000} | query)}

    def names(self):
        rows = self.list(tag="true").items()
        return {amount: row["tags"][0]["tagTreeItem"]["systemName"] for amount, row in rows}

    def edit(self, body, **query):
        return self.customer.post(EDITS, body, params=query)

    def apply(self, body):
        answer = self.edit(body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def undo(self, edit):
        answer = self.customer.delete(f"{EDITS}/{edit['id']}")
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def customer(bank_server, shared):
    return Account(new_customer(shared))


@pytest.fixture
def account(customer):
    """Without edits: those of a test are undone, the latest first."""
    yield customer
    for edit in customer.customer.read(EDITS):
        customer.customer.delete(f"{EDITS}/{edit['id']}")
    assert not [row for row in customer.list().values() if {"notiz", "schlagworte"} & set(row)]


def test_a_preview_says_what_would_change_and_stores_nothing(account):
    answer = account.edit({"filter": {"search": "rewe"}, "tags": SHOPPING}, preview="true")
    assert answer.status_code == 200
    shown = answer.json()
    assert (shown["anzahl"], shown["summe"]) == (2, -35.95)
    assert [row["betrag"] for row in shown["beispiele"]] == [-12.5, -23.45]
    assert {"zugangId", "produktId"} <= set(shown["beispiele"][0])
    assert account.customer.read(EDITS) == []
    assert account.names()[-12.5] == "LIVING_GROCERIES"
    whole = account.edit({"filter": {}, "notiz": None}, preview="true").json()
    assert (whole["anzahl"], whole["summe"], len(whole["beispiele"])) == (6, 1569.05, 6)  # francs are in no sum


def test_an_edit_changes_what_a_filter_finds_and_skips_the_wrong_sign(account):
    answer = account.edit({"filter": {"search": "rewe"}, "tags": SHOPPING, "schlagworte": ["Haushalt"], "notiz": "x"})
    assert answer.status_code == 201
    edit = answer.json()
    assert set(edit) == {"id", "anzahl", "uebersprungen"}
    assert (edit["anzahl"], edit["uebersprungen"]) == (2, 1)
    assert answer.headers["location"].endswith(f"{EDITS}/{edit['id']}")
    rows, names = account.list(), account.names()
    for amount in (-23.45, -12.5):
        assert (names[amount], rows[amount]["schlagworte"], rows[amount]["notiz"]) == (
            "SHOPPING_OTHER",
            ["Haushalt"],
            "x",
        )
    assert "schlagworte" not in rows[5]
    assert "schlagworte" not in rows[-900]


def test_an_edit_by_ids_changes_each_once_and_an_unknown_one_changes_none(account):
    ids = [row["id"] for amount, row in account.list().items() if amount < 0]
    edit = account.apply({"ids": [*ids, ids[0]], "schlagworte": ["Ausgabe"]})
    assert (edit["anzahl"], edit["uebersprungen"]) == (4, 0)
    assert {amount for amount, row in account.list().items() if "schlagworte" in row} == {-900, -23.45, -12.5, -7}
    for query in ({}, {"preview": "true"}):
        assert account.edit({"ids": [*ids, str(uuid4())], "notiz": "x"}, **query).status_code == 404
    assert not [row for row in account.list().values() if "notiz" in row]


def test_every_filter_of_the_list_selects_the_same_rows_for_an_edit(account):
    product = next(iter(account.list().values()))["produktId"]
    account.apply({"filter": {"richtung": "EIN"}, "schlagworte": ["Einnahme"]})
    for filters in (
        {"from": "2026-10-03"}, {"to": "2026-10-02"}, {"search": "miete"}, {"category": "LIVING"},
        {"minAmount": "-20"}, {"maxAmount": "-20", "richtung": "AUS"}, {"produkt": product}, {"betrag": "900"},
        {"schlagwort": "einnahme"},
    ):  # fmt: skip
        shown = account.edit({"filter": filters, "notiz": "x"}, preview="true").json()
        listed = account.list(**filters)
        assert shown["anzahl"] == len(listed) > 0, filters
        assert {row["id"] for row in shown["beispiele"]} == {row["id"] for row in listed.values()}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"notiz": "x"}, "ids"),
        ({"ids": [str(uuid4())], "filter": {}, "notiz": "x"}, "filter"),
        ({"filter": {}}, "schlagworte"),
        ({"ids": [], "notiz": "x"}, "ids"),
        ({"ids": ["abc"], "notiz": "x"}, "ids[0]"),
        ({"ids": [str(uuid4())] * 10_001, "notiz": "x"}, "10000"),
        ({"filter": {"serach": "rewe"}, "notiz": "x"}, "serach"),
        ({"filter": {"limit": "5"}, "notiz": "x"}, "limit"),
        ({"filter": {"tag": "true"}, "notiz": "x"}, "tag"),
        ({"filter": {"search": None}, "notiz": "x"}, "filter.search"),
        ({"filter": {"minAmount": "viel"}, "notiz": "x"}, "minAmount"),
        ({"filter": {"from": "gestern"}, "notiz": "x"}, "from"),
        ({"filter": {}, "notiz": "x" * 1001}, "1000"),
        ({"filter": {}, "schlagworte": [f"w{number}" for number in range(21)]}, "20"),
        ({"filter": {}, "schlagworte": [" "]}, "schlagworte[0]"),
        ({"filter": {}, "tags": {"systemName": "LIVING"}}, "tags"),
        ({"filter": {}, "tags": {"systemName": "SHOPPING_OTHER", "tagTree": {"systemName": "PERIODS"}}}, "tagTree"),
        ({"filter": {}, "teile": []}, "tags"),
    ],
)
def test_what_does_not_fit_is_400_naming_what_is_wrong_also_in_a_preview(account, body, named):
    for query in ({}, {"preview": "true"}):
        answer = account.edit(body, **query)
        assert answer.status_code == 400
        assert named in answer.json()["message"]
    assert account.customer.read(EDITS) == []


def test_edits_are_listed_the_latest_first_with_what_they_set(account):
    account.apply({"filter": {"betrag": "900"}, "tags": [SHOPPING], "notiz": None})
    account.apply({"filter": {"betrag": "900"}, "schlagworte": ["Wohnung"]})
    later, earlier = account.customer.read(EDITS)
    assert (later["schlagworte"], later["anzahl"], later["uebersprungen"]) == (["Wohnung"], 1, 0)
    assert not {"tags", "notiz"} & set(later)
    assert (earlier["tags"], earlier["notiz"]) == ([SHOPPING], None)
    assert "schlagworte" not in earlier
    assert later["erstelltAm"] >= earlier["erstelltAm"]
    assert account.customer.read(href(later, "self")) == later


def test_undoing_restores_what_nobody_changed_since_and_the_edit_is_gone(account):
    edit = account.apply({"filter": {"search": "rewe"}, "tags": SHOPPING, "notiz": "x"})
    url = f"{account.url}/{account.list()[-12.5]['id']}"
    assert account.customer.http.put(url, json={"notiz": "y"}, headers=account.customer.headers).status_code == 200
    assert account.undo(edit) == {"id": edit["id"], "anzahl": 1, "uebersprungen": 1}
    rows, names = account.list(), account.names()
    assert (names[-23.45], "notiz" in rows[-23.45]) == ("LIVING_GROCERIES", False)
    assert (names[-12.5], rows[-12.5]["notiz"]) == ("SHOPPING_OTHER", "y")
    for method in ("get", "delete"):
        assert getattr(account.customer, method)(f"{EDITS}/{edit['id']}").status_code == 404
    body = {"notiz": None, "tags": {"systemName": "LIVING_GROCERIES"}}
    assert account.customer.http.put(url, json=body, headers=account.customer.headers).status_code == 200


def test_after_30_days_an_edit_is_listed_and_cannot_be_undone(account, owner):
    edit = account.apply({"filter": {"betrag": "900"}, "schlagworte": ["Wohnung"]})
    age = "update transaction_edits set made_at = now() - interval '30 days' where id = %s"
    owner.execute(age, [edit["id"]])
    answer = account.customer.delete(f"{EDITS}/{edit['id']}")
    assert answer.status_code == 409
    assert "30 days" in answer.json()["message"]
    assert account.list()[-900]["schlagworte"] == ["Wohnung"]
    assert [listed["id"] for listed in account.customer.read(EDITS)] == [edit["id"]]
    owner.execute("update transaction_edits set made_at = now() where id = %s", [edit["id"]])


def test_a_correction_of_existing_transactions_is_an_edit_that_can_be_undone(account):
    before = account.names()
    url = f"{account.url}/{account.list()[-12.5]['id']}"
    body, headers = {"tags": SHOPPING, "notiz": "bleibt"}, account.customer.headers
    assert account.customer.http.put(url, json=body, headers=headers).status_code == 200
    assert account.customer.read(EDITS) == []
    assert (
        account.customer.http.put(url, json=body, headers=headers, params={"changeExisting": "true"}).status_code == 200
    )
    [edit] = account.customer.read(EDITS)
    assert (edit["anzahl"], edit["uebersprungen"], edit["tags"]) == (2, 1, SHOPPING)
    assert account.names()[-23.45] == "SHOPPING_OTHER"
    assert account.undo(edit)["anzahl"] == 2
    assert account.names() == before | {-12.5: "SHOPPING_OTHER"}
    body = {"notiz": None, "tags": {"systemName": "LIVING_GROCERIES"}}
    assert account.customer.http.put(url, json=body, headers=headers).status_code == 200


def test_scopes_and_strangers(account, shared):
    body = {"filter": {"betrag": "900"}, "schlagworte": ["Wohnung"]}
    reader = narrow(account.customer, CUSTOMER_READ)
    for query in ({}, {"preview": "true"}):
        assert reader.post(EDITS, body, params=query).status_code == 403
    tagger = narrow(account.customer, CUSTOMER_TAGS)
    assert tagger.get(EDITS).status_code == 403
    assert tagger.post(EDITS, body, params={"preview": "true"}).status_code == 200
    edit = narrow(account.customer, CUSTOMER_MODIFY).post(EDITS, body).json()
    assert reader.read(EDITS)[0]["id"] == edit["id"]
    assert reader.delete(f"{EDITS}/{edit['id']}").status_code == 403
    stranger = new_customer(shared)
    assert stranger.read(EDITS) == []
    for method in ("get", "delete"):
        assert getattr(stranger, method)(f"{EDITS}/{edit['id']}").status_code == 404
    ids = [row["id"] for row in account.list().values()]
    assert stranger.post(EDITS, {"ids": ids, "notiz": "fremd"}).status_code == 404
    assert stranger.post(EDITS, {"filter": {}, "notiz": "fremd"}).json()["anzahl"] == 0
    assert tagger.delete(f"{EDITS}/{edit['id']}").status_code == 200


def test_an_unknown_parameter_is_400_and_named(account):
    answer = account.edit({"filter": {}, "notiz": "x"}, vorschau="true")
    assert answer.status_code == 400
    assert "vorschau" in answer.json()["message"]


def test_exports_have_edits_and_former_values_and_erasure_removes_them(bank_server, shared, owner):
    account = Account(new_customer(shared))
    mark = f"Geheimnis {account.customer.reference}"
    account.apply({"filter": {"betrag": "900"}, "notiz": mark, "schlagworte": [mark]})
    account.apply({"filter": {"betrag": "900"}, "notiz": "x", "schlagworte": ["y"]})
    dump = account.customer.read(f"{CUSTOMER}/export")
    assert sorted(edit["note"] for edit in dump["transaction_edits"]) == sorted([mark, "x"])
    assert [kept["note"] for kept in dump["values_before_edits"] if kept["note"]] == [mark]
    assert {"transactions.edit"} <= {entry["action"] for entry in dump["audit_entries"]}
    assert find_tables_with(owner, mark) == {"transaction_edits", "transaction_edit_rows"}
    assert account.customer.delete(f"{CUSTOMER}/bankzugaenge/{account.access_id}").status_code == 200
    assert find_tables_with(owner, mark) == set()
    again = Account(account.customer)
    again.apply({"filter": {"betrag": "900"}, "notiz": mark})
    erased = account.customer.http.delete(
        CUSTOMER, params={"confirm": account.customer.username}, headers=account.customer.headers
    )
    assert erased.status_code == 200
    assert find_tables_with(owner, mark) == set()
