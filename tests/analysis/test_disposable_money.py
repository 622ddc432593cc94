"""What is left until the next salary: as cases that a person can read, as identities, and for the demo's people."""

import json
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.analysis.contracts import Status, find_contracts
from kontor.analysis.disposable_money import DisposableMoney, find_disposable_money
from kontor.analysis.records import Record
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN
from many_examples import many_examples

FOLDER = Path(__file__).parent / "disposable_money_cases"
CASES = sorted(file.stem for file in FOLDER.glob("*.json"))
FIELDS = {
    "amountSalaryLatest": "amount_salary_latest",
    "amountCashflow": "amount_cashflow",
    "amountCurrentlyLeft": "amount_currently_left",
    "amountExpectedFixedCashflow": "amount_expected_fixed",
    "amountDisposableMoney": "amount_disposable",
    "amountExpectedFlexCashflow": "amount_expected_flex",
    "amountExpectedLeft": "amount_expected_left",
    "amountExpectedLeftDaily": "amount_expected_left_daily",
    "amountSalaryNext": "amount_salary_next",
    "dateSalaryLatest": "date_salary_latest",
    "dateSalaryNext": "date_salary_next",
    "daysUntilSalary": "days_until_salary",
    "excludedCurrencies": "excluded_currencies",
}
TODAY = date(2026, 11, 15)


def find(records: list[Record], today: date) -> DisposableMoney | None:
    return find_disposable_money(records, find_contracts(records, [], today), today)


def read_record(row: dict[str, Any], place: int) -> Record:
    known = {"id": f"t{place + 1}", "account": "giro"} | row
    known["day"], known["amount"] = date.fromisoformat(row["day"]), Decimal(row["amount"])
    known["counterparty_name"] = known.pop("name", "")
    return Record(**known)


def show(found: DisposableMoney | None) -> dict[str, Any]:
    if found is None:
        return {}
    shown = {key: getattr(found, name) for key, name in FIELDS.items()}
    return {
        key: list(value) if isinstance(value, tuple) else value if isinstance(value, int) else str(value)
        for key, value in shown.items()
        if value != ()
    }


