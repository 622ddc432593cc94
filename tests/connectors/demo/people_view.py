"""The demo bank's people as the tests look at them. Everybody is made once for all tests."""

from collections.abc import Callable, Iterator
from cProfile import Profile
from datetime import date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from kontor.connectors.demo.people import PERSONAS, TEST_LOGINS, Account, Entry, Person, person_for
from kontor.connectors.demo.people.banking_days import number_month
from kontor.connectors.demo.people.descriptions import load_persona
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.person import build_person, find_description

TODAY = date(2026, 11, 15)
SMALL_LOGINS = tuple(login for login in TEST_LOGINS if login != "test_large")
# Most test logins live one description: one of them stands for all.
LOGINS = (*PERSONAS, "leer", "test_slow", "test_positions_error")
BERLIN = ZoneInfo("Europe/Berlin")


@lru_cache(maxsize=128)
def find_person(login: str, today: date = TODAY) -> Person:
    person = person_for(login, today)
    assert person is not None
    return person


@lru_cache(maxsize=512)
def find_recent(login: str, first: date, today: date) -> Person:
    """The person with a history from the month of `first` on: the same bookings, made faster."""
    description = find_description(login)
    assert description is not None
    return build_person(Life(login, load_persona(description)), number_month(first), today)


def list_entries(person: Person) -> Iterator[tuple[Account, Entry]]:
    return ((account, entry) for account in person.accounts for entry in account.entries)


def list_finals(account: Account) -> list[Entry]:
    return [entry for entry in account.entries if not entry.transaction.is_pending]


@lru_cache(maxsize=16384)
def find_local_day(moment: datetime) -> date:
    return moment.astimezone(BERLIN).date()


def read_day(entry: Entry) -> date:
    assert entry.transaction.booked_at is not None
    return find_local_day(entry.transaction.booked_at)


def count_calls(work: Callable[[], object]) -> int:
    """How many functions are called: a measure of work that no busy machine changes."""
    profile = Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
