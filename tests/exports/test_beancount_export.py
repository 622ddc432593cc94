"""Beancount's own loader takes the files without a complaint, and its sums are the banks'."""

from datetime import date
from decimal import Decimal

import pytest
from beancount import loader
from beancount.core import data, realization
from known_accounts import day, open_account

from banking import new_customer
from kontor.wire.beancount import quote
from kontor.wire.bookkeeping import name_category, name_part

EXPORT = "/customer/v2/export"
PEOPLE = ("demo1", "freiberuf")


def load(customer, **query):
    answer = customer.get(EXPORT, params={"format": "beancount", **query})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].endswith('.beancount"')
    entries, errors, _ = loader.load_string(answer.text)
    assert errors == [], errors[:3]
    return entries


def find_accounts(entries):
    """Names of accounts by the product's id."""
    opened = [entry for entry in entries if isinstance(entry, data.Open)]
    return {entry.meta["kontor-id"]: entry.account for entry in opened if "kontor-id" in entry.meta}


def sum_up(entries, account):
    found = realization.get(realization.realize(entries), account)
    return {} if found is None else {position.units.currency: position.units.number for position in found.balance}


@pytest.fixture(scope="module", params=PEOPLE)
def person(request, bank_server, shared):
    customer = new_customer(shared)
    access_id = customer.add_complete(f"{request.param}+beancount")
    return customer, access_id, load(customer)


def test_every_account_ends_with_the_balance_that_the_bank_tells(person):
    customer, access_id, entries = person
    accounts = find_accounts(entries)
    products = customer.products(access_id)
    assert set(accounts) == {product["id"] for product in products}
    asserted = {entry.account: entry for entry in entries if isinstance(entry, data.Balance)}
    for product in products:
        account = accounts[product["id"]]
        balance = Decimal(str(product["saldo"]))
        assert sum_up(entries, account).get("EUR", Decimal(0)) == balance
        assert asserted[account].amount.number == balance
        is_owed = product["kategorie"] in ("KREDITKARTE", "SONSTIGEKARTE", "KREDITKONTO")
        assert account.startswith("Liabilities:" if is_owed else "Assets:")


def test_every_booking_is_there_once_and_transfers_between_own_accounts_are_one(person):
    customer, access_id, entries = person
    rows = [
        row
        for product in customer.products(access_id)
        if product["kategorie"] != "DEPOT"
        for row in customer.transactions(product)
        if not row.get("vorgemerkt")
    ]
    written = [entry for entry in entries if isinstance(entry, data.Transaction) and "kontor-id" in entry.meta]
    ids = [entry.meta["kontor-id"] for entry in written]
    ids += [entry.meta["kontor-id-received"] for entry in written if "kontor-id-received" in entry.meta]
    assert sorted(ids) == sorted(row["id"] for row in rows)
    ibans = {product.get("iban") for product in customer.products(access_id)} - {None}
    inner = [row for row in rows if row.get("gegenkontoIban") in ibans]
    pairs = [entry for entry in written if "kontor-id-received" in entry.meta]
    for transaction in pairs:
        assert all(posting.account.startswith(("Assets:", "Liabilities:")) for posting in transaction.postings)
    assert inner
    assert len(pairs) * 2 >= len(inner) * 0.9


def test_a_span_is_consistent_in_itself(person):
    customer, access_id, _ = person
    entries = load(customer, **{"from": "2026-03-01", "to": "2026-05-31"})
    days = [entry.date for entry in entries if isinstance(entry, data.Transaction)]
    assert min(days) >= date(2026, 3, 1)
    assert max(days) <= date(2026, 5, 31)
    for product in customer.products(access_id):
        if product["kategorie"] == "DEPOT":
            continue
        url = f"/customer/v2/bankzugaenge/{access_id}/{product['id']}/balances"
        told = customer.read(url, params={"from": "2026-05-31", "to": "2026-05-31"})
        found = sum_up(entries, find_accounts(entries)[product["id"]]).get("EUR", Decimal(0))
        if told:
            assert found == Decimal(str(told[0]["balance"]))


def test_payee_narration_and_facts_survive_any_sign(shared, bank_server):
    account = open_account(shared)
    odd = 'He said "C:\\temp" ; * ! # ^ \u00e4\u20ac {x} 2026-01-01 open'
    account.push(
        [
            {"betrag": -1.5, "buchungsdatum": day(0), "gegenkontoInhaber": odd, "verwendungszweck": f"{odd} \\"},
            {"betrag": 0, "buchungsdatum": day(1)},
            {"betrag": -3, "buchungsdatum": day(1), "vorgemerkt": True},
            {"betrag": 7, "buchungsdatum": day(2), "waehrung": "USD"},
        ]
    )
    entries = load(account.customer)
    first, second, third = [
        entry for entry in entries if isinstance(entry, data.Transaction) and "kontor-id" in entry.meta
    ]
    assert (first.payee, first.narration) == (odd, f"{odd} \\")
    assert first.meta["category"]
    assert [posting.units.number for posting in first.postings] == [Decimal("-1.50"), Decimal("1.50")]
    assert second.postings[0].units.number == 0
    assert third.postings[0].units.currency == "USD"


@pytest.mark.parametrize(
    ("category", "account"),
    [
        ("LIVING_GROCERIES", "Expenses:Living:Groceries"),
        ("TAXES", "Expenses:Taxes:General"),
        ("INCOME_SALARY", "Income:Salary"),
        ("INCOME_STATE_FAMILY", "Income:State-Family"),
        ("TRANSFER_OWN", "Equity:Transfers:Own"),
        ("OTHER_INCOME", "Income:Other-Receipts"),
        (None, "Expenses:Other:Spending"),
    ],
)
def test_a_category_is_an_account(category, account):
    assert name_category(category) == account


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Müller & Söhne", "Mueller-Soehne"),
        ("1822direkt", "1822direkt"),
        ("\u4e2d", "Bank"),
        ("", "Bank"),
        (None, "Bank"),
    ],
)
def test_a_name_becomes_a_part_of_an_accounts_name(text, part):
    assert name_part(text, "Bank") == part


def test_a_string_is_quoted_in_one_line():
    assert quote('a "b"\n\\c') == '"a \\"b\\" \\\\c"'
