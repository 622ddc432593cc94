"""Analysing transactions that the caller brings along, and keeping answers while nothing changes."""

import json

import pytest

from banking import new_customer

URL = "/ai/v1/analyses"
ALL = [
    "contracts", "cashflow", "disposable-money", "life-events", "life-stages", "sales-triggers", "affordability",
    "credit-check",
]  # fmt: skip


def row(number, day, amount, purpose, name, **facts):
    return {
        "id": f"row-{number}", "betrag": amount, "buchungsdatum": f"{day}T00:00:00+01:00", "verwendungszweck": purpose,
        "gegenkontoInhaber": name, "user": "u", "provider": "p", "product": "k", "tenant": "t",
    } | facts  # fmt: skip


def year():
    rows = []
    for month in range(1, 11):
        rows.append(row(f"s{month}", f"2026-{month:02d}-28", 2800, "Lohn / Gehalt", "Muster GmbH",
                        gegenkontoIban="DE02500105170137075030"))  # fmt: skip
        rows.append(row(f"r{month}", f"2026-{month:02d}-03", -900, "Miete Wohnung 12", "Hausverwaltung Meier",
                        gegenkontoIban="DE02120300000000202051"))  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def caller(demo1):
    return demo1[0]


def test_every_analysis_asked_for_is_a_member_of_the_answer(caller):
    body = {"today": "2026-11-15", "analyses": ALL, "transactions": year(), "accounts": [
        {"product": "k", "iban": "DE71999999994755365063", "inhaber": "Anna", "saldo": 12.5, "kategorie": "GIROKONTO"}
    ]}  # fmt: skip
    answer = caller.post(URL, body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert list(found) == ALL
    assert {contract["tagTreeItem"]["systemName"] for contract in found["contracts"]} == {
        "INCOME_SALARY",
        "HOUSING_RENT",
    }
    ids = {name for contract in found["contracts"] for name in contract["details"]["transactionIds"]}
    assert ids == {transaction["id"] for transaction in year()}
    assert {contract["entity"]["id"] for contract in found["contracts"]} == {"u"}
    assert found["affordability"]["details"]["rentalPayments"] is True


def test_only_what_is_asked_for_comes_back_and_can_be_explained(caller):
    body = {"today": "2026-11-15", "analyses": ["contracts", "contracts"], "transactions": year()}
    found = caller.post(URL, body, params={"explain": "true"}).json()
    assert list(found) == ["contracts"]
    assert all(contract["details"]["evidence"] for contract in found["contracts"])


def test_no_transactions_give_empty_analyses(caller):
    found = caller.post(URL, {"analyses": ALL, "transactions": []}).json()
    assert found == {name: {} if name in ("disposable-money", "affordability", "credit-check") else [] for name in ALL}


@pytest.mark.parametrize(
    "change",
    [
        {"analyses": []},
        {"analyses": ["horoscope"]},
        {"analyses": None},
        {"today": "soon"},
        {"transactions": None},
        {"accounts": [{"iban": "DE1"}]},
        {"accounts": [{"product": "k", "kategorie": "SPARSCHWEIN"}]},
        {"transactions": [row(1, "2026-01-01", 1, "", ""), row(1, "2026-01-02", 1, "", "")]},
    ],
)
def test_wrong_requests_are_400(caller, change):
    body = {"analyses": ["contracts"], "transactions": year()} | change
    assert caller.post(URL, body).status_code == 400


def test_errors_name_the_entry_and_a_number_never_takes_a_callers_id(caller):
    wrong = [*year(), row(99, "2026-01-01", 1.234, "", "")]
    answer = caller.post(URL, {"analyses": ["contracts"], "transactions": wrong})
    assert "transactions[20].betrag" in answer.json()["message"]
    mixed = [row(0, "2026-01-01", 1, "", "") | {"id": "1"}, row(0, "2026-01-02", 1, "", "") | {"id": None}]
    assert caller.post(URL, {"analyses": ["contracts"], "transactions": mixed}).status_code == 200


@pytest.mark.parametrize("balance", ["NaN", "Infinity"])
def test_a_balance_that_is_no_number_is_400(caller, balance):
    body = {"analyses": ["contracts"], "transactions": year(), "accounts": [{"product": "k", "saldo": balance}]}
    assert caller.post(URL, body).status_code == 400


def test_nothing_of_it_is_stored(caller, owner):
    before = owner.execute("select count(*) from analysis_results").fetchone()
    assert caller.post(URL, {"analyses": ALL, "transactions": year()}).status_code == 200
    assert owner.execute("select count(*) from analysis_results").fetchone() == before


# Answers are kept


def test_an_answer_is_kept_until_the_data_changes(bank_server, shared, owner):
    customer = new_customer(shared)
    access_id = customer.add_complete("leer+kept")
    product = customer.products(access_id)[0]
    url = f"/customer/v2/bankzugaenge/{access_id}/{product['id']}/kontoumsaetze"
    assert customer.read("/customer/v2/ai/contracts/") == []
    left_out = ("id", "user", "provider", "product", "tenant")
    rows = [{key: value for key, value in transaction.items() if key not in left_out} for transaction in year()]
    pushed = [row | {"identifier": {"batchId": "kept"}} for row in rows]
    assert customer.post(url, pushed).status_code == 201
    found = customer.read("/customer/v2/ai/contracts/")
    assert len(found) == 2
    # What is kept is what is answered: a changed one would be seen.
    user = customer.reference
    kept = owner.execute(
        "update analysis_results set answer = %s where user_id = %s and question like 'list_contracts%%'",
        [json.dumps(["kept"]).encode(), user],
    )
    assert kept.rowcount == 1
    assert customer.read("/customer/v2/ai/contracts/") == ["kept"]
    row_id = customer.read(url)[0]["id"]
    body = {"tags": {"systemName": "TRANSFER_OTHER"}}
    assert customer.http.put(f"{url}/{row_id}", json=body, headers=customer.headers).status_code == 200
    assert customer.read("/customer/v2/ai/contracts/") != ["kept"]
    customer.delete(f"/customer/v2/bankzugaenge/{access_id}")
    assert owner.execute("select count(*) from analysis_results where user_id = %s", [user]).fetchone() == (0,)
    assert customer.read("/customer/v2/ai/contracts/") == []
