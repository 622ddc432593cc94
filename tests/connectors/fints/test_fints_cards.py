"""Credit cards over FinTS: DKKKU has their balance and bookings, and no other business knows them."""

from datetime import date, timedelta
from decimal import Decimal
from hashlib import sha256
from itertools import count

import pytest
from fints_payer import Payer, overheard

from fints_banks import TODAY
from kontor.connectors.base import Continue, Done, Fetch, Progress
from kontor.connectors.demo.people import person_for
from kontor.connectors.fints.accounts import Account
from kontor.connectors.fints.cards import read_card_pages, write_page
from kontor.demobank.fints.modes import Mode
from kontor.domain.accesses import History
from kontor.domain.products import ProductCategory

CARD = "4871000011112222"


@pytest.fixture
def customer_at(bank_with, request):
    """New customers, the same ones in every run: the login decides the bookings."""
    numbers, name = count(), sha256(request.node.name.encode()).hexdigest()[:8]
    return lambda *modes, login="test_products", **facts: Payer(
        bank_with(*modes), f"{login}+{name}{next(numbers)}", **facts
    )


def list_merchants(rows):
    return {(row.counterparty_name or "").strip() for row in rows if row.amount < 0}


def find_card(payer):
    person = person_for(payer.login, TODAY)
    return next(account for account in person.accounts if account.product.category is ProductCategory.CREDIT_CARD)


def fetch(payer, job=None, state=None):
    progress = payer.begin(job or Fetch(), state)
    assert isinstance(progress, Progress), progress
    done = payer.resume(progress, Continue())
    assert isinstance(done, Done), done
    return progress.partial.products, done.result


@pytest.mark.parametrize("modes", [(Mode.CARDS_APART,), ()], ids=["apart", "as an account"])
def test_a_card_has_balance_and_bookings(customer_at, modes):
    payer = customer_at(*modes, login="demo1")
    card = find_card(payer)
    products, fetched = fetch(payer, Fetch(history=History.ALL))
    product = next(product for product in products if product.key == card.product.key)
    assert product.category is ProductCategory.CREDIT_CARD
    assert product.iban is None
    assert product.balance == card.product.balance
    assert product.balance_at is not None
    rows = fetched.transactions[card.product.key]
    expected = [entry.transaction for entry in card.entries]
    assert len(rows) > 50, "more than one page"
    assert sorted(row.amount for row in rows) == sorted(row.amount for row in expected)
    assert list_merchants(rows) == list_merchants(expected)
    assert not fetched.problems


def test_a_card_is_asked_for_once_and_by_dkkku_alone(customer_at):
    payer = customer_at(Mode.CARDS_APART)
    with overheard() as sent:
        fetch(payer)
    number = find_card(payer).product.account_number
    asked = [segment for message in sent for segment in message.segments if segment.read(1) == number]
    assert {segment.code for segment in asked} == {"DKKKU"}
    assert [segment.read(2) for segment in asked if not segment.read(7)] == [number]


def test_a_refresh_asks_for_a_card_since_its_last_settlement(customer_at):
    """The balance comes with bookings only, and a quiet week has none."""
    payer = customer_at(Mode.CARDS_APART)
    key = find_card(payer).product.key
    with overheard() as sent:
        products, _ = fetch(payer, Fetch(since={key: TODAY}))
    first = next(message.find("DKKKU") for message in sent if "DKKKU" in message.codes)
    assert first.read_day(4) == TODAY - timedelta(days=60)
    assert next(product for product in products if product.key == key).balance is not None


def row(
    *, bought="20261001", booked="20261002", money=("12,34", "EUR", "D"), original=None, rate="1,", texts=(), end=()
):
    lines = (list(texts) + [None] * 9)[:9]
    return [CARD, bought, booked, None, *(original or money), rate, *money, *lines, *end]


def read(*rows, balance=("D", "99,5", "EUR", "20261112")):
    return read_card_pages([write_page([CARD, None, list(balance) if balance else None, None, None, *rows])])


