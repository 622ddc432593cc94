"""Single rules: calendar, due dates, status, adversaries, numbers, loans, scores."""

from datetime import date, timedelta
from decimal import Decimal
from random import Random

import pytest
from contract_cases import read_case
from msgspec import structs

from kontor.analysis.calendars import is_banking_day, move_to_banking_day
from kontor.analysis.contracts import Contract, Loan, Status, find_contracts, forecast_payments
from kontor.analysis.contracts.loans import compute_installment
from kontor.analysis.contracts.numbers import read_numbers
from kontor.analysis.contracts.texts import read_creditor, read_mandate, read_purpose, squeeze_text
from kontor.analysis.records import Account, Record
from kontor.analysis.scoring.contract_scores import KnownContract, score_contracts
from kontor.domain.products import ProductCategory

TODAY = date(2025, 8, 20)


def find_one(name: str) -> Contract:
    case = read_case(name)
    (contract,) = find_contracts(case.records, case.accounts, case.today)
    return contract


@pytest.mark.parametrize(
    "day",
    ["2025-01-01", "2025-04-18", "2025-04-21", "2025-05-01", "2025-12-25", "2025-12-26", "2025-08-16", "2025-08-17"],
)
def test_banks_rest_on_target_holidays_and_weekends(day: str):
    assert not is_banking_day(date.fromisoformat(day))


@pytest.mark.parametrize("day", ["2025-10-03", "2025-06-09", "2025-12-24", "2025-12-31", "2025-08-15"])
def test_banks_settle_on_holidays_of_other_kinds(day: str):
    assert is_banking_day(date.fromisoformat(day))


def test_closed_days_move_to_the_next_or_the_previous_banking_day():
    assert move_to_banking_day(date(2025, 4, 18), 1) == date(2025, 4, 22)
    assert move_to_banking_day(date(2025, 4, 21), -1) == date(2025, 4, 17)
    assert move_to_banking_day(date(2025, 4, 17), -1) == date(2025, 4, 17)


LONG_NAME = "Landwirtschaftlicher Versicherungsverein Muenster a.G."


@pytest.mark.parametrize(
    ("latest", "iban", "expected"),
    [
        (LONG_NAME, "DE54100100100439772263", LONG_NAME),
        (LONG_NAME[:54].rstrip(), "DE54100100100439772263", LONG_NAME),  # as MT940 cuts it
        (LONG_NAME[:27].rstrip(), "DE54100100100439772263", LONG_NAME),  # as DTAUS does
        ("LVM", "DE54100100100439772263", "LVM"),  # another name, and no cut one
        (LONG_NAME[:27].rstrip(), "DE02120300000000202051", LONG_NAME[:27].rstrip()),  # somebody else's account
    ],
)
def test_a_name_that_a_format_has_cut_is_shown_whole(latest: str, iban: str, expected: str):
    usual = {"category": "INSURANCE_CAR", "partner": "LVM", "gv_code": "105"}
    rows = [
        Record(
            f"r{number}",
            "giro",
            date(2025, number, 2),
            Decimal(-40),
            counterparty_name=latest if number == 8 else LONG_NAME,
            counterparty_iban=iban if number == 8 else "DE54100100100439772263",
            **usual,
        )
        for number in range(1, 9)
    ]
    (contract,) = find_contracts(rows, [Account("giro")], TODAY)
    assert contract.counterparty_name == expected


def make_groceries(count: int, **fields: str) -> list[Record]:
    """Twenty shops, each on its own weekday for nearly the same amount, week after week."""
    chance = Random(3)
    rows = []
    for number in range(count):
        shop, week = number % 20, number // 20
        usual = {"category": "LIVING_GROCERIES", "partner": f"EDEKA {shop}", "purpose": f"EDEKA {shop}//KOELN/DE"}
        amount = Decimal(-4000 - 100 * shop - chance.randrange(60)) / 100
        day = date(2010, 1, 2) + timedelta(weeks=week, days=shop % 6)
        rows.append(Record(f"g{number}", "giro", day, amount, **(usual | fields)))
    return rows


@pytest.mark.parametrize(
    "fields",
    [
        {"gv_code": "106", "booking_text": "KARTENZAHLUNG"},
        {},
        {"partner": "UNKNOWN", "counterparty_name": "EDEKA Center Müller"},
        {"gv_code": "107", "booking_text": "SEPA-ELV-LASTSCHRIFT"},
        {"gv_code": "105", "booking_text": "FOLGELASTSCHRIFT", "purpose": "EDEKA MREF+M-5 CRED+DE11ZZZ00000012345"},
        {"gv_code": "106", "category": "SHOPPING_OTHER"},
        {"gv_code": "106", "category": "RECREATION_ENTERTAINMENTFOOD"},
    ],
    ids=["card", "nothing known", "no partner", "debit at the till", "one mandate", "other shopping", "restaurant"],
)
def test_ten_thousand_groceries_on_the_same_weekday_are_no_contract(fields: dict[str, str]):
    records = make_groceries(10_000, **fields)
    assert find_contracts(records, [Account("giro", data_until=date(2019, 8, 1))], date(2019, 8, 1)) == []


