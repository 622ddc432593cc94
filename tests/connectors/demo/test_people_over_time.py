"""The past stays as it was: what a day adds, and what becomes of pending bookings.

A person as of an earlier day is compared with the same person later: all that was final then must be the beginning of
what is final later, in the same order and to the letter.
"""

from datetime import date, timedelta
from typing import Any

import pytest
from people_view import LOGINS, TODAY, find_person, find_recent, list_finals, read_day

from kontor.connectors.demo.people import Account, Person, large_person
from kontor.connectors.demo.people.banking_days import is_banking_day
from kontor.domain.merging import pair_transactions

DAY = timedelta(days=1)


def check_later(early: Person, late: Person, today: date) -> None:
    """What `late` shows of the days up to `today` is what `early` showed then; and balances follow."""
    for before, after in zip(early.accounts, late.accounts, strict=True):
        if after.product.category.is_depot:
            continue
        finals = list_finals(after)
        start = read_day(finals[0]).replace(day=1) if finals else today
        shown = [entry for entry in list_finals(before) if read_day(entry) >= start]
        assert finals[: len(shown)] == shown
        assert all(read_day(entry) > today for entry in finals[len(shown) :])
        check_balance(before, after, len(shown))


def check_balance(before: Account, after: Account, count: int) -> None:
    added = [entry.transaction for entry in list_finals(after)[count:]]
    euros = sum(transaction.amount for transaction in added if transaction.currency == "EUR")
    assert after.product.balance == before.product.balance + euros


FEW_LOGINS = ("demo1", "familie", "rente", "test_slow")  # the long tier tries all


def list_logins(few: tuple[str, ...], every: tuple[str, ...]) -> list[Any]:
    return [login if login in few else pytest.param(login, marks=pytest.mark.long) for login in every]


@pytest.mark.parametrize("login", list_logins(FEW_LOGINS, LOGINS))
def test_the_turn_of_the_year_only_adds(login: str) -> None:
    """The end of a month, the last and the first day of the year."""
    late = find_recent(login, date(2026, 11, 1), date(2027, 1, 8))
    for today in (date(2026, 11, 30), date(2026, 12, 31), date(2027, 1, 1)):
        check_later(find_recent(login, date(2026, 11, 1), today), late, today)


@pytest.mark.parametrize(
    ("first", "days"),
    [
        (date(2026, 3, 1), (date(2026, 3, 28), date(2026, 3, 29), date(2026, 3, 30), date(2026, 4, 6))),
        (date(2026, 10, 1), (date(2026, 10, 24), date(2026, 10, 25), date(2026, 10, 26), date(2026, 10, 31))),
        (date(2028, 2, 1), (date(2028, 2, 28), date(2028, 2, 29), date(2028, 3, 1))),
    ],
    ids=["to summer time, and Easter", "to winter time", "leap day"],
)
@pytest.mark.parametrize("login", list_logins(("schulden",), ("demo1", "schulden")))
def test_odd_days_only_add(login: str, first: date, days: tuple[date, ...]) -> None:
    late = find_recent(login, first, days[-1] + 4 * DAY)
    for today in days:
        check_later(find_recent(login, first, today), late, today)


@pytest.mark.parametrize("login", list_logins(("test_slow",), ("test_slow", "azubi")))
def test_each_of_some_weeks_only_adds_that_days_bookings(login: str) -> None:
    today, first = date(2026, 12, 18), date(2026, 12, 1)
    person = find_recent(login, first, today)
    for _ in range(18):
        following = find_recent(login, first, today + DAY)
        check_later(person, following, today)
        for account, before in zip(following.accounts, person.accounts, strict=True):
            fresh = list_finals(account)[len(list_finals(before)) :]
            assert {read_day(entry) for entry in fresh} <= {today + DAY}
        person, today = following, today + DAY


@pytest.mark.parametrize("login", list_logins(("schulden", "test_slow"), ("demo1", "schulden", "umzug", "test_slow")))
def test_forty_days_later_the_past_is_the_same(login: str) -> None:
    """Whole histories, of which the later one begins later."""
    early = TODAY - 40 * DAY
    check_later(find_person(login, early), find_person(login), early)


def test_a_year_later_what_is_still_shown_is_the_same() -> None:
    today = TODAY - timedelta(days=365)
    check_later(find_person("hauskauf", today), find_person("hauskauf"), today)