def test_a_purchase_has_its_merchant_and_the_banks_reference():
    statement = read(row(texts=("BUCHHANDLUNG ", "KOELN 4871********2222"), end=("J", "900001", "5942")))
    booking = statement.rows[0]
    assert (booking.amount, booking.currency) == (Decimal("-12.34"), "EUR")
    assert booking.counterparty_name == "BUCHHANDLUNG"
    assert booking.purpose == "KOELN 4871********2222"
    assert booking.bank_id == "900001"
    assert not booking.is_pending
    assert statement.balance == Decimal("-99.50")


def test_a_purchase_abroad_tells_its_original_amount():
    abroad = row(original=("50,", "USD", "D"), rate="0,9", money=("45,", "EUR", "D"), texts=("SHOP",), end=("J", "1"))
    assert read(abroad).rows[0].amount == -45
    assert read(abroad).rows[0].purpose == "50 USD, Kurs 0,9"
    told = row(original=("50,", "USD", "D"), rate="0,9", texts=("SHOP", "50,00 USD, EURO-KURS 0,9"), end=("J", "1"))
    assert read(told).rows[0].purpose == "50,00 USD, EURO-KURS 0,9"


def test_a_settlement_is_no_merchant_and_a_refund_has_one():
    settled = row(money=("100,", "EUR", "C"), texts=("Ausgleich Kreditkarte",), end=("J", "2"))
    refunded = row(money=("10,", "EUR", "C"), texts=("SHOP",), end=("J", "3", "5411"))
    first, second = read(settled, refunded).rows
    assert (first.amount, first.counterparty_name, first.purpose) == (100, None, "Ausgleich Kreditkarte")
    assert (second.amount, second.counterparty_name) == (10, "SHOP")


@pytest.mark.parametrize("odd", [row(booked=None, end=("J", "1")), row(end=("N", "1"))], ids=["no day", "not booked"])
def test_a_purchase_that_is_not_booked_is_pending(odd):
    booking = read(odd).rows[0]
    assert booking.is_pending
    assert booking.booked_at is None
    assert booking.value_at is not None


def test_what_cannot_be_read_is_told_and_the_rest_is_there():
    good = row(texts=("SHOP",), end=("J", "1"))
    bad = [row(money=("12.x", "EUR", "D")), row(money=("1,", "EUR", "X")), row(bought="2026-10-01"), [CARD], "KAPUTT"]
    statement = read(good, *bad)
    assert len(statement.rows) == 1
    assert len(statement.rejected) == len(bad)


@pytest.mark.parametrize("balance", [None, ("D", "x", "EUR", "20261112"), ("", "1,", "EUR")])
def test_a_card_without_a_readable_balance_keeps_its_bookings(balance):
    statement = read(row(end=("J", "1")), balance=balance)
    assert statement.balance is None
    assert len(statement.rows) == 1


def test_pages_repeat_the_balance_and_some_are_empty():
    first, second = ([CARD, None, ["C", "5,", "EUR", "20261112"], None, None, row(end=("J", "1"))], [CARD])
    statement = read_card_pages([write_page(second), write_page(first)])
    assert (statement.balance, len(statement.rows)) == (5, 1)
    assert statement.balance_at.date() >= date(2026, 11, 11)


@pytest.mark.parametrize(
    ("kind", "name", "category"),
    [
        (50, "Visa Gold", ProductCategory.CREDIT_CARD),
        (50, "Visa Debit", ProductCategory.OTHER_CARD),
        (51, "girocard", ProductCategory.OTHER_CARD),
        (80, "Lebensversicherung", ProductCategory.OTHER_PRODUCT),
        (90, "Mitgliedskonto", ProductCategory.OTHER_ACCOUNT),
        (120, "Neuartiges", ProductCategory.OTHER_PRODUCT),
    ],
)
def test_the_kind_that_the_bank_tells_and_the_name_decide_the_category(kind, name, category):
    account = Account("815", "", "99999999", "", "", kind, "EUR", "Erika Mustermann", name, ())
    assert account.category is category