def test_weekly_groceries_do_not_hide_a_contract_beside_them():
    case = read_case("price_changes_twice")
    records = [*case.records, *make_groceries(3000, gv_code="106")]
    accounts = [*case.accounts, Account("giro")]
    (contract,) = find_contracts(records, accounts, case.today)
    assert set(contract.transaction_ids) == {record.id for record in case.records}


def test_data_of_an_account_without_date_counts_up_to_its_newest_booking():
    case = read_case("ended")
    (contract,) = find_contracts(case.records, [Account("giro")], case.today)
    assert contract.status is Status.ACTIVE
    newer = structs.replace(
        case.records[-1], id="x", day=date(2025, 3, 3), category="LIVING_GROCERIES", purpose="Markt"
    )
    (contract,) = find_contracts([*case.records, newer], [Account("giro")], case.today)
    assert contract.status is Status.INACTIVE


def test_transfer_into_an_own_savings_account_is_a_contract_even_when_tagged_as_own_transfer():
    case = read_case("savings")
    records = [structs.replace(record, category="TRANSFER_OWN") for record in case.records]
    (contract,) = find_contracts(records, case.accounts, case.today)
    assert not contract.is_income
    accounts = [structs.replace(account, category=ProductCategory.CHECKING) for account in case.accounts]
    assert find_contracts(records, accounts, case.today) == []


def test_forecast_continues_the_schedule_over_weekends_and_holidays():
    contract = find_one("due_date_moved_by_holidays")
    days = [day.isoformat() for day, _ in forecast_payments(contract, date(2026, 5, 31))]
    assert days == ["2025-11-03", "2025-12-01", "2026-01-02", "2026-02-02", "2026-03-02", "2026-04-01", "2026-05-04"]


def test_forecast_of_two_payments_a_month_has_both():
    contract = find_one("period_twice_a_month")
    days = [day.isoformat() for day, _ in forecast_payments(contract, date(2025, 7, 31))]
    assert days == ["2025-06-02", "2025-06-16", "2025-07-01", "2025-07-15"]


def test_loan_figures_fulfil_the_annuity_formula_together():
    loan = find_one("loan_with_payout").loan
    assert loan is not None
    assert loan.term_months_estimate == 60
    assert abs(loan.interest_rate_estimate - 5) < Decimal("0.01")
    again = compute_installment(float(loan.principal_estimate), float(loan.interest_rate_estimate), 60)
    assert abs(again - float(loan.installment)) < 0.01
    assert Decimal(8700) < loan.outstanding_estimate < Decimal(8900)
    assert loan.last_installment_estimate == date(2029, 12, 3)


def test_loan_without_a_payout_leaves_open_what_installments_do_not_tell():
    case = read_case("loan_with_payout")
    (contract,) = find_contracts([row for row in case.records if row.id != "payout"], case.accounts, case.today)
    loan = contract.loan
    assert loan is not None
    assert loan.installment == Decimal("188.71")
    assert loan.interest_rate_estimate is loan.term_months_estimate is loan.last_installment_estimate is None
    assert loan.principal_estimate is loan.outstanding_estimate is None


def find_loan(*purposes: str, payout: str = "", until: date = date(2026, 6, 20)) -> Loan:
    """The loan behind installments of 188.71 from January 2026 on, 10,000 at five percent for 60 months."""
    records = [
        Record(
            f"r{number}",
            "giro",
            date(2026, number, 2),
            Decimal("-188.71"),
            "BANKFINANCE_CREDITPAYMENT",
            purpose=purpose,
            counterparty_name="Kreditbank AG",
            gv_code="105",
        )
        for number, purpose in enumerate(purposes, start=1)
    ]
    if payout:
        records.append(
            Record(
                "payout",
                "giro",
                date(2025, 12, 10),
                Decimal(payout),
                "BANKFINANCE_CREDITINCOME",
                purpose="Auszahlung",
                counterparty_name="Kreditbank AG",
                gv_code="166",
            )
        )
    (contract,) = find_contracts(records, [Account("giro", data_until=until)], until)
    assert contract.loan is not None
    return contract.loan


def test_installments_that_are_counted_tell_the_term_and_with_the_payout_the_rate():
    counted = [f"Rate {number}/60 Vertrag 70012345" for number in range(1, 7)]
    alone = find_loan(*counted)
    assert (alone.term_months_estimate, alone.interest_rate_estimate) == (60, None)
    assert alone.last_installment_estimate is not None
    assert (alone.last_installment_estimate.year, alone.last_installment_estimate.month) == (2030, 12)
    both = find_loan(*counted, payout="10000.00")
    assert both.interest_rate_estimate is not None
    assert abs(both.interest_rate_estimate - 5) < Decimal("0.01")


def test_the_month_of_an_installment_is_no_count():
    loan = find_loan(*[f"Rate {number:02}/26 Vertrag 70012345" for number in range(1, 7)])
    assert loan.term_months_estimate is None


