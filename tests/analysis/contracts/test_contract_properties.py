"""What holds for any bookings whatsoever."""

import random
from datetime import date, timedelta
from decimal import Decimal
from math import isfinite

from contract_cases import list_cases, read_case
from hypothesis import given
from hypothesis import strategies as st

from kontor.analysis.calendars import is_banking_day
from kontor.analysis.contracts import Contract, Status, find_contracts, forecast_payments
from kontor.analysis.contracts.loans import (
    choose_terms,
    compute_installment,
    compute_outstanding,
    compute_principal,
    solve_rate,
)
from kontor.analysis.records import Account, Record
from many_examples import many_examples

TODAY = date(2025, 8, 20)
CATEGORIES = (
    "LIVING_GROCERIES",
    "BILLS_MOBILE",
    "INCOME_SALARY",
    "INSURANCE_HOME",
    "BANKFINANCE_CREDITPAYMENT",
    "BANKFINANCE_CREDITINCOME",
    "TRANSFER_OWN",
    "OTHER_SPENDING",
    "RECREATION_ONLINE",
    "",
    "NO_SUCH_THING",
)
WORDS = (
    "",
    "Beitrag Vers.-Nr. 4711882 01.07.2025-30.06.2026",
    "Jahresabrechnung VK 123456",
    "Miete 31.02.2025-99.99.9999",
    "Rechnung 12345678",
    "EREF+X MREF+M-1 CRED+DE11ZZZ00000012345 SVWZ+",
    "Erstattung",
    "RETOURE",
    "💶 ÄÖÜß \x00",
)
RECORDS = st.builds(
    Record,
    id=st.uuids().map(str),
    account=st.sampled_from(("a", "b", "nobody's")),
    day=st.dates(date(2023, 1, 1), date(2026, 1, 1)) | st.sampled_from((date.min, date.max, TODAY)),
    amount=st.sampled_from((Decimal("-9.99"), Decimal(-50), Decimal(0), Decimal("1000.00"), Decimal("-0.001")))
    | st.decimals(-(10**9), 10**9, places=2),
    category=st.sampled_from(CATEGORIES),
    currency=st.sampled_from(("EUR", "USD")),
    partner=st.sampled_from(("UNKNOWN", "Shop", "")),
    purpose=st.sampled_from(WORDS),
    booking_text=st.sampled_from(("", "LASTSCHRIFT", "DAUERAUFTRAG")),
    gv_code=st.sampled_from(("", "105", "117", "153", "106", "181")),
    counterparty_name=st.sampled_from(("", "Shop GmbH", "PayPal Europe")),
    counterparty_iban=st.sampled_from(("", "DE02120300000000202051")),
    is_pending=st.booleans(),
)
ACCOUNTS = [Account("a", data_until=TODAY), Account("b")]
SLOW = many_examples(120)


def check_contract(contract: Contract, today: date) -> None:
    regular, others = contract.transaction_ids_regular, contract.transaction_ids_non_regular
    assert regular
    assert sorted(contract.transaction_ids) == sorted(regular + others)
    for name in Contract.__dataclass_fields__:
        value = getattr(contract, name)
        if isinstance(value, Decimal):
            assert value.is_finite(), name
        if isinstance(value, float):
            assert isfinite(value), name
    assert contract.amount_minimum <= contract.amount_median <= contract.amount_maximum
    assert contract.amount_total == contract.amount_total_regular + contract.amount_total_non_regular
    assert contract.days_age >= 0
    if contract.status is Status.INACTIVE:
        assert contract.date_next is None
        assert forecast_payments(contract, date(2027, 1, 1)) == []
    elif contract.date_next is not None:
        assert contract.date_next > today
        assert is_banking_day(contract.date_next)


