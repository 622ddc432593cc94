"""Affordability and credit check as cases that a person can read, and what always holds about them."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from life_cases import list_cases, read_case

from kontor.analysis.affordability import measure_affordability
from kontor.analysis.contracts import find_contracts
from kontor.analysis.credit_checks import check_credit
from kontor.analysis.life_events import find_life_events
from kontor.analysis.life_stages import find_life_stages
from kontor.analysis.records import Account, Record
from kontor.analysis.sales_triggers import find_sales_triggers
from kontor.analysis.trees import CATEGORIES, TREES
from kontor.cli.demo_truths import Tags, read_demo_person
from kontor.domain.products import ProductCategory
from kontor.services.analyses.analyses import Facts
from kontor.wire.affordability import Nothing, show_affordability
from kontor.wire.credit_checks import show_credit_check
from kontor.wire.urls import Urls
from many_examples import many_examples

TODAY = date(2026, 11, 15)
URLS = Urls("http://kontor.test")
REQUIRED = {
    "discretionary", "discretionaryForIrregularLuxuries", "savings", "gambling", "existingLoans", "mortgagePayments",
    "rentalPayments", "returnDebits", "reminderCharges", "seizurePayments", "debtCollectionPayments", "creditCards",
    "financialLiteracy", "ratioLuxuriesToExpenses", "ratioNecessitiesToExpenses", "ratioLuxuriesToIncome",
    "ratioNecessitiesToIncome", "ratioExpensesToIncome", "ratioGamblingToDiscretionaryForIrregularLuxuries",
}  # fmt: skip


def show(details: Any, path: str) -> Any:
    """A field of the details as the case files write it."""
    for name in path.split("."):
        if name == "items":
            return {entry.tagTreeItem.systemName: str(entry.amount) for entry in details.amountsPerTagTreeItem}
        details = getattr(details, name)
    if path == "findings":
        return {finding.type: finding.transactionIds for finding in details}
    return str(details) if isinstance(details, Decimal) else details


def check_fields(shown: Any, expected: dict[str, Any], why: str) -> None:
    if not expected:
        assert shown == Nothing(), why
        return
    assert {path: show(shown["details"], path) for path in expected} == expected, why


@pytest.mark.parametrize("name", list_cases("affordability"))
def test_golden_case_gives_the_expected_affordability(name: str):
    case = read_case("affordability", name)
    facts = Facts("user", case.records, case.accounts, case.today)
    found = measure_affordability(*case.facts)
    check_fields(show_affordability(found, facts, URLS, explain=False), case.expected, case.why)


@pytest.mark.parametrize("name", list_cases("credit_checks"))
def test_golden_case_gives_the_expected_credit_check(name: str):
    case = read_case("credit_checks", name)
    facts = Facts("user", case.records, case.accounts, case.today)
    check_fields(show_credit_check(check_credit(*case.facts), facts, URLS, explain=False), case.expected, case.why)


def test_credit_cards_are_counted_and_their_settlement_is_no_expense():
    accounts = [Account("main", data_until=TODAY), Account("card", ProductCategory.CREDIT_CARD, data_until=TODAY)]
    settled = {"purpose": "Kreditkartenabrechnung 10/2026", "counterparty_name": "Kartenservice"}
    records = [
        Record("shop", "card", date(2026, 10, 2), Decimal("-80.00"), "SHOPPING_OTHER"),
        Record("paid", "main", date(2026, 10, 30), Decimal("-80.00"), "BANKFINANCE_TRANSFER", **settled),
        Record("came", "card", date(2026, 10, 30), Decimal("80.00"), "BANKFINANCE_TRANSFER", **settled),
    ]
    found = measure_affordability(records, [], accounts, TODAY)
    assert found is not None
    assert found.obligations.credit_cards == 1
    assert (found.budget.expenses, found.budget.income.amount) == (Decimal("80.00"), Decimal("0.00"))
    alone = measure_affordability(records[1:2], [], accounts[:1], TODAY)
    assert alone is not None
    assert alone.obligations.credit_cards == 1  # a card at another bank shows in what its bank collects
    assert alone.budget.expenses == Decimal("80.00")


def test_money_between_own_accounts_is_neither_income_nor_expense():
    accounts = [
        Account("main", holder="Anna Muster", iban="DE02120300000000202051", data_until=TODAY),
        Account("other", holder="Anna Muster", iban="DE02500105170137075030", data_until=TODAY),
    ]
    day = date(2026, 10, 5)
    records = [
        Record("out", "main", day, Decimal(-500), "OTHER_SPENDING", counterparty_iban="DE02500105170137075030"),
        Record("in", "other", day, Decimal(500), "OTHER_INCOME", counterparty_iban="DE02120300000000202051"),
        Record("abroad", "main", day, Decimal(-70), "OTHER_SPENDING", counterparty_name="ANNA MUSTER"),
        Record("real", "main", day, Decimal(-30), "SHOPPING_OTHER", counterparty_name="Laden"),
    ]
    found = measure_affordability(records, [], accounts, TODAY)
    assert found is not None
    assert (found.budget.income.amount, found.budget.expenses) == (Decimal("0.00"), Decimal("30.00"))


CATEGORY_NAMES = sorted(name for name, item in TREES[CATEGORIES].items.items() if item.parent or name == "TAXES")
AMOUNTS = st.decimals(-5000, 5000, places=2) | st.sampled_from([Decimal("NaN"), Decimal("Infinity"), Decimal("1e30")])
RECORDS = st.lists(
    st.builds(
        Record,
        id=st.uuids().map(str),
        account=st.sampled_from(["main", "card", "loan", "unknown"]),
        day=st.dates(date(2024, 6, 1), date(2027, 3, 1)) | st.sampled_from([date.min, date.max]),
        amount=AMOUNTS,
        category=st.sampled_from(CATEGORY_NAMES),
        currency=st.sampled_from(["EUR", "EUR", "EUR", "USD"]),
        purpose=st.sampled_from(["", "Miete", "Elterngeld", "Inkasso", "Kaution", "Wetteinsatz", "\x00 Ä ß 🏠"]),
        counterparty_name=st.sampled_from(["", "A GmbH", "B AG", "Anna Muster"]),
        gv_code=st.sampled_from(["", "105", "153", "181"]),
        is_pending=st.booleans(),
    ),
    max_size=40,
)
ACCOUNTS = [
    Account("main", holder="Anna Muster", balance=Decimal("12.50"), data_until=TODAY),
    Account("card", ProductCategory.CREDIT_CARD, balance=Decimal("NaN")),
    Account("loan", ProductCategory.LOAN, balance=Decimal(-900), data_until=date(2026, 9, 1)),
]


@many_examples(150)
@given(RECORDS, st.sampled_from([TODAY, date(2024, 6, 1), date(1, 1, 1), date(9999, 12, 31)]))
def test_no_input_breaks_any_analysis(records: list[Record], today: date):
    finite = [record for record in records if record.amount.is_finite() and abs(record.amount) < 10**9]
    facts = (records, find_contracts(finite, ACCOUNTS, today), ACCOUNTS, today)
    known = {record.id for record in records}
    for event in find_life_events(*facts):
        assert set(event.transaction_ids) <= known
        assert event.day <= today
    stages = find_life_stages(*facts)
    groups = [stage.name.partition("_")[0] for stage in stages]
    assert groups in ([], ["LABOURMARKET", "PARENTHOOD", "HOUSING", "SAVINGS"])
    for trigger in find_sales_triggers(*facts):
        assert 0 <= trigger.confidence <= 1
    check_credit(*facts)


@many_examples(150)
@given(RECORDS)
def test_amounts_add_up_and_ratios_are_consistent(records: list[Record]):
    finite = [record for record in records if record.amount.is_finite() and abs(record.amount) < 10**9]
    found = measure_affordability(records, find_contracts(finite, ACCOUNTS, TODAY), ACCOUNTS, TODAY)
    if found is None:
        return
    shown = show_affordability(found, Facts("user", records, ACCOUNTS, TODAY), URLS, explain=True)
    details = msgspec.json.decode(msgspec.json.Encoder(decimal_format="number").encode(shown["details"]), strict=True)
    assert details.keys() >= REQUIRED
    budget = found.budget
    assert budget.expenses == budget.necessities.amount + budget.luxuries.amount
    for split in (budget.income, budget.necessities, budget.luxuries, budget.savings):
        assert split.amount == split.regular.amount + split.irregular.amount
        for part in (split.regular, split.irregular):
            assert part.amount == sum(part.items.values())
            assert min(part.items.values(), default=0) >= 0
    shares = found.ratio_luxuries_to_expenses + found.ratio_necessities_to_expenses
    assert shares == (1 if budget.expenses else 0)
    assert found.discretionary == max(0, budget.income.amount - budget.necessities.amount)
    assert found.discretionary_for_irregular_luxuries <= max(Decimal(0), budget.income.regular.amount)
    income = sum((record.amount for use, _, record in budget.counted if use.value == "income"), Decimal(0))
    exact = income / len(budget.months)
    assert abs(exact - budget.income.amount) <= Decimal("0.005")


def test_months_that_a_bank_has_not_told_of_do_not_lower_the_means():
    days = [date(2026, 1, 15) + timedelta(days=30 * number) for number in range(8)]
    records = [Record(f"r{n}", "main", day, Decimal("100.00"), "INCOME_SALARY") for n, day in enumerate(days)]
    accounts = [Account("main", data_until=date(2026, 9, 3))]
    found = measure_affordability(records, [], accounts, TODAY)
    assert found is not None
    assert found.budget.income.amount == Decimal("100.00")


def test_the_house_buyer_of_the_demo_bank_has_neither_payout_nor_price_in_the_monthly_figures():
    day = date(2026, 3, 15)
    person = read_demo_person("hauskauf", day, Tags.TAGGER)
    records, accounts = person.records, person.accounts
    assert any(record.amount > 100_000 and record.day > date(2025, 3, 15) for record in records), "there is a payout"
    found = check_credit(records, find_contracts(records, accounts, day), accounts, day)
    assert found is not None
    assert 400 < found.loan_installments_monthly < 1500
    assert 4000 < found.affordability.budget.income.amount < 6000


def test_who_pays_into_a_home_loan_of_their_own_has_mortgage_payments_as_the_life_stage_says():
    person = read_demo_person("demo1", TODAY, Tags.TAGGER)
    contracts = find_contracts(person.records, person.accounts, TODAY)
    facts = (person.records, contracts, person.accounts, TODAY)
    assert "HOUSING_OWNERMORTGAGE" in {stage.name for stage in find_life_stages(*facts)}
    found = measure_affordability(*facts)
    assert found is not None
    shown = show_affordability(found, Facts("user", person.records, person.accounts, TODAY), URLS, explain=False)
    assert shown["details"].mortgagePayments is True
    assert len(found.obligations.mortgages) == 12
    assert found.obligations.loans == ()


def test_a_consumer_loan_and_the_price_of_a_house_are_no_mortgage_payments():
    accounts = [
        Account("main", data_until=TODAY),
        Account("car", ProductCategory.LOAN, "Autokredit", iban="DE02500105170137075030", balance=Decimal(-900)),
    ]
    records = [
        Record(
            "rate",
            "main",
            date(2026, 10, 2),
            Decimal(-150),
            "BANKFINANCE_CREDITPAYMENT",
            counterparty_iban="DE02500105170137075030",
        ),
        Record(
            "price",
            "main",
            date(2026, 10, 3),
            Decimal(-250_000),
            "HOUSING_FINANCING",
            purpose="Kaufpreis UR-Nr. 12",
            counterparty_name="Notar Dr. Feder Anderkonto",
        ),
    ]
    found = measure_affordability(records, [], accounts, TODAY)
    assert found is not None
    assert [record.id for record in found.obligations.loans] == ["rate"]
    assert found.obligations.mortgages == ()
    assert not found.obligations.has_home_loan
