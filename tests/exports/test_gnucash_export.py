"""The file for GnuCash. What GnuCash makes of it is in test_book_peers.py."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import pytest
from known_accounts import day, open_account
from lxml import etree

from kontor.wire.gnucash import write_fraction

SPACES = {name: f"http://www.gnucash.org/XML/{name}" for name in ("gnc", "act", "trn", "split", "slot", "cmdty")}


def find(node, path):
    return node.xpath(path, namespaces=SPACES)


@pytest.fixture(scope="module")
def export(shared, bank_server):
    account = open_account(shared)
    account.push(
        [
            {"betrag": -23.45, "buchungsdatum": day(0), "gegenkontoInhaber": "A & <B>", "verwendungszweck": "x\u0007y"},
            {"betrag": -3, "buchungsdatum": day(1), "vorgemerkt": True},
            {"betrag": 7, "buchungsdatum": day(2), "waehrung": "USD"},
        ]
    )
    answer = account.customer.get("/customer/v2/export", params={"format": "gnucash"})
    assert answer.headers["content-disposition"].endswith('.gnucash"')
    return account, etree.fromstring(answer.content)


def test_each_transaction_balances_and_its_accounts_are_declared_before(export):
    _, book = export
    accounts = set()
    kinds = [node.tag.rpartition("}")[2] for node in find(book, "//gnc:account | //gnc:transaction")]
    assert kinds == sorted(kinds)
    for node in find(book, "//gnc:account"):
        parents = find(node, "act:parent/text()")
        assert not parents or parents[0] in accounts
        accounts.add(find(node, "act:id/text()")[0])
    assert find(book, "//gnc:transaction")
    for node in find(book, "//gnc:transaction"):
        assert sum(Fraction(value) for value in find(node, ".//split:value/text()")) == 0
        assert set(find(node, ".//split:account/text()")) <= accounts


def test_an_account_has_one_currency_and_the_sum_of_the_bank(export):
    account, book = export
    currencies = {
        find(node, "act:id/text()")[0]: find(node, "act:commodity/cmdty:id/text()")
        for node in find(book, "//gnc:account")
    }
    sums = defaultdict(Fraction)
    for node in find(book, "//gnc:transaction"):
        for split in find(node, ".//trn:split"):
            id = find(split, "split:account/text()")[0]
            assert currencies[id] == find(node, "trn:currency/cmdty:id/text()")
            sums[id] += Fraction(find(split, "split:quantity/text()")[0])
    product = account.customer.products(account.access_id)[0]
    assert sums[product["id"].replace("-", "")] == Fraction(str(product["saldo"]))


def test_texts_are_as_the_bank_sent_them_but_for_what_xml_forbids(export):
    account, book = export
    found = [node for node in find(book, "//gnc:transaction") if find(node, "trn:description/text()") == ["A & <B>"]]
    assert find(found[0], ".//split:memo/text()") == ["xy", "xy"]
    booked = [row["id"] for row in account.read() if not row.get("vorgemerkt")]
    assert sorted(find(book, "//slot[slot:key='online_id']/slot:value/text()")) == sorted(booked)


@pytest.mark.parametrize(("amount", "fraction"), [("-12.34", "-1234/100"), ("5", "500/100"), ("0.1234", "1234/10000")])
def test_an_amount_is_a_fraction(amount, fraction):
    assert write_fraction(Decimal(amount)) == fraction
