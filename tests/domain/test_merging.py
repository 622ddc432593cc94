"""The identity of transactions: what was fetched before keeps its id, whatever the bank does to orders and texts."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain import matching
from kontor.domain.merging import StoredTransaction, merge_transactions
from kontor.domain.transactions import Transaction, find_day
from many_examples import many_examples

prove = many_examples(150)
NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
PARTNERS = ("REWE SAGT DANKE", "Stadtwerke Köln", "Anna Muster", "PayPal Europe", "")
PURPOSES = (
    "EREF+4711 MREF+M-99 SVWZ+Rechnung 12345 Danke",
    "KARTENZAHLUNG 02.11. 14:05 FILIALE 0815",
    "Miete November Musterstrasse",
    "",
)


def booking(day=0, amount="-12.30", **facts):
    facts = {"purpose": PURPOSES[0], "counterparty_name": PARTNERS[0]} | facts
    return Transaction(Decimal(amount), "EUR", NOON + timedelta(days=day), **facts)


# A small world, so that equal and nearly equal bookings are common.
bookings = st.builds(
    booking,
    day=st.integers(0, 4),
    amount=st.sampled_from(("-12.30", "-4.50", "100.00", "0.00")),
    purpose=st.sampled_from(PURPOSES) | st.none(),
    counterparty_name=st.sampled_from(PARTNERS) | st.none(),
    booking_text=st.sampled_from(("Lastschrift", "Kartenzahlung")) | st.none(),
    is_pending=st.booleans(),
)
statements = st.lists(bookings, max_size=14)
with_bank_ids = st.lists(bookings, max_size=14).map(
    lambda rows: [replace(row, bank_id=f"id {number}") for number, row in enumerate(rows)]
)


class Account:
    """Stored rows, and what a fetch does to them."""

    def __init__(self, rows=()):
        self.rows = {uuid4(): row for row in rows}

    def fetch(self, fetched):
        merge = merge_transactions([StoredTransaction(key, row) for key, row in self.rows.items()], list(fetched))
        for stored in merge.changed:
            assert stored.id in self.rows
            self.rows[stored.id] = stored.transaction
        for key in merge.vanished:
            assert self.rows.pop(key).is_pending, "a final booking is never removed"
        self.rows |= {uuid4(): row for row in merge.new}
        return merge

    @property
    def content(self):
        return Counter(self.rows.values())


def key_facts(row):
    return row.amount, row.currency, find_day(row), row.is_pending


def is_nothing(merge):
    return merge.new == merge.changed == merge.vanished == ()


# Properties


@prove
@given(statements | with_bank_ids)
def test_fetching_the_same_again_changes_nothing(rows):
    account = Account()
    account.fetch(rows)
    assert account.content == Counter(rows)
    assert is_nothing(account.fetch(rows))


@prove
@given(st.data(), statements | with_bank_ids)
def test_any_order_of_the_same_bookings_changes_nothing(data, rows):
    account = Account(rows)
    before = dict(account.rows)
    assert is_nothing(account.fetch(data.draw(st.permutations(rows))))
    assert account.rows == before


@prove
@given(statements | with_bank_ids, statements)
def test_after_a_fetch_exactly_the_banks_rows_of_its_days_are_there(first, more):
    """The bank adds bookings: each is stored once, and those known before keep their ids."""
    account = Account(first)
    before = dict(account.rows)
    account.fetch([*first, *more])
    assert account.content == Counter(first) + Counter(more)
    assert all(account.rows[key] == row for key, row in before.items())


@prove
@given(statements, st.integers(0, 4))
def test_overlapping_windows_add_nothing_twice(rows, day):
    """The second fetch covers only the newer days; older rows take no part."""
    account = Account(rows)
    since = find_day(booking(day))
    inside = {key: row for key, row in account.rows.items() if row.is_pending or find_day(row) >= since}
    fetched = [row for row in rows if row.is_pending or find_day(row) >= since]
    merge = merge_transactions([StoredTransaction(key, row) for key, row in inside.items()], fetched)
    assert is_nothing(merge)


@prove
@given(statements, statements)
def test_finals_are_never_removed_and_vanished_pendings_always_are(before, after):
    account = Account(before)
    finals = {key for key, row in account.rows.items() if not row.is_pending}
    pendings = {key for key, row in account.rows.items() if row.is_pending}
    merge = account.fetch(after)
    assert finals <= set(account.rows)
    assert set(merge.vanished) <= pendings
    assert sum(row.is_pending for row in account.rows.values()) == sum(row.is_pending for row in after)


@prove
@given(statements, statements)
def test_every_fetched_booking_is_there_afterwards(before, after):
    """With all that the bank said, and perhaps with what only an earlier report said."""
    account = Account(before)
    account.fetch(after)
    assert not Counter(map(key_facts, after)) - Counter(map(key_facts, account.rows.values()))


@prove
@given(statements, statements)
def test_merge_is_the_same_every_time(before, after):
    stored = [StoredTransaction(UUID(int=number), row) for number, row in enumerate(before)]
    assert merge_transactions(stored, after) == merge_transactions(stored, after)


@prove
@given(st.lists(bookings, min_size=1, max_size=10), st.integers(1, 5))
def test_equal_bookings_are_counted_not_merged(rows, times):
    """So many equal purchases on one day are so many bookings, also when fetched again, also with one more."""
    account = Account(rows * times)
    before = set(account.rows)
    assert is_nothing(account.fetch(rows * times))
    account.fetch([*rows * times, rows[0]])
    assert account.content == Counter(rows * times) + Counter(rows[:1])
    assert before <= set(account.rows)


@prove
@given(st.data(), st.lists(st.sampled_from(("-4.50", "-9.99", "-20.00")), min_size=1, max_size=6))
def test_pending_bookings_keep_their_id_when_they_become_final(data, amounts):
    pending = [
        booking(number % 3, amount, purpose=f"KARTE {number} FILIALE {number}", is_pending=True)
        for number, amount in enumerate(amounts)
    ]
    account = Account(pending)
    owners = {row.purpose: key for key, row in account.rows.items()}
    final = [
        replace(
            row,
            is_pending=False,
            booked_at=row.booked_at + timedelta(days=data.draw(st.integers(0, 3))),
            purpose=f"{row.purpose} Folge-Nr. 01 Verfalld. 1228",
        )
        for row in pending
    ]
    merge = account.fetch(data.draw(st.permutations(final)))
    assert merge.new == merge.vanished == ()
    assert len(merge.changed) == len(pending)
    assert set(account.rows) == set(owners.values())
    if len(set(amounts)) == len(amounts):
        assert all(account.rows[key].purpose.startswith(purpose) for purpose, key in owners.items())


# Cases


CHANGES = {
    "spaces": lambda text: text.replace(" ", "  "),
    "case": str.upper,
    "cut": lambda text: text[: len(text) * 2 // 3],
    "more": lambda text: f"{text} ABWA+Somebody else",
    "line breaks": lambda text: text.replace(" ", "\n"),
    "words cut at the end of a line": lambda text: text.replace("Rechnung", "Rechnun g"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_slightly_changed_text_keeps_the_id(change):
    account = Account([booking(), booking(1), booking(amount="-99.00")])
    before = set(account.rows)
    merge = account.fetch([replace(row, purpose=change(row.purpose)) for row in account.rows.values()])
    assert merge.new == merge.vanished == ()
    assert set(account.rows) == before


def test_two_different_ids_of_the_bank_are_two_bookings():
    account = Account([booking(bank_id="1")])
    merge = account.fetch([booking(bank_id="1"), booking(bank_id="2", purpose="KARTENZAHLUNG other words")])
    assert len(merge.new) == 1
    assert merge.changed == ()


def test_id_of_the_bank_outweighs_another_text_and_day():
    account = Account([booking(bank_id="7")])
    merge = account.fetch([booking(3, bank_id="7", purpose="completely different")])
    assert (len(merge.changed), merge.new) == (1, ())


def test_id_that_the_bank_gave_twice_swaps_nothing():
    rows = [booking(bank_id="7", amount="-1.00"), booking(bank_id="7", amount="-2.00")]
    assert is_nothing(Account(rows).fetch(rows[::-1]))


@pytest.mark.parametrize("other", [{"amount": "-12.31"}, {"amount": "12.30"}, {"day": 1}])
def test_another_amount_or_day_is_another_booking(other):
    account = Account([booking()])
    assert len(account.fetch([booking(), booking(**other)]).new) == 1


def test_another_currency_is_another_booking():
    account = Account([booking()])
    assert len(account.fetch([booking(), replace(booking(), currency="USD")]).new) == 1


@pytest.mark.parametrize(("days", "is_same"), [(-3, True), (0, True), (10, True), (11, False), (-4, False)])
def test_pending_becomes_final_within_some_days(days, is_same):
    account = Account([booking(is_pending=True)])
    merge = account.fetch([booking(days)])
    assert (merge.new == ()) is is_same
    assert (merge.vanished == ()) is is_same


def test_final_with_an_unlike_text_does_not_take_over_a_pending_one():
    account = Account([booking(is_pending=True)])
    merge = account.fetch([booking(counterparty_name="Landeshauptkasse", purpose="Steuern Bescheid vom Oktober")])
    assert (len(merge.new), len(merge.vanished)) == (1, 1)


def test_of_two_candidates_the_more_alike_takes_the_pending_ones_id():
    account = Account([booking(is_pending=True, purpose="KARTE BAECKEREI SCHMIDT")])
    key = next(iter(account.rows))
    account.fetch([booking(purpose="KARTE TANKSTELLE NORD"), booking(purpose="KARTE BAECKEREI SCHMIDT KOELN")])
    assert account.rows[key].purpose == "KARTE BAECKEREI SCHMIDT KOELN"


def test_pending_does_not_become_final_twice():
    account = Account([booking(is_pending=True)])
    merge = account.fetch([booking(), booking()])
    assert (len(merge.changed), len(merge.new)) == (1, 1)


# Cost


def count_comparisons(monkeypatch, stored, fetched):
    calls = Counter()
    measure = matching.measure_likeness

    def counted(left, right):
        calls["n"] += 1
        return measure(left, right)

    monkeypatch.setattr(matching, "measure_likeness", counted)
    merge_transactions([StoredTransaction(uuid4(), row) for row in stored], fetched)
    return calls["n"]


@pytest.mark.parametrize("kind", ["changed texts", "becoming final", "many new"])
def test_cost_grows_linearly_with_many_equal_amounts(monkeypatch, kind):
    """Counted in comparisons of texts, for the worst a bank can send: one amount, one day, every text new."""

    def count(size):
        stored = [booking(purpose=f"Zahlung {number}", is_pending=kind == "becoming final") for number in range(size)]
        fetched = [booking(purpose=f"Zahlung nr {number}") for number in range(size)]
        if kind == "many new":
            stored = stored[:10]
        return count_comparisons(monkeypatch, stored, fetched)

    small, large = count(200), count(800)
    assert small <= 200 * matching.NEIGHBOURS
    assert large <= 4.5 * small


def test_many_equal_amounts_are_still_matched_right():
    rows = [booking(purpose=f"Zahlung {number} an Kasse") for number in range(300)]
    account = Account(rows)
    owners = {row.purpose: key for key, row in account.rows.items()}
    merge = account.fetch([replace(row, purpose=f"{row.purpose} Danke") for row in rows])
    assert merge.new == ()
    right = sum(account.rows[key].purpose == f"{purpose} Danke" for purpose, key in owners.items())
    assert right == len(rows)