def test_a_short_history_shows_what_the_whole_one_shows() -> None:
    for login in ("familie", "rente", "vermoegend"):
        for whole, recent in zip(
            find_person(login).accounts, find_recent(login, date(2026, 9, 1), TODAY).accounts, strict=True
        ):
            count = len(recent.entries)
            assert count or recent.positions or recent.product.category == "FIXED_TERM"
            assert recent.entries == whole.entries[len(whole.entries) - count :]
            assert recent.product == whole.product


def test_large_customers_past_is_stable() -> None:
    old = list_finals(large_person(1_000, date(2026, 9, 30)).accounts[0])
    new = list_finals(large_person(1_000, date(2026, 10, 1)).accounts[0])
    added = sum(read_day(entry) == date(2026, 10, 1) for entry in new)
    assert old[added:] == new[: len(new) - added]
    assert added < 20


# Thursday to Monday of an ordinary week, the end of a month, and the days before Christmas.
WATCHED = [date(2026, 11, day) for day in (19, 20, 21, 22, 23, 30)] + [date(2026, 12, day) for day in (1, 23, 26)]


@pytest.mark.parametrize("login", ["familie", "student", "umzug"])
def test_pending_bookings_become_final_within_days(login: str) -> None:
    late = find_recent(login, date(2026, 11, 1), date(2027, 1, 8))
    cards = debits = 0
    for today in WATCHED:
        person = find_recent(login, date(2026, 11, 1), today)
        for account, after in zip(person.accounts, late.accounts, strict=True):
            fresh = [entry for entry in list_finals(after) if today < read_day(entry) <= today + 6 * DAY]
            for entry in account.entries:
                if not entry.transaction.is_pending:
                    continue
                finals = [
                    final
                    for final in fresh
                    if final.transaction.amount == entry.transaction.amount
                    and final.truth == entry.truth
                    and timedelta(0) < read_day(final) - read_day(entry) <= timedelta(days=6)
                ]
                assert finals, entry
                assert finals[0].transaction.purpose != entry.transaction.purpose
                if entry.transaction.counterparty_name is None:
                    cards += 1
                else:
                    debits += 1
                    assert finals[0].transaction.gv_code == "105"
    assert cards >= 10
    assert debits >= 3


def test_a_direct_debit_is_announced_on_the_banking_day_before() -> None:
    """Those of Tuesday, 1 December, stand there on Monday but not on Sunday."""
    debits = [
        [entry for entry in find_recent("familie", date(2026, 11, 1), day).accounts[0].entries if is_announced(entry)]
        for day in (date(2026, 11, 29), date(2026, 11, 30), date(2026, 12, 1))
    ]
    counts = [sum(entry.truth.is_regular for entry in day) for day in debits]
    assert counts[1] >= 8
    assert counts[0] == 0 or not {entry.truth for entry in debits[0]} & {entry.truth for entry in debits[1]}
    assert not {entry.truth for entry in debits[1] if entry.truth.is_regular} & {entry.truth for entry in debits[2]}


def is_announced(entry: object) -> bool:
    transaction = entry.transaction
    return transaction.is_pending and transaction.counterparty_name is not None


def test_pending_bookings_are_of_the_last_banking_days() -> None:
    for today in (date(2026, 4, day) for day in (1, 2, 3, 5, 6, 7)):
        for account in find_recent("familie", date(2026, 4, 1), today).accounts:
            for entry in account.entries:
                if entry.transaction.is_pending:
                    days = (read_day(entry) + step * DAY for step in range((today - read_day(entry)).days))
                    assert sum(map(is_banking_day, days)) <= 2


@pytest.mark.parametrize("today", [date(2016, 2, 29), date(2024, 2, 29), date(2045, 7, 9)])
def test_persons_exist_at_any_date(today: date) -> None:
    for login in ("demo1", "test_phototan"):
        person = find_recent(login, today, today)
        assert person.contracts
        assert all(read_day(entry) <= today for entry in list_finals(person.accounts[0]))


@pytest.mark.parametrize("login", LOGINS)
def test_a_pending_booking_becomes_final_under_its_own_id(login: str) -> None:
    """By the rule that stores fetches: a pending booking is paired with the final one of four days later."""
    for day in (date(2026, 11, 5), date(2026, 11, 12), date(2026, 11, 14)):
        early, late = find_recent(login, date(2026, 10, 1), day), find_recent(login, date(2026, 10, 1), day + 4 * DAY)
        for before, after in zip(early.accounts, late.accounts, strict=True):
            stored = [entry.transaction for entry in before.entries]
            fetched = [entry.transaction for entry in after.entries]
            pairs = {left: right for right, left in pair_transactions(stored, fetched).items()}
            for number, row in enumerate(stored):
                if row.is_pending:
                    assert number in pairs, row
                    assert not fetched[pairs[number]].is_pending
