"""One account in several accesses: which products are one account, and that each booking counts once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.duplicates import Source, find_repeated, group_sources, pick_balance
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction, find_day
from many_examples import many_examples

prove = many_examples(150)
NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
DAYS = 12
IBAN = "DE89370400440532013000"
LONGER = "KARTENZAHLUNG FILIALE 0815 DANKE"
CARD = ProductCategory.CREDIT_CARD


def booking(day=0, amount="-12.30", **facts):
    facts = {"purpose": "KARTENZAHLUNG FILIALE 0815", "counterparty_name": "Rewe Markt"} | facts
    return Transaction(Decimal(amount), "EUR", NOON + timedelta(days=day), **facts)


# A small world, so that equal bookings are common.
bookings = st.builds(
    booking,
    day=st.integers(0, DAYS - 1),
    amount=st.sampled_from(("-12.30", "-4.50", "100.00")),
    purpose=st.sampled_from(("Miete November", "KARTENZAHLUNG FILIALE 0815", "Rechnung 12345 Danke")),
    counterparty_name=st.sampled_from(("Rewe Markt", "Anna Muster", "Stadtwerke Köln")),
)
accounts = st.lists(bookings, max_size=30).map(lambda rows: sorted(rows, key=lambda row: row.booked_at))
# An access knows all bookings from one day to another, by a channel that numbers them in its own way, or not at all.
windows = st.tuples(st.integers(0, DAYS), st.integers(0, DAYS)).map(sorted)
accesses = st.lists(st.tuples(windows, st.sampled_from((None, "x", "y"))), min_size=1, max_size=4)


def name(access, number):
    return f"{access}:{number}"


def is_seen(row, window):
    return window[0] <= (find_day(row) - find_day(booking())).days < window[1]


def write_otherwise(row, number, channel):
    """As another channel of the bank writes it: other blanks and capitals, another reference."""
    if channel is None:
        return row
    return replace(row, purpose=row.purpose.upper().replace(" ", "  "), bank_id=f"{channel} {number}")


def make_ledgers(rows, seen):
    return [
        {
            name(access, number): write_otherwise(row, number, channel)
            for number, row in enumerate(rows)
            if is_seen(row, window)
        }
        for access, (window, channel) in enumerate(seen)
    ]


def count(ledgers):
    """Rows that count."""
    repeated = find_repeated(ledgers)
    rows = {key: row for ledger in ledgers for key, row in ledger.items()}
    assert set(repeated) <= set(rows)
    assert not set(repeated.values()) & set(repeated), "what counts in place of another counts itself"
    return {key: row for key, row in rows.items() if key not in repeated}


def describe(row):
    return find_day(row), row.amount, row.counterparty_name, "".join(row.purpose.split()).upper()


# Bookings


@prove
@given(accounts, accesses)
def test_every_booking_counts_once_in_the_freshest_access_that_knows_it(rows, seen):
    counted = count(make_ledgers(rows, seen))
    expected = [
        (next(access for access, (window, _) in enumerate(seen) if is_seen(row, window)), *describe(row))
        for row in rows
        if any(is_seen(row, window) for window, _ in seen)
    ]
    assert sorted((int(key.partition(":")[0]), *describe(row)) for key, row in counted.items()) == sorted(expected)


@prove
@given(accounts, st.lists(st.integers(0, DAYS), max_size=3).map(sorted))
def test_histories_that_do_not_overlap_are_all_kept(rows, cuts):
    edges = [0, *cuts, DAYS]
    seen = [((edges[at], edges[at + 1]), "x") for at in reversed(range(len(edges) - 1))]
    assert len(count(make_ledgers(rows, seen))) == len(rows)


@prove
@given(accounts, st.integers(2, 4))
def test_equal_accesses_count_as_the_freshest_alone(rows, copies):
    assert set(count(make_ledgers(rows, [((0, DAYS), "x")] * copies))) == {
        name(0, number) for number in range(len(rows))
    }


@prove
@given(accounts, accounts)
def test_each_row_stands_for_at_most_one_row_of_another_access(left, right):
    ledgers = [{name(access, at): row for at, row in enumerate(rows)} for access, rows in enumerate((left, right))]
    repeated = find_repeated(ledgers)
    assert len(set(repeated.values())) == len(repeated)


def test_a_booking_that_only_the_oldest_and_the_freshest_of_three_know_counts_once():
    row = booking()
    assert count([{"new": row}, {}, {"old": row}]) == {"new": row}


def test_a_pair_that_only_older_accesses_know_counts_once_in_the_fresher_of_them():
    row = booking()
    assert set(count([{"other": booking(day=5)}, {"middle": row}, {"old": row}])) == {"other", "middle"}


def test_two_equal_purchases_stay_two():
    row = booking()
    assert set(count([{"a": row, "b": row}, {"c": row, "d": row}])) == {"a", "b"}
    assert len(count([{"a": row}, {"c": row, "d": row}])) == 2


@pytest.mark.parametrize("is_fresher_booked", [True, False])
def test_a_pending_row_and_its_booking_in_another_access_count_once_as_booked(is_fresher_booked):
    pending, booked = booking(is_pending=True), booking(day=2)
    ledgers = [{"new": booked}, {"old": pending}] if is_fresher_booked else [{"new": pending}, {"old": booked}]
    assert list(count(ledgers).values()) == [booked]


def test_a_pending_row_that_three_accesses_know_follows_the_one_that_has_it_booked():
    pending, booked = booking(is_pending=True), booking(day=1)
    ledgers = [{"a": pending}, {"b": pending}, {"c": booked}]
    assert count(ledgers) == {"c": booked}
    assert find_repeated(ledgers) == {"a": "c", "b": "c"}


def test_numbers_of_two_channels_do_not_keep_one_booking_apart():
    """XS2A and camt each number bookings, in their own way."""
    ours = {"a": booking(bank_id="x-1", purpose=LONGER), "b": booking(day=1, bank_id="x-2", purpose=LONGER)}
    theirs = {"c": booking(bank_id="2026/17"), "d": booking(day=1, bank_id="2026/18")}
    assert set(count([ours, theirs])) == {"a", "b"}


def test_two_files_of_another_channel_count_with_the_bank_as_one():
    """The second file shares numbers with what only the first one has; the bank's numbers are others all the same."""
    bank = {"a": booking(day=5, bank_id="x-1", purpose=LONGER)}
    first = {"b": booking(bank_id="1"), "c": booking(day=5, bank_id="2")}
    second = {"d": booking(bank_id="1"), "e": booking(day=5, bank_id="2")}
    assert set(count([bank, first, second])) == {"a", "b"}


