"""The demo bank's people: who there is, and that their figures and words hold together."""

import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, date
from decimal import Decimal
from functools import partial
from hashlib import sha256

import pytest
from people_view import (
    LOGINS,
    SMALL_LOGINS,
    TODAY,
    count_calls,
    find_person,
    list_entries,
    list_finals,
    read_day,
)
from schwifty import IBAN

from kontor.connectors.demo.people import PERSONAS, TEST_LOGINS, Person, large_person, person_for
from kontor.domain.products import ProductCategory

# Control characters, and what is left when a placeholder was not filled.
UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e{}#]")


@pytest.mark.parametrize("login", ["", "nobody", "Demo1", "FAMILIE", "test", "large", "test_", "+x", "demo1 "])
def test_unknown_logins_have_no_person(login: str) -> None:
    assert person_for(login, TODAY) is None


def test_every_promised_login_has_a_checking_account() -> None:
    for login in {*LOGINS, *SMALL_LOGINS}:
        person = find_person(login)
        assert person.login == login
        assert any(account.product.category is ProductCategory.CHECKING for account in person.accounts), login


def test_empty_customer_has_one_account_and_nothing_else() -> None:
    (account,) = find_person("leer").accounts
    assert account.entries == ()
    assert account.product.balance == Decimal("0.00")


def test_demo1_has_every_kind_of_product_and_three_currencies() -> None:
    person = find_person("demo1")
    kinds = {account.product.category for account in person.accounts}
    assert kinds >= set(ProductCategory) - {ProductCategory.OTHER_CARD, ProductCategory.OTHER_PRODUCT}
    pockets = [account for account in person.accounts if account.product.balances]
    assert [pocket.currency for pocket in pockets[0].product.balances] == ["EUR", "USD", "CHF"]
    first = min(read_day(entry) for _, entry in list_entries(person))
    assert first.replace(day=1) == date(2024, 11, 1)


def test_test_customers_have_a_savings_account_and_a_quarter_of_history() -> None:
    for login in SMALL_LOGINS:
        person = find_person(login)
        assert {account.product.category for account in person.accounts} >= {ProductCategory.SAVINGS}
        days = [read_day(entry) for _, entry in list_entries(person)]
        assert 75 <= (TODAY - min(days)).days <= 125
    assert any(account.positions for account in find_person("test_positions_error").accounts)


def test_balance_is_opening_balance_plus_final_bookings(person: Person) -> None:
    for account in person.accounts:
        if account.product.category is ProductCategory.DEPOT:
            assert account.product.balance == sum(position.total_value for position in account.positions)
            continue
        sums = dict(account.opening)
        for entry in list_finals(account):
            sums[entry.transaction.currency] += entry.transaction.amount
        assert account.product.balance == sums["EUR"]
        for pocket in account.product.balances:
            assert pocket.balance == sums[pocket.currency]


def test_balances_stay_near_what_such_people_have() -> None:
    for login in PERSONAS:
        for account in find_person(login).accounts:
            balance = account.opening.get("EUR", Decimal(0))
            lowest = balance
            for entry in list_finals(account):
                if entry.transaction.currency == "EUR":
                    balance += entry.transaction.amount
                    lowest = min(lowest, balance)
            if account.product.category in (ProductCategory.SAVINGS, ProductCategory.CALL_MONEY):
                assert lowest >= 0, (login, account.key)


def test_amounts_have_two_decimals_and_are_not_zero(person: Person) -> None:
    for account, entry in list_entries(person):
        exponent = entry.transaction.amount.as_tuple().exponent
        assert exponent == -2, (account.key, entry)
        assert entry.transaction.amount != 0
    for account in person.accounts:
        assert account.product.balance is not None
        assert account.product.balance.as_tuple().exponent == -2


def test_dates_are_berlin_midnights_in_utc_and_newest_come_last(person: Person) -> None:
    for account in person.accounts:
        finals = list_finals(account)
        assert list(account.entries[: len(finals)]) == finals
        days = [read_day(entry) for entry in finals]
        assert days == sorted(days)
        assert all(day <= TODAY for day in days)
        for entry in account.entries:
            for moment in (entry.transaction.booked_at, entry.transaction.value_at):
                assert moment is not None
                assert moment.tzinfo is UTC
                assert moment.hour in (22, 23)


def test_texts_have_no_control_characters_and_no_open_placeholders(person: Person) -> None:
    for _, entry in list_entries(person):
        transaction = entry.transaction
        texts = (transaction.purpose, transaction.counterparty_name, transaction.booking_text)
        for text in texts:
            assert text is None or text.strip()
            assert not UNWANTED.search(text or ""), text


