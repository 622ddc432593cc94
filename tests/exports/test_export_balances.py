"""Balances over time: reckoned in the database as a naive reckoning would, and only where something is known."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_accounts import open_account

from kontor.storage.balances import LIST_BALANCES
from many_examples import count_examples

FIRST = date(2026, 1, 1)
INSERT = (
    "insert into transactions (user_id, product_id, id, booked_on, ordinal, amount, currency, is_pending)"
    " values (%s, %s, %s, %s, %s, %s, %s, %s)"
)
days = st.integers(0, 70).map(lambda number: FIRST + timedelta(number))
moves = st.tuples(
    days, st.decimals(-1000, 1000, places=2), st.sampled_from(["EUR", "EUR", "EUR", "USD"]), st.booleans()
)


@pytest.fixture(scope="module")
def account(bank_server, shared):
    return open_account(shared)


@pytest.fixture(scope="module")
def books(settings, account):
    """A connection of the owner, and the account's keys."""
    assert settings.migration_database_url is not None
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as connection:
        yield connection, UUID(account.customer.reference), UUID(account.product_id)


def ends_interval(day, interval, until):
    if day == until or interval == "day":
        return True
    return day.isoweekday() == 7 if interval == "week" else (day + timedelta(1)).day == 1


def reckon(bookings, balance, known, since, until, interval):
    """As one would by hand: day by day, away from the day whose balance is known."""
    counted = [(day, amount) for day, amount, currency, is_pending in bookings if currency == "EUR" and not is_pending]
    first = min([known, *(day for day, _ in counted)])
    found = []
    day = first
    while day <= until:
        later = sum((amount for when, amount in counted if day < when <= known), Decimal(0))
        earlier = sum((amount for when, amount in counted if known < when <= day), Decimal(0))
        if (since is None or day >= since) and ends_interval(day, interval, until):
            found.append((day, balance - later + earlier))
        day += timedelta(1)
    return found


@settings(max_examples=count_examples(60), suppress_health_check=list(HealthCheck))
@given(
    bookings=st.lists(moves, max_size=12),
    balance=st.decimals(-5000, 5000, places=2),
    known=days,
    since=st.none() | days,
    until=days,
    interval=st.sampled_from(["day", "week", "month"]),
)
def test_the_database_reckons_as_one_would_by_hand(books, bookings, balance, known, since, until, interval):
    connection, user_id, product_id = books
    with connection.transaction(force_rollback=True):
        for number, row in enumerate(bookings):
            connection.execute(INSERT, [user_id, product_id, uuid4(), row[0], number, *row[1:]])
        values = {
            "user": user_id, "product": product_id, "currency": "EUR", "balance": balance, "known": known,
            "since": since, "until": until, "interval": interval,
        }  # fmt: skip
        found = connection.execute(LIST_BALANCES, values).fetchall()
    assert found == reckon(bookings, balance, known, since, until, interval)


def read_balances(account, **query):
    return account.customer.read(f"{account.url}/balances", params=query)


def test_the_last_balance_is_the_products_own_and_every_day_is_there(demo1):
    customer, access_id = demo1
    product = customer.product(access_id, "GIROKONTO")
    url = f"/customer/v2/bankzugaenge/{access_id}/{product['id']}/balances"
    found = customer.read(url)
    assert (found[-1]["balance"], found[-1]["currency"]) == (product["saldo"], product["waehrung"])
    shown = [date.fromisoformat(entry["date"]) for entry in found]
    assert shown == [shown[0] + timedelta(number) for number in range(len(shown))]
    rows = customer.transactions(product)
    assert shown[0] == min(date.fromisoformat(row["buchungsdatum"][:10]) for row in rows)
    on_day = {entry["date"]: Decimal(str(entry["balance"])) for entry in found}
    yesterday, today = str(shown[-2]), str(shown[-1])
    moved = sum(
        Decimal(str(row["betrag"])) for row in rows if row["buchungsdatum"][:10] == today and not row.get("vorgemerkt")
    )
    assert on_day[today] - on_day[yesterday] == moved
    months = customer.read(url, params={"interval": "month"})
    assert [entry for entry in found if entry in months] == months
    assert len(months) < len(found) / 25
    span = customer.read(url, params={"from": str(shown[3]), "to": str(shown[6])})
    assert span == found[3:7]


def test_a_product_without_balance_has_none_and_a_depot_only_the_day_of_its_value(demo1, account, owner):
    customer, access_id = demo1
    depot = customer.product(access_id, "DEPOT")
    url = f"/customer/v2/bankzugaenge/{access_id}/{depot['id']}/balances"
    expected = [{"date": depot["saldoDatum"][:10], "balance": depot["saldo"], "currency": depot["waehrung"]}]
    assert customer.read(url) == expected
    assert customer.read(url, params={"to": "2020-01-01"}) == []
    owner.execute("update products set balance = null where id = %s", [account.product_id])
    assert read_balances(account) == []


def test_an_account_without_bookings_keeps_its_balance_since_it_is_known(account, owner):
    owner.execute(
        "update products set balance = 12.30, balance_at = now() - interval '3 days' where id = %s",
        [account.product_id],
    )
    found = read_balances(account)
    assert len(found) == 4
    assert {entry["balance"] for entry in found} == {12.3}


@pytest.mark.parametrize("query", [{"from": "soon"}, {"to": "2026-13-01"}, {"interval": "year"}])
def test_what_cannot_be_understood_is_refused(account, query):
    answer = account.customer.get(f"{account.url}/balances", params=query)
    assert answer.status_code == 400
    assert f"{next(iter(query))}:" in answer.text


def test_somebody_elses_balances_are_not_found(account, demo1):
    assert demo1[0].get(f"{account.url}/balances").status_code == 404
