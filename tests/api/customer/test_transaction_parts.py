"""Parts of transactions over the API: what fits, where they are shown, what counts them and what does not."""

import csv
import io

import pytest

from banking import href, new_customer

CUSTOMER = "/customer/v2"
ALL = f"{CUSTOMER}/kontoumsaetze"
GROCERIES = {"systemName": "LIVING_GROCERIES", "tagTree": {"systemName": "CATEGORIES"}}
DRUGSTORE = [{"systemName": "LIVING_DRUGSTORE"}]
PARTS = [{"betrag": -60.05, "tags": GROCERIES, "notiz": "Grillabend"}, {"betrag": -39.95, "tags": DRUGSTORE}]
ROWS = [
    {"betrag": -100, "gegenkontoInhaber": "REWE Markt GmbH", "verwendungszweck": "REWE SAGT DANKE"},
    {"betrag": -10, "gegenkontoInhaber": "dm Drogeriemarkt", "verwendungszweck": "DM SAGT DANKE"},
    {"betrag": 2500, "gegenkontoInhaber": "Muster GmbH", "verwendungszweck": "Lohn / Gehalt 10/2026"},
    {"betrag": 0, "gegenkontoInhaber": "Bank", "verwendungszweck": "Abschluss"},
]


class Account:
    def __init__(self, customer):
        self.customer = customer
        self.access_id = customer.add_complete("leer+teile")
        self.url = href(customer.products(self.access_id)[0], "get_kontoumsaetze")
        shared = {"identifier": {"batchId": "parts"}, "buchungsdatum": "2026-10-05 00:00:00"}
        assert customer.post(self.url, [row | shared for row in ROWS]).status_code == 201

    def list(self, **query):
        return {row["betrag"]: row for row in self.customer.read(self.url, params=query)}

    def put(self, body, amount=-100):
        url = f"{self.url}/{self.list()[amount]['id']}"
        return self.customer.http.put(url, json=body, headers=self.customer.headers)

    def sum_up(self, category):
        [entry] = self.customer.read(f"{ALL}/summe", params={"category": category})
        return entry["anzahl"], entry["summe"]

    def read_cashflow(self):
        flows = self.customer.read(f"{CUSTOMER}/ai/cashflow/")
        return {
            flow["tagTreeItem"]["systemName"]: statistic["cashflow"]
            for flow in flows
            for statistic in flow["details"]["statistics"]
            if statistic["tagTreeItem"]["systemName"] == "2026_M10"
        }


@pytest.fixture(scope="module")
def account(bank_server, shared):
    return Account(new_customer(shared))


@pytest.fixture(autouse=True)
def whole(account):
    answer = account.put({"teile": [], "notiz": None, "tags": GROCERIES})
    assert answer.status_code == 200, answer.text


def test_parts_are_shown_as_they_were_written_and_an_empty_array_removes_them(account):
    assert "teile" not in account.list()[-100]
    answer = account.put({"teile": PARTS})
    assert (answer.status_code, answer.content) == (200, b"")
    row = account.list(tag="true")[-100]
    assert row["teile"] == PARTS
    assert row["tags"][0]["tagTreeItem"]["systemName"] == "LIVING_GROCERIES"
    shown = next(row for row in account.customer.read(ALL) if row["betrag"] == -100)
    told = next(row for row in account.customer.read(f"{ALL}/aenderungen")["neu"] if row["betrag"] == -100)
    assert (shown["teile"], told["teile"]) == (PARTS, PARTS)
    assert '"betrag":-60.05' in account.customer.get(account.url).text
    assert account.put({"teile": []}).status_code == 200
    assert "teile" not in account.list()[-100]


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([{"betrag": -100, "tags": GROCERIES}], "2 to 20"),
        ([{"betrag": -1, "tags": GROCERIES}] * 21, "20"),
        ([{"betrag": -60, "tags": GROCERIES}, {"betrag": -39.99, "tags": GROCERIES}], "-99.99"),
        ([{"betrag": -110, "tags": GROCERIES}, {"betrag": 10, "tags": GROCERIES}], "teile[1]"),
        ([{"betrag": -100, "tags": GROCERIES}, {"betrag": 0, "tags": GROCERIES}], "teile[1]"),
        ([{"betrag": -60.001, "tags": GROCERIES}, {"betrag": -39.999, "tags": GROCERIES}], "teile[0].betrag"),
        ([{"betrag": -60, "tags": {"systemName": "LIVING"}}, PARTS[1]], "teile"),
        ([PARTS[0], {"betrag": -39.95, "tags": {"systemName": "NO_CATEGORY"}}], "teile[1].tags.systemName"),
        ([PARTS[0], {"betrag": -39.95, "tags": {"systemName": "INCOME_SALARY"}}], "teile[1].tags.systemName"),
        (
            [PARTS[0], PARTS[1] | {"tags": {"systemName": "HOME_OTHER", "tagTree": {"systemName": "INSURANCE_TYPES"}}}],
            "teile[1].tags.tagTree.systemName",
        ),
        ([PARTS[0], {"betrag": -39.95}], "teile[1].tags"),
        ([PARTS[0], PARTS[1] | {"notiz": "x" * 1001}], "1000"),
        (None, "teile"),
    ],
)
def test_what_does_not_fit_is_400_naming_what_is_wrong_and_changes_nothing(account, parts, named):
    answer = account.put({"teile": parts, "notiz": "nicht gespeichert"})
    assert answer.status_code == 400
    assert named in answer.json()["message"]
    assert not {"teile", "notiz"} & set(account.list()[-100])


