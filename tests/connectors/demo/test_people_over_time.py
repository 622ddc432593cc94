"""The past stays as it was: what a day adds, and what becomes of pending bookings."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from people_view import BERLIN, TODAY, find_person, list_finals, read_day

from kontor.connectors.demo.people import PERSONAS, TEST_LOGINS, Person, large_person, person_for
from kontor.connectors.demo.people.banking_days import is_banking_day, number_month
from kontor.connectors.demo.people.descriptions import load_persona
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.person import build_person, find_description

DAY = timedelta(days=1)


def get_person(login: str, today: date) -> Person:
    person = person_for(login, today)
    assert person is not None
    return person


def collect_finals(person: Person) -> dict[tuple[str, str], object]:
    return {
        (account.key, entry.transaction.bank_id or ""): entry
        for account in person.accounts
        for entry in list_finals(account)
    }


def check_step(before: Person, after: Person, today: date) -> None:
    """All of the past that is still shown is unchanged, what is new is dated today, and balances follow."""
    old, new = collect_finals(before), collect_finals(after)
    start = (after_start := min((read_day(entry) for entry in new.values()), default=today)).replace(day=1)
    assert after_start >= start
    for key, entry in old.items():
        if read_day(entry) >= start:
            assert new[key] == entry
    for key in new.keys() - old.keys():
        assert read_day(new[key]) == today
    for one, other in zip(before.accounts, after.accounts, strict=True):
        if one.positions:
            continue
        added = sum(
            (
                new[key].transaction.amount
                for key in new.keys() - old.keys()
                if key[0] == one.key and new[key].transaction.currency == "EUR"
            ),
            Decimal(0),
        )
        assert other.product.balance == one.product.balance + added


def get_recent(login: str, today: date) -> Person:
    """The person with a history of one month: the same bookings, made faster."""
    description = find_description(login)
    assert description is not None
    life = Life(login, load_persona(description))
    return build_person(life, number_month(today) - 1, today)


@pytest.mark.parametrize("login", ["leer", *PERSONAS, "test_slow", "test_positions_error"])
def test_forty_days_in_a_row_over_the_turn_of_the_year_only_add(login: str) -> None:
    today = date(2026, 11, 29)
    person = get_recent(login, today)
    for _ in range(40):
        today += DAY
        following = get_recent(login, today)
        check_step(person, following, today)
        person = following


@pytest.mark.parametrize("login", [login for login in TEST_LOGINS if login != "test_large"])
def test_weeks_only_add_for_small_customers(login: str) -> None:
    """They all live the same description, so some days of the forty are enough."""
    old = collect_finals(get_recent(login, date(2026, 11, 29)))
    for offset in (1, 2, 3, 12, 24):
        new = collect_finals(get_recent(login, date(2026, 11, 29) + offset * DAY))
        start = min(read_day(entry) for entry in new.values()).replace(day=1)
        assert {key: entry for key, entry in old.items() if read_day(entry) >= start}.items() <= new.items()
        old = new


@pytest.mark.parametrize("login", ["demo1", "familie+x"])
def test_whole_histories_only_add_at_the_end_of_a_month(login: str) -> None:
    today = date(2026, 10, 30)
    person = get_person(login, today)
    for _ in range(3):
        today += DAY
        following = get_person(login, today)
        check_step(person, following, today)
        person = following


@pytest.mark.parametrize("login", [*PERSONAS, "test_slow"])
def test_forty_days_later_the_past_is_the_same(login: str) -> None:
    early, late = TODAY - 40 * DAY, TODAY
    old, new = collect_finals(get_person(login, early)), collect_finals(find_person(login))
    start = min(read_day(entry) for entry in new.values()).replace(day=1)
    kept = {key: entry for key, entry in old.items() if read_day(entry) >= start}
    assert kept.items() <= new.items()
    assert all(early < read_day(new[key]) <= late for key in new.keys() - old.keys())


def test_a_year_later_what_is_still_shown_is_the_same() -> None:
    for login in ("hauskauf",):
        old = collect_finals(get_person(login, date(2026, 6, 3)))
        new = collect_finals(get_person(login, date(2027, 6, 3)))
        start = min(read_day(entry) for entry in new.values()).replace(day=1)
        assert {key: entry for key, entry in old.items() if read_day(entry) >= start}.items() <= new.items()


def test_large_customers_past_is_stable() -> None:
    old = collect_finals(large_person(3_000, date(2026, 9, 30)))
    new = collect_finals(large_person(3_000, date(2026, 10, 1)))
    assert all(new[key] == entry for key, entry in old.items() if key in new)
    assert len(old.keys() & new.keys()) > 2_800


def test_pending_bookings_become_final_within_days() -> None:
    seen = 0
    for login in ("familie", "student", "umzug"):
        for offset in range(12):
            today = date(2026, 11, 16) + offset * DAY
            person = get_recent(login, today)
            later = get_recent(login, today + 6 * DAY)
            for account, after in zip(person.accounts, later.accounts, strict=True):
                fresh = [entry for entry in list_finals(after) if read_day(entry) > today]
                for entry in account.entries:
                    if not entry.transaction.is_pending:
                        continue
                    seen += 1
                    amount, bought = entry.transaction.amount, read_day(entry)
                    finals = [
                        final
                        for final in fresh
                        if final.transaction.amount == amount
                        and final.truth == entry.truth
                        and timedelta(0) < read_day(final) - bought <= timedelta(days=6)
                    ]
                    assert finals, entry
                    assert finals[0].transaction.purpose != entry.transaction.purpose
    assert seen > 50


def test_pending_bookings_are_of_the_last_banking_days() -> None:
    for offset in range(20):
        today = date(2026, 3, 25) + offset * DAY
        person = get_recent("familie", today)
        for account in person.accounts:
            for entry in account.entries:
                if entry.transaction.is_pending:
                    days = (read_day(entry) + step * DAY for step in range((today - read_day(entry)).days))
                    assert sum(map(is_banking_day, days)) <= 2


def test_persons_exist_at_any_date() -> None:
    for today in (date(2016, 2, 29), date(2024, 2, 29), date(2045, 7, 9)):
        for login in ("demo1", "elternzeit", "test_phototan"):
            person = get_person(login, today)
            assert all(
                entry.transaction.booked_at.astimezone(BERLIN).date() <= today
                for entry in list_finals(person.accounts[0])
            )
