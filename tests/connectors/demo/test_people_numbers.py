"""Numbers with check digits, the calendar, and securities."""

import re
from datetime import date, timedelta

import holidays
from people_view import TODAY, find_person, find_recent, list_entries

from kontor.connectors.demo.people import PERSONAS, Person
from kontor.connectors.demo.people.banking_days import find_easter, find_midnight, is_banking_day, list_shop_holidays
from kontor.connectors.demo.people.numbers import make_creditor_id, make_iban
from kontor.connectors.demo.people.securities import load_securities
from kontor.connectors.demo.people.words import load_partners

CREDITOR = re.compile(r"(?:CRED\+|CRED: |Gläubiger-ID: |Einreicher-ID: )([A-Z]{2}\d\d[A-Z0-9]+)")


def check_isin(isin):
    """The check digit by the Luhn algorithm (ISO 6166)."""
    digits = "".join(str(int(char, 36)) for char in isin)
    total = 0
    for position, char in enumerate(reversed(digits)):
        value = int(char) * (2 if position % 2 else 1)
        total += value // 10 + value % 10
    return len(isin) == 12 and total % 10 == 0


def has_valid_check(creditor_id: str) -> bool:
    """EPC: country and check digits go to the end, the business code is left out."""
    text = creditor_id[7:] + creditor_id[:4]
    return int("".join(str(int(char, 36)) for char in text)) % 97 == 1


def test_creditor_ids_have_valid_check_digits(everybody: list[Person]) -> None:
    found = set()
    for person in everybody:
        for _, entry in list_entries(person):
            # Statements that break lines at a column break ids as well.
            if entry.transaction.purpose and (match := CREDITOR.search(entry.transaction.purpose)):
                found.add(match[1])
    whole = {number for number in found if len(number) in (18, 26)}
    assert len(whole) > 60
    assert all(map(has_valid_check, whole))
    known = {words.creditor_id for pool in load_partners().values() for words in pool if words.creditor_id}
    assert all(map(has_valid_check, known))
    assert all(has_valid_check(make_creditor_id(f"somebody {number}")) for number in range(100))


def test_known_iban_is_made_right() -> None:
    assert make_iban("37040044", "0532013000") == "DE89370400440532013000"


def test_isins_have_valid_check_digits() -> None:
    assert all(check_isin(security.isin) for security in load_securities())
    assert not check_isin("US0378331006")


def test_banking_days_follow_the_target_calendar() -> None:
    for year in (2015, 2024, 2025, 2026, 2027, 2028, 2038):
        closed = holidays.country_holidays("DE", years=year)
        target = holidays.financial_holidays("ECB", years=year)
        assert find_easter(year) + timedelta(days=1) in target
        for offset in range(366):
            day = date(year, 1, 1) + timedelta(days=offset)
            if day.year == year:
                assert is_banking_day(day) == (day.weekday() < 5 and day not in target)
        assert set(closed) - {date(2017, 10, 31)} <= list_shop_holidays(year)


def test_midnight_follows_summer_time() -> None:
    assert find_midnight(date(2026, 7, 1)).isoformat() == "2026-06-30T22:00:00+00:00"
    assert find_midnight(date(2026, 1, 1)).isoformat() == "2025-12-31T23:00:00+00:00"


def test_positions_are_complete_and_move_from_day_to_day() -> None:
    for login in PERSONAS:
        for account in find_person(login).accounts:
            for position in account.positions:
                assert position.total_value is not None
                assert position.total_value > 0
                assert position.isin is not None
                assert check_isin(position.isin)
                assert (position.exchange_rate is None) == (position.currency == "EUR")
                assert position.wkn is not None
                assert len(position.wkn) == 6
    later = find_recent("vermoegend", TODAY, TODAY + timedelta(days=2))
    before = {
        position.isin: position.price
        for account in find_person("vermoegend").accounts
        for position in account.positions
    }
    after = {position.isin: position.price for account in later.accounts for position in account.positions}
    assert before.keys() == after.keys()
    assert before != after
    units = {position.unit for account in find_person("vermoegend").accounts for position in account.positions}
    assert units