def test_every_part_with_a_wrong_category_is_named(account):
    names = ("NO_CATEGORY", "LIVING_GROCERIES", "INCOME_SALARY", "LIVING")
    answer = account.put({"teile": [{"betrag": -25, "tags": {"systemName": name}} for name in names]})
    assert answer.status_code == 400
    problems = answer.json()["message"].split("; ")
    assert [problem.partition(":")[0] for problem in problems] == [f"teile[{n}].tags.systemName" for n in (0, 2, 3)]


def test_a_transaction_of_nothing_cannot_be_split(account):
    parts = [{"betrag": 0, "tags": {"systemName": "TRANSFER_OTHER"}}] * 2
    assert account.put({"teile": parts}, amount=0).status_code == 400


def test_income_is_split_into_income(account):
    parts = [{"betrag": 2000, "tags": {"systemName": "INCOME_SALARY"}},
             {"betrag": 500, "tags": {"systemName": "INCOME_OTHER"}}]  # fmt: skip
    assert account.put({"teile": parts}, amount=2500).status_code == 200
    assert account.sum_up("INCOME_OTHER") == (1, 500)
    assert account.put({"teile": []}, amount=2500).status_code == 200


def test_categories_and_cashflow_count_the_parts_and_what_counts_rows_stays(account):
    before = account.customer.read(f"{ALL}/summe")
    assert (account.sum_up("LIVING_GROCERIES"), account.sum_up("LIVING_DRUGSTORE")) == ((1, -100), (1, -10))
    account.put({"teile": PARTS})
    assert account.sum_up("LIVING_GROCERIES") == (1, -60.05)
    assert account.sum_up("LIVING_DRUGSTORE") == (2, -49.95)
    assert account.sum_up("LIVING") == (2, -110)
    assert account.customer.read(f"{ALL}/summe") == before
    for url in (ALL, account.url):
        found = account.customer.read(url, params={"category": "LIVING_DRUGSTORE"})
        assert sorted(row["betrag"] for row in found) == [-100, -10]
    flows = account.read_cashflow()
    assert (flows["LIVING_GROCERIES"], flows["LIVING_DRUGSTORE"], flows["EXPENSES"]) == (-60.05, -49.95, -110)


def test_a_split_transaction_is_not_found_by_a_category_that_none_of_its_parts_has(account):
    account.put({"teile": [{"betrag": -50, "tags": DRUGSTORE}] * 2})
    for url in (ALL, account.url):
        assert account.customer.read(url, params={"category": "LIVING_GROCERIES"}) == []
    assert account.list(tag="true")[-100]["tags"][0]["tagTreeItem"]["systemName"] == "LIVING_GROCERIES"


def test_exports_have_the_parts(account):
    account.put({"teile": PARTS})
    dump = account.customer.read(f"{CUSTOMER}/export")
    row = next(row for row in dump["transactions"] if row["amount"] == -100)
    assert [(part["amount"], part["category"]) for part in row["parts"]] == [
        (-60.05, "LIVING_GROCERIES"), (-39.95, "LIVING_DRUGSTORE")
    ]  # fmt: skip
    text = account.customer.get(f"{CUSTOMER}/export", params={"format": "csv"}).text
    lines = {line["amount"]: line["parts"] for line in csv.DictReader(io.StringIO(text))}
    assert lines["-100.00"] == "LIVING_GROCERIES -60.05 | LIVING_DRUGSTORE -39.95"
    assert lines["-10.00"] == ""
    book = account.customer.get(f"{CUSTOMER}/export", params={"format": "beancount"}).text
    assert "  Expenses:Living:Groceries  60.05 EUR\n  Expenses:Living:Drugstore  39.95 EUR\n" in book
    assert "open Expenses:Living:Drugstore\n" in book
