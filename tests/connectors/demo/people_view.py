"""The demo bank's people as the tests look at them."""

from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from zoneinfo import ZoneInfo

from kontor.connectors.demo.people import PERSONAS, TEST_LOGINS, Account, Entry, Person, person_for

TODAY = date(2026, 11, 15)
SMALL_LOGINS = tuple(login for login in TEST_LOGINS if login != "test_large")
LOGINS = (*PERSONAS, "leer", *SMALL_LOGINS)
BERLIN = ZoneInfo("Europe/Berlin")


@lru_cache(maxsize=64)
def find_person(login: str) -> Person:
    person = person_for(login, TODAY)
    assert person is not None
    return person


def list_entries(person: Person) -> Iterator[tuple[Account, Entry]]:
    return ((account, entry) for account in person.accounts for entry in account.entries)


def list_finals(account: Account) -> list[Entry]:
    return [entry for entry in account.entries if not entry.transaction.is_pending]


def read_day(entry: Entry) -> date:
    assert entry.transaction.booked_at is not None
    return entry.transaction.booked_at.astimezone(BERLIN).date()