def test_numbers_of_one_channel_keep_two_bookings_apart():
    ours = {"a": booking(bank_id="1"), "b": booking(bank_id="2")}
    theirs = {"c": booking(bank_id="2"), "d": booking(bank_id="3", purpose="KARTENZAHLUNG FILIALE 0816")}
    assert set(count([ours, theirs])) == {"a", "b", "d"}


def test_without_rows_no_duplicates_are_found():
    assert find_repeated([]) == find_repeated([{}]) == find_repeated([{}, {}]) == {}


# Products


def source(key, access, hours=0, provider="bank", iban=IBAN, **facts):
    facts = {"category": ProductCategory.CHECKING, "name": "Konto", "holder": "", "currency": "EUR"} | facts
    return Source(key, access, provider, NOON + timedelta(hours=hours), Product(key, **facts), iban)


def group(*sources):
    return [[source.id for source in found] for found in group_sources(sources)]


def test_the_same_iban_and_currency_is_one_account_whatever_the_provider_and_the_spelling():
    assert group(source("a", "1"), source("b", "2", 1, "files", "de89 3704 0044 0532 0130 00")) == [["b", "a"]]
    assert group(source("a", "1"), source("b", "2", iban="DE71999999994755365063")) == []
    assert group(source("a", "1"), source("b", "2", currency="USD")) == []
    assert group(source("a", "1", currency=None), source("b", "2", 1)) == [["b", "a"]]


def test_of_equally_fresh_products_the_order_is_always_the_same():
    both = source("a", "1"), source("b", "2")
    assert group(*both) == group(*reversed(both))


def test_a_card_goes_by_provider_and_number_also_where_it_is_masked():
    masked = {"category": CARD, "account_number": "4871********1234"}
    assert group(source("a", "1", **masked), source("b", "2", 1, **masked)) == [["b", "a"]]
    assert group(source("a", "1", **masked), source("b", "2", provider="other", **masked)) == []
    other = masked | {"account_number": "4871********9999"}
    assert group(source("a", "1", **masked), source("b", "2", **other)) == []
    nothing = masked | {"account_number": "**** ****"}
    assert group(source("a", "1", **nothing), source("b", "2", **nothing)) == []


def test_a_card_or_a_depot_with_the_iban_of_its_account_is_not_that_account():
    card = source("card", "2", category=CARD, account_number="4871********1234")
    depot = source("depot", "3", category=ProductCategory.DEPOT)
    assert group(source("a", "1"), card, depot) == []


def test_a_product_without_iban_goes_by_provider_and_number():
    number = {"account_number": "815", "category": ProductCategory.OTHER_PRODUCT, "iban": ""}
    assert group(source("a", "1", **number), source("b", "2", 1, **number)) == [["b", "a"]]
    assert group(source("a", "1", **number), source("b", "2", provider="other", **number)) == []
    assert group(source("a", "1", iban=""), source("b", "2", iban="")) == []


def test_two_products_of_one_access_are_two_whatever_they_share():
    masked = {"category": CARD, "account_number": "********1234"}
    assert group(source("a", "1", **masked), source("b", "1", **masked)) == []
    assert group(source("a", "1"), source("b", "1"), source("c", "2")) == []


def test_the_balance_is_that_of_the_latest_day_not_of_the_latest_import():
    bank = source("bank", "1", balance=Decimal(100), balance_at=NOON)
    old_file = source("file", "2", 5, balance=Decimal(7), balance_at=NOON - timedelta(days=400))
    without = source("csv", "3", 6)
    assert pick_balance([without, old_file, bank]).id == "bank"
    fresher = source("again", "4", 2, balance=Decimal(90), balance_at=NOON - timedelta(hours=11))
    assert pick_balance([fresher, bank]).id == "again", "on one day the fresher access decides"