@SLOW
@given(st.lists(RECORDS, max_size=60, unique_by=lambda record: record.id), st.sampled_from((TODAY, date.min, date.max)))
def test_any_bookings_give_sound_contracts_and_no_booking_is_in_two(records: list[Record], today: date):
    contracts = find_contracts(records, ACCOUNTS, today)
    seen = [number for contract in contracts for number in contract.transaction_ids]
    assert len(seen) == len(set(seen))
    allowed = {record.id for record in records if not record.is_pending and record.day <= today and record.amount}
    assert set(seen) <= allowed
    for contract in contracts:
        check_contract(contract, today)


@SLOW
@given(st.lists(RECORDS, max_size=40, unique_by=lambda record: record.id), st.randoms(use_true_random=False))
def test_the_order_of_bookings_does_not_matter(records: list[Record], chance: random.Random):
    shuffled = list(records)
    chance.shuffle(shuffled)
    assert find_contracts(shuffled, ACCOUNTS, TODAY) == find_contracts(records, ACCOUNTS, TODAY)


@SLOW
@given(st.sampled_from(list_cases()), st.randoms(use_true_random=False))
def test_the_order_of_bookings_does_not_matter_where_contracts_are(name: str, chance: random.Random):
    case = read_case(name)
    before = find_contracts(case.records, case.accounts, case.today)
    chance.shuffle(case.records)
    assert find_contracts(case.records, case.accounts, case.today) == before


@SLOW
@given(
    st.sampled_from(list_cases()),
    st.dates(date(2023, 1, 1), date(2025, 1, 1)),
    st.decimals(Decimal(-500), Decimal(500), places=2).filter(bool),
    st.randoms(use_true_random=False),
)
def test_an_unrelated_booking_changes_nothing(name: str, day: date, amount: Decimal, chance: random.Random):
    case = read_case(name)
    before = find_contracts(case.records, case.accounts, case.today)
    account = case.accounts[0].id
    unrelated = Record(
        "unrelated",
        account,
        day,
        amount,
        "SHOPPING_OTHER",
        counterparty_name="Kurzwaren Zwirn",
        purpose="Garn",
        gv_code="116",
    )
    records = [*case.records, unrelated]
    chance.shuffle(records)
    assert find_contracts(records, case.accounts, case.today) == before


@SLOW
@given(st.floats(100, 1_000_000), st.floats(0, 20), st.integers(1, 480))
def test_annuity_formula_goes_both_ways(principal: float, rate: float, months: int):
    installment = compute_installment(principal, rate, months)
    assert abs(compute_principal(installment, rate, months) - principal) <= 1e-6 * principal
    assert compute_outstanding(principal, rate, installment, months) <= 1e-5 * principal
    assert abs(compute_outstanding(principal, rate, installment, 0) - principal) <= 1e-6 * principal


@SLOW
@given(st.floats(500, 500_000), st.floats(0.1, 20), st.integers(1, 40).map(lambda years: years * 12))
def test_rate_is_found_again_from_principal_installment_and_term(principal: float, rate: float, months: int):
    solved = solve_rate(principal, compute_installment(principal, rate, months), months)
    assert solved is not None
    assert abs(solved - rate) < 1e-3


@SLOW
@given(st.integers(1000, 400_000), st.floats(1, 12), st.integers(1, 30).map(lambda years: years * 12))
def test_chosen_terms_reproduce_the_installment_to_the_cent(principal: int, rate: float, months: int):
    installment = round(compute_installment(principal, rate, months), 2)
    chosen = choose_terms(principal, installment, 6.5)
    assert chosen is not None
    found_rate, found_months = chosen
    assert abs(compute_installment(principal, found_rate, found_months) - installment) < 0.01


@SLOW
@given(st.sampled_from(list_cases()), st.integers(0, 800))
def test_forecasts_are_in_order_on_banking_days_and_start_with_the_next_payment(name: str, days: int):
    case = read_case(name)
    until = case.today + timedelta(days=days)
    for contract in find_contracts(case.records, case.accounts, case.today):
        payments = forecast_payments(contract, until)
        dates = [day for day, _ in payments]
        assert dates == sorted(set(dates))
        assert all(case.today < day <= until and is_banking_day(day) for day in dates)
        if dates:
            assert payments[0] == (contract.date_next, contract.amount_next)