def test_ids_of_the_bank_are_unique_and_pending_bookings_have_none(person: Person) -> None:
    for account in person.accounts:
        ids = [entry.transaction.bank_id for entry in list_finals(account)]
        assert None not in ids
        assert len(set(ids)) == len(ids)
    for _, entry in list_entries(person):
        if entry.transaction.is_pending:
            transaction = entry.transaction
            assert (transaction.bank_id, transaction.gv_code, transaction.prima_nota) == (None, None, None)


def test_ibans_have_valid_checksums(everybody: list[Person]) -> None:
    ibans = {account.product.iban for person in everybody for account in person.accounts}
    ibans |= {entry.transaction.counterparty_iban for person in everybody for _, entry in list_entries(person)}
    for iban in ibans - {None}:
        assert IBAN(str(iban)).is_valid


def test_a_suffix_makes_another_customer_of_the_same_kind() -> None:
    for login in ("student", "test_positions_error", "leer"):
        person, other = find_person(login), find_person(f"{login}+anna")
        assert [account.product.category for account in person.accounts] == [
            account.product.category for account in other.accounts
        ]
        assert not {account.product.iban for account in person.accounts} & {
            account.product.iban for account in other.accounts
        } - {None}
        if login != "leer":
            assert person.accounts[0].entries[:50] != other.accounts[0].entries[:50]
    names = {find_person(f"test_slow+{number}").name for number in range(8)}
    assert len(names) >= 6


@pytest.mark.parametrize(
    ("login", "low", "high"),
    [
        ("demo1", 1800, 3200),
        ("student", 1200, 2600),
        ("azubi", 1000, 2400),
        ("familie", 3000, 4900),
        ("vermoegend", 3000, 5000),
        ("rente", 1600, 3200),
        ("schulden", 1800, 3400),
        ("freiberuf", 2000, 3600),
    ],
)
def test_volume_fits_the_persona(login: str, low: int, high: int) -> None:
    assert low <= sum(1 for _ in list_entries(find_person(login))) <= high


def test_large_customer_has_exactly_as_many_bookings_as_asked_for() -> None:
    person = person_for("test_large", TODAY)
    assert person is not None
    finals = list_finals(person.accounts[0])
    assert len(finals) == 40_000
    total = person.accounts[0].opening["EUR"] + sum(entry.transaction.amount for entry in finals)
    assert total == person.accounts[0].product.balance


@pytest.mark.parametrize(("count", "today"), [(1, date(2026, 11, 1)), (900, date(2024, 2, 29))])
def test_large_customers_of_any_size_on_any_day(count: int, today: date) -> None:
    assert len(list_finals(large_person(count, today, f"test_large+{count}").accounts[0])) == count


def test_a_person_is_made_with_few_steps_per_booking() -> None:
    made: list[Person | None] = []
    calls = count_calls(lambda: made.append(person_for("azubi+steps", TODAY)))
    assert made[0] is not None
    assert calls < 150 * sum(1 for _ in list_entries(made[0]))  # measured: 110 with all files read for the first time


def test_work_grows_no_faster_than_the_number_of_bookings() -> None:
    few, many = (count_calls(partial(large_person, count, TODAY, "test_large+growth")) for count in (400, 1_600))
    assert many < 4 * few


def test_data_is_the_same_in_another_process() -> None:
    """That one has another seed for hashes, so that no order of a set can show."""
    login = "test_positions_error+x"
    script = (
        "from datetime import date; from hashlib import sha256; from kontor.connectors.demo.people import person_for;"
        f"print(sha256(repr(person_for({login!r}, date({TODAY:%Y, %-m, %-d}))).encode()).hexdigest())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": ":".join(sys.path)},
    )
    assert answer.stdout.strip() == sha256(repr(find_person(login)).encode()).hexdigest()


def test_the_bank_writes_in_many_ways(everybody: list[Person]) -> None:
    purposes = [entry.transaction.purpose or "" for person in everybody for _, entry in list_entries(person)]
    for spelling in (
        "EREF+",
        "MREF+",
        "SVWZ+",
        "End-to-End-Ref.:",
        "EREF: ",
        "Einreicher-ID",
        "KFN 1 VJ",
        "SumUp",
        ".PP/",
    ):
        assert any(spelling in purpose for purpose in purposes), spelling
    names = [
        entry.transaction.counterparty_name
        for _, entry in list_entries(find_person("rente"))
        if entry.transaction.counterparty_name
    ]
    assert max(map(len, names)) <= 27
    assert all(name.isupper() for name in names)
    codes = Counter(entry.transaction.gv_code for person in everybody for _, entry in list_entries(person))
    assert {"105", "106", "116", "117", "153", "156", "166", "083", "181", "808", "805", "006"} <= codes.keys()


def test_logins_are_all_covered_by_these_tests() -> None:
    assert {*LOGINS, *SMALL_LOGINS, "test_large"} == {*PERSONAS, *TEST_LOGINS, "leer"}
