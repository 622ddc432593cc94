"""What bookings and contracts say that a user should know, and what they do not."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from kontor.analysis.alerts import find_causes
from kontor.analysis.contracts import find_contracts
from kontor.analysis.records import Account, Record
from kontor.domain.alerts import AlertKind, ObjectKind
from kontor.domain.budgets import Budget
from kontor.domain.contracts import NOTHING_SET, ContractSettings
from kontor.domain.products import ProductCategory

TODAY = date(2026, 11, 15)
GIRO = Account("giro", name="Girokonto", balance=Decimal("500.00"), data_until=TODAY)


def pay(amount, day, name="Netflix", category="SUBSCRIPTION_STREAMING", **facts):
    return Record(
        f"{name} {day} {amount}", "giro", day, Decimal(amount), category, counterparty_name=name, purpose=name, **facts
    )


def pay_monthly(*amounts, name="Netflix", category="RECREATION_STREAMING", day=3):
    """The last one in the month of today."""
    months = [(TODAY.year * 12 + TODAY.month - 1 - back) for back in range(len(amounts))][::-1]
    days = [date(month // 12, month % 12 + 1, day) for month in months]
    return [pay(amount, at, name, category) for amount, at in zip(amounts, days, strict=True)]


def find(records, accounts=(GIRO,), settings=NOTHING_SET):
    records = sorted(records, key=lambda record: record.day)
    contracts = find_contracts(records, accounts, TODAY)
    return find_causes(records, contracts, accounts, TODAY, lambda _: settings)


def find_kinds(records, **facts):
    return [cause.kind for cause in find(records, **facts)]


# Prices


def test_a_price_that_was_steady_and_is_higher_now_has_risen():
    [cause] = find(pay_monthly(*["-12.99"] * 8, "-14.99", "-14.99"))
    assert (cause.kind, cause.object.kind, cause.object.access_id) == (
        AlertKind.PRICE_RISE, ObjectKind.CONTRACT, "giro",
    )  # fmt: skip
    assert (cause.amount, cause.facts.amount_before, cause.facts.day) == (
        Decimal("-14.99"), Decimal("-12.99"), date(2026, 10, 3),
    )  # fmt: skip
    assert cause.facts.name == "Netflix"


def test_the_same_rise_has_the_same_key_however_often_it_is_paid_again():
    keys = {find(pay_monthly(*["-12.99"] * 8, *["-14.99"] * times))[0].key.split()[1] for times in (1, 2, 3)}
    assert keys == {"-14.99"}


@pytest.mark.parametrize(
    "amounts",
    [
        ["-12.99"] * 9 + ["-13.98"],  # less than a euro
        ["-100.00"] * 9 + ["-102.99"],  # less than 3 %
        ["-12.99"] * 9 + ["-10.99"],  # lower
        ["-12.99"] * 10,
        ["-40.00", "-42.50", "-39.10", "-44.00", "-41.20", "-43.30", "-40.70", "-42.00", "-39.90", "-46.00"],  # varies
        ["-12.99"] * 5 + ["-14.99"] * 5,  # too long ago
    ],
)
def test_other_changes_are_no_rise(amounts):
    assert find_kinds(pay_monthly(*amounts)) == []


def test_exactly_one_euro_and_three_percent_is_a_rise():
    assert find_kinds(pay_monthly(*["-10.00"] * 9, "-11.00")) == [AlertKind.PRICE_RISE]
    assert find_kinds(pay_monthly(*["-100.00"] * 9, "-103.00")) == [AlertKind.PRICE_RISE]


def test_a_higher_savings_rate_is_the_users_own_decision():
    rates = pay_monthly(*["-50.00"] * 9, "-100.00", name="Fondssparplan", category="SAVINGS_SECURITIES")
    assert find_kinds(rates) == []


# Deadlines


@pytest.mark.parametrize(("days", "kinds"), [(31, []), (30, [AlertKind.CONTRACT_NOTICE]), (0, ["CONTRACT_NOTICE"])])
def test_the_last_day_of_notice_is_told_30_days_before(days, kinds):
    settings = ContractSettings("Streaming", None, "P1W", TODAY + timedelta(days=days + 7))
    found = find(pay_monthly(*["-12.99"] * 10), settings=settings)
    assert [cause.kind for cause in found] == kinds
    for cause in found:
        assert (cause.facts.day, cause.facts.name) == (TODAY + timedelta(days=days), "Streaming")


# Debits

SHOPPING = [
    pay(f"-{20 + number % 7}.00", TODAY - timedelta(days=number * 5 + number % 3), f"Laden {number}", "LIVING_OTHER")
    for number in range(1, 30)
]


def test_the_largest_debit_of_half_a_year_to_somebody_new_is_unusual():
    debit = pay("-400.00", TODAY - timedelta(days=2), "Fremde Firma", "OTHER_SPENDING")
    [cause] = find([*SHOPPING, debit])
    assert (cause.kind, cause.object.id, cause.amount) == (AlertKind.UNUSUAL_DEBIT, debit.id, Decimal("-400.00"))


@pytest.mark.parametrize(
    "debits",
    [
        [pay("-249.99", TODAY, "Fremde Firma", "OTHER_SPENDING")],
        [pay("-400.00", TODAY - timedelta(days=15), "Fremde Firma", "OTHER_SPENDING")],
        [pay("-400.00", TODAY, "Fremde Firma", "OTHER_SPENDING", is_pending=True)],
        [pay("-400.00", TODAY, "Laden 3", "OTHER_SPENDING")],
        [pay("-400.00", TODAY, "Ich", "TRANSFER_OWN")],
        [pay("400.00", TODAY, "Fremde Firma", "OTHER_INCOME")],
        [
            pay("-400.00", TODAY, "Neu", "LIVING_OTHER"),
            pay("-500.00", TODAY - timedelta(days=100), "Alt", "LIVING_OTHER"),
        ],
    ],
)
def test_other_debits_are_usual(debits):
    assert find_kinds([*SHOPPING, *debits]) == []


def test_without_a_history_nothing_is_unusual():
    assert find_kinds([*SHOPPING[:10], pay("-400.00", TODAY, "Fremde Firma", "OTHER_SPENDING")]) == []


# Balances


def own(balance, **facts):
    return (Account("giro", name="Girokonto", balance=Decimal(balance), **{"data_until": TODAY} | facts),)


def test_an_overdrawn_account_is_told_once_a_month():
    [cause] = find([], accounts=own("-0.01"))
    assert (cause.kind, cause.object.id, cause.key, cause.amount) == (
        AlertKind.BALANCE_LOW, "giro", "2026-11", Decimal("-0.01"),
    )  # fmt: skip
    assert cause.facts.day is None


@pytest.mark.parametrize(
    "accounts",
    [
        own("0.00"),
        own("-5.00", category=ProductCategory.LOAN),
        own("-5.00", currency="USD"),
        own("-5.00", data_until=TODAY - timedelta(days=8)),
        (Account("giro", data_until=TODAY),),
    ],
)
def test_other_balances_are_not_low(accounts):
    assert find([], accounts=accounts) == []


def test_a_balance_that_does_not_last_until_the_salary_is_low():
    salaries = [
        replace_day(row, 28) for row in pay_monthly(*["2000.00"] * 10, name="Arbeit AG", category="INCOME_SALARY")
    ]
    salaries = [row for row in salaries if row.day <= TODAY]
    rents = [replace_day(row, 20) for row in pay_monthly(*["-900.00"] * 10, name="Vermieter", category="HOUSING_RENT")]
    rents = [row for row in rents if row.day <= TODAY]
    records = [*salaries, *rents]
    assert find_kinds(records, accounts=own("1000.00")) == []
    [cause] = find(records, accounts=own("500.00"))
    assert (cause.kind, cause.amount) == (AlertKind.BALANCE_LOW, Decimal("-400.00"))
    assert cause.facts.day is not None
    assert TODAY < cause.facts.day < TODAY + timedelta(days=20)


def replace_day(record, day):
    return Record(
        f"{record.id} {day}",
        record.account,
        record.day.replace(day=day),
        record.amount,
        record.category,
        counterparty_name=record.counterparty_name,
        purpose=record.purpose,
    )


# Budgets


@pytest.mark.parametrize(
    ("amount", "starts_on", "kinds"),
    [
        ("80.00", date(2026, 11, 1), []),
        ("79.99", date(2026, 11, 1), [AlertKind.BUDGET_EXCEEDED]),
        ("79.99", date(2026, 12, 1), []),
    ],
)
def test_a_budget_of_this_month_that_is_exceeded_is_told(amount, starts_on, kinds):
    rows = [pay("-40.00", TODAY - timedelta(days=number), f"Laden {number}", "LIVING_GROCERIES") for number in (1, 2)]
    budget = Budget(UUID(int=7), "Essen", ("LIVING_GROCERIES",), Decimal(amount), starts_on, False)
    found = find_causes(rows, [], [GIRO], TODAY, lambda _: NOTHING_SET, [budget])
    assert [cause.kind for cause in found] == kinds
    for cause in found:
        assert (cause.object.id, cause.key, cause.amount) == (str(budget.id), "2026-11", Decimal("-0.01"))