def make_salaries(months: int, amount: Decimal = Decimal("2000.00")) -> list[Record]:
    """On the 27th of each month, the latest one in October 2026."""
    days = (date((2026 * 12 + 9 - ago) // 12, (2026 * 12 + 9 - ago) % 12 + 1, 27) for ago in range(months))
    return [
        Record(
            f"salary-{day}",
            "giro",
            day,
            amount,
            "INCOME_SALARY",
            purpose="Lohn/Gehalt",
            gv_code="153",
            counterparty_name="Werk AG",
            counterparty_iban="DE02120300000000202051",
        )
        for day in days
    ]


@pytest.mark.parametrize("name", CASES)
def test_golden_case_gives_exactly_the_expected_amounts(name: str):
    case = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    records = [read_record(row, place) for place, row in enumerate(case["transactions"])]
    assert show(find(records, date.fromisoformat(case["today"]))) == case["expected"]


spendings = st.lists(
    st.builds(
        Record,
        id=st.uuids().map(str),
        account=st.sampled_from(["giro", "card"]),
        day=st.integers(-3, 500).map(lambda days: TODAY - timedelta(days=days)),
        amount=st.integers(-90_000, 20_000).map(lambda cents: Decimal(cents).scaleb(-2)),
        category=st.sampled_from(
            ["LIVING_GROCERIES", "HOUSING_RENT", "INCOME_OTHER", "TRANSFER_OWN", "SAVINGS_ACCOUNT"]
        ),
        currency=st.sampled_from(["EUR", "EUR", "EUR", "USD"]),
        is_pending=st.sampled_from([False, False, True]),
    ),
    max_size=50,
)


@many_examples(80)
@given(spendings, st.integers(0, 14))
def test_all_amounts_follow_from_each_other_to_the_cent(records: list[Record], months: int):
    found = find([*records, *make_salaries(months)], TODAY)
    if found is None:
        assert months < 3
        return
    counted = [
        record.amount
        for record in records
        if found.date_salary_latest <= record.day <= TODAY and record.currency == "EUR"
        if not record.is_pending and record.category != "TRANSFER_OWN"
    ]
    assert found.amount_cashflow == sum(counted, Decimal(0))
    assert found.amount_currently_left == found.amount_salary_latest + found.amount_cashflow
    assert found.amount_disposable == found.amount_currently_left + found.amount_expected_fixed
    assert found.amount_expected_left == found.amount_disposable + found.amount_expected_flex
    days = max(1, found.days_until_salary)
    assert abs(found.amount_expected_left_daily * days - found.amount_expected_left) <= Decimal("0.005") * days
    assert found.days_until_salary == (found.date_salary_next - TODAY).days > 0
    assert found.date_salary_latest == date(2026, 10, 27)


def test_reasons_name_the_salary_and_the_bookings_of_the_cycle():
    salaries = make_salaries(12)
    spent = Record("spent", "giro", date(2026, 11, 2), Decimal("-10.00"), "LIVING_GROCERIES")
    earlier = Record("earlier", "giro", date(2026, 10, 26), Decimal("-10.00"), "LIVING_GROCERIES")
    found = find([*salaries, spent, earlier], TODAY)
    assert found is not None
    assert found.reasons[0].transaction_ids == ("salary-2026-10-27",)
    assert found.reasons[1].transaction_ids == ("spent",)


def test_the_larger_of_two_salaries_makes_the_cycle_and_the_other_one_is_cashflow():
    second = [
        Record(
            f"side-{salary.id}",
            "giro",
            salary.day - timedelta(days=22),
            Decimal("450.00"),
            "INCOME_SALARY",
            purpose="Lohn Minijob",
            gv_code="153",
            counterparty_name="Backstube Sonnig",
            counterparty_iban="DE89370400440532013000",
        )
        for salary in make_salaries(12)
    ]
    late = Record(
        "side-latest",
        "giro",
        date(2026, 11, 5),
        Decimal("450.00"),
        "INCOME_SALARY",
        purpose="Lohn Minijob",
        gv_code="153",
        counterparty_name="Backstube Sonnig",
        counterparty_iban="DE89370400440532013000",
    )
    found = find([*make_salaries(12), *second, late], TODAY)
    assert found is not None
    assert found.amount_salary_latest == Decimal("2000.00")
    assert found.amount_cashflow == Decimal("450.00")


def test_a_first_salary_begins_a_cycle():
    salary = Record(
        "first",
        "giro",
        date(2026, 10, 28),
        Decimal("2100.00"),
        "INCOME_SALARY",
        purpose="Lohn/Gehalt Oktober 2026",
        gv_code="153",
        counterparty_name="Feinmechanik Oberland GmbH",
        counterparty_iban="DE89370400440532013000",
    )
    spent = Record("spent", "giro", date(2026, 11, 2), Decimal("-10.00"), "LIVING_GROCERIES")
    (contract,) = find_contracts([salary, spent], [], TODAY)
    assert contract.status is Status.PROVISIONAL
    found = find([salary, spent], TODAY)
    assert found is not None
    assert (found.amount_salary_latest, found.amount_cashflow) == (Decimal("2100.00"), Decimal("-10.00"))
    assert found.date_salary_next == contract.date_next


@pytest.mark.parametrize("login", ["rente", "freiberuf", "leer"])
def test_who_has_no_salary_gets_nothing(login: str):
    assert find(read_person(login), TODAY) is None


@pytest.mark.parametrize("login", ["demo1", "familie", "schulden", "vermoegend", "azubi"])
def test_the_cycle_of_the_demos_people_is_exactly_what_was_booked(login: str):
    records = read_person(login)
    found = find(records, TODAY)
    assert found is not None
    salaries = [
        record for record in records if record.category == "INCOME_SALARY" and record.day == found.date_salary_latest
    ]
    assert found.amount_salary_latest in {salary.amount for salary in salaries}
    since = [
        record.amount
        for record in records
        if found.date_salary_latest <= record.day <= TODAY and record.currency == "EUR" and not record.is_pending
        if record.category != "TRANSFER_OWN"
    ]
    assert found.amount_currently_left == sum(since, Decimal(0))


def read_person(login: str) -> list[Record]:
    person = person_for(login, TODAY)
    assert person is not None
    return [
        Record(
            id=f"{account.key}-{number}",
            account=account.key,
            day=entry.transaction.booked_at.astimezone(BERLIN).date(),
            amount=entry.transaction.amount,
            category=entry.truth.category,
            currency=entry.transaction.currency or "EUR",
            partner=entry.truth.partner or "UNKNOWN",
            purpose=entry.transaction.purpose or "",
            booking_text=entry.transaction.booking_text or "",
            gv_code=entry.transaction.gv_code or "",
            counterparty_name=entry.transaction.counterparty_name or "",
            counterparty_iban=entry.transaction.counterparty_iban or "",
            is_pending=entry.transaction.is_pending,
        )
        for account in person.accounts
        for number, entry in enumerate(account.entries)
        if entry.transaction.booked_at is not None
    ]