def test_rate_and_term_in_the_text_tell_everything():
    loan = find_loan(*["Kreditrate 5,00 % Laufzeit 60 Monate"] * 6)
    assert (loan.interest_rate_estimate, loan.term_months_estimate) == (Decimal("5.0000"), 60)
    assert loan.principal_estimate is not None
    assert abs(loan.principal_estimate - 10000) < 1


def test_shares_of_interest_and_repayment_tell_rate_and_debt():
    debt, purposes = 10000.0, []
    for _ in range(6):
        interest = round(debt * 5 / 1200, 2)
        debt -= 188.71 - interest
        text = f"Zins {interest:.2f} Tilgung {188.71 - interest:.2f}"
        purposes.append(text.replace(".", ","))
    loan = find_loan(*purposes)
    assert loan.interest_rate_estimate is not None
    assert loan.outstanding_estimate is not None
    assert abs(loan.interest_rate_estimate - 5) < Decimal("0.05")
    assert abs(float(loan.outstanding_estimate) - debt) < 100
    assert loan.term_months_estimate is not None
    assert abs(loan.term_months_estimate - 60) <= 1


def test_reasons_say_what_led_to_the_contract():
    reasons = " ".join(find_one("iban_mandate_and_spelling_change").reasons)
    assert "12 regular payments" in reasons
    assert "88120044" in reasons


def test_costs_develop_by_day_and_apart():
    contract = find_one("yearly_settlement_on_top")
    assert contract.cost_development_non_regular == {date(2025, 4, 18): Decimal("-112.41")}
    assert sum(contract.cost_development.values()) == contract.amount_total


@pytest.mark.parametrize(
    ("text", "contract", "customer"),
    [
        ("Kfz-Vers. Teilkasko K-AB 123 Vers.-Nr. 123456789/001 Beitrag 01.01.2025-30.06.2025", "123456789/001", ""),
        ("Rundfunkbeitrag 02.2025 - Beitragsnr. 529 780 885 Aenderungen", "", "529780885"),
        ("EREF+NOTPROVIDEDSVWZ+BETRIE BSRENTE MAERZ 2025 NR. 7833 85799", "783385799", ""),
        ("RNR 20001234 MOBILFUNK KDNR 31415926", "", "31415926"),
        ("Elementarschaden Vertrag 59508983 2025", "59508983", ""),
        ("Risikolebensversicherung VS-Nr. 67977381 06/25", "67977381", ""),
        ("Hausrat VS-NR HR 97192925 Jahresbeitrag", "HR97192925", ""),
        ("Miete Amselweg 42", "", ""),
        ("Rechnung 12345678 vom 01.02.2025", "", ""),
    ],
)
def test_numbers_are_read_from_texts_with_broken_lines(text: str, contract: str, customer: str):
    numbers = read_numbers(read_purpose(squeeze_text(text)), 2025)
    assert "".join(numbers.contract) == contract
    assert "".join(numbers.customer) == customer


def test_sepa_fields_are_told_apart_in_every_style():
    for text in (
        "EREF+E1 MREF+M-77 CRED+DE11ZZZ00000012345 SVWZ+Beitrag",
        "EREF+E1MREF+M-7 7CRED+DE11ZZZ000000 12345SVWZ+BEITRAG",
        "Beitrag End-to-End-Ref.: E1 CORE / Mandatsref.: M-77 Gläubiger-ID: DE11ZZZ00000012345",
        "Beitrag EREF: E1 MREF: M-77 CRED: DE11ZZZ00000012345",
        "Beitrag Mandat: M-77 Einreicher-ID: DE11ZZZ00000012345",
    ):
        squeezed = squeeze_text(text)
        assert read_mandate(squeezed) == "M-77", text
        assert read_creditor(squeezed) == "DE11ZZZ00000012345", text
        assert read_purpose(squeezed) == "BEITRAG", text


def test_scores_match_one_to_one_and_count_what_is_wrong():
    contract = find_one("ended")
    ids = frozenset(contract.transaction_ids)
    known = [
        KnownContract("a", ids, ids, "MONTH_ONE", Status.ACTIVE, date(2025, 1, 2)),
        KnownContract("b", ids, ids, "MONTH_ONE", Status.ACTIVE),
    ]
    scores = score_contracts([contract], known, frozenset({"elsewhere", contract.transaction_ids[0]}))
    assert (scores.known, scores.found, scores.hits) == (2, 1, 1)
    assert scores.f1 == pytest.approx(2 / 3)
    assert (scores.period_accuracy, scores.status_accuracy, scores.next_exact) == (1.0, 0.0, 0.0)
    assert scores.purchases_share == 0.5
    doubled = scores + scores
    assert (doubled.known, doubled.hits) == (4, 2)


def test_half_of_the_transactions_is_a_hit_and_less_is_none():
    contract = find_one("ended")
    half = frozenset(contract.transaction_ids[:6])
    less = frozenset(contract.transaction_ids[:5])
    for ids, hits in ((half, 1), (less, 0)):
        known = [KnownContract("a", ids, ids, "MONTH_ONE", Status.INACTIVE)]
        assert score_contracts([contract], known, frozenset()).hits == hits
