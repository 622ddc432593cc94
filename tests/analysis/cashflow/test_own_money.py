"""Money between accounts of one holder: neither income nor expense, and saving is shown as saving."""

from datetime import date
from decimal import Decimal

from kontor.analysis.cashflow import Options, TaggedBy, find_cashflow
from kontor.analysis.contracts import find_contracts
from kontor.analysis.records import Account, Record
from kontor.domain.products import ProductCategory

TODAY = date(2026, 11, 15)
HOLDER, OWN_IBAN = "Anna Muster", "DE02120300000000202051"
ACCOUNTS = [
    Account("main", holder=HOLDER, iban=OWN_IBAN, data_until=TODAY),
    Account("card", ProductCategory.CREDIT_CARD, holder=HOLDER, data_until=TODAY),
]


def read_sums(records: list[Record], options: Options | None = None) -> dict[str, Decimal]:
    flows = find_cashflow(records, [], ACCOUNTS, TODAY, options or Options())
    return {flow.item: flow.statistics[0].amount for flow in flows}


def book(number: str, amount: str, category: str, name: str = "", account: str = "main", **more: str) -> Record:
    return Record(number, account, date(2026, 10, 5), Decimal(amount), category, counterparty_name=name, **more)


def test_money_into_a_savings_account_of_the_same_holder_is_its_own_line_and_no_expense():
    records = [
        book("pay", "2000.00", "INCOME_SALARY", "Werk GmbH"),
        book("food", "-300.00", "LIVING_GROCERIES"),
        book("save", "-250.00", "SAVINGS_ACCOUNT", "MUSTER, ANNA", purpose="Sparen Tagesgeld"),
    ]
    sums = read_sums(records)
    assert sums["SAVINGS_ACCOUNT"] == Decimal("-250.00")
    assert (sums["INCOME"], sums["EXPENSES"], sums["NET"]) == (Decimal(2000), Decimal(-300), Decimal(1700))


def test_home_savings_at_an_own_account_are_saved_and_a_savings_plan_at_a_broker_is_an_expense():
    records = [
        book("own", "-40.00", "SAVINGS_LIFEBUILDING", counterparty_iban=OWN_IBAN),
        book("plan", "-100.00", "SAVINGS_SECURITIES", "Broker AG"),
    ]
    sums = read_sums(records)
    assert (sums["SAVINGS_LIFEBUILDING"], sums["EXPENSES"]) == (Decimal("-40.00"), Decimal("-100.00"))


def test_what_goes_to_the_same_holder_elsewhere_is_in_no_line_and_no_sum_whatever_its_category():
    records = [
        book("out", "-500.00", "OTHER_SPENDING", HOLDER),
        book("in", "500.00", "OTHER_INCOME", counterparty_iban=OWN_IBAN),
        book("food", "-1.00", "LIVING_GROCERIES"),
    ]
    assert read_sums(records).keys() & {"OTHER_SPENDING", "OTHER_INCOME"} == set()
    assert read_sums(records)["EXPENSES"] == Decimal("-1.00")


def test_the_settlement_of_a_connected_card_is_not_counted_beside_its_purchases():
    settled = {"purpose": "Kreditkartenabrechnung 10/2026"}
    records = [
        book("shop", "-80.00", "SHOPPING_OTHER", account="card"),
        book("paid", "-80.00", "BANKFINANCE_TRANSFER", "Kartenservice", **settled),
        book("came", "80.00", "BANKFINANCE_TRANSFER", "Kartenservice", account="card", **settled),
    ]
    sums = read_sums(records)
    assert sums["EXPENSES"] == Decimal("-80.00")
    assert "BANKFINANCE_TRANSFER" not in sums


def test_a_credit_balance_that_a_connected_card_pays_back_is_neither_income_nor_expense():
    settled = {"purpose": "Kreditkartenabrechnung 10/2026"}
    records = [
        book("back", "20.00", "INCOME_OTHER", account="card"),
        book("paid", "-20.00", "BANKFINANCE_TRANSFER", "Kartenservice", account="card", **settled),
        book("came", "20.00", "BANKFINANCE_TRANSFER", "Kartenservice", **settled),
    ]
    sums = read_sums(records)
    assert (sums["INCOME"], sums["EXPENSES"]) == (Decimal("20.00"), Decimal("0.00"))


def test_interest_that_is_booked_with_the_holders_name_is_income():
    assert read_sums([book("interest", "3.10", "INCOME_INVESTMENT", HOLDER)])["INCOME"] == Decimal("3.10")


def test_a_contract_that_saves_is_predicted_in_its_line_and_in_no_sum():
    days = [date(2026, month, 2) for month in range(1, 12)]
    saving = [
        Record(f"s{day}", "main", day, Decimal(-250), "SAVINGS_ACCOUNT", counterparty_name=HOLDER, gv_code="117")
        for day in days
    ]
    food = [Record(f"f{day}", "main", day, Decimal(-30), "LIVING_GROCERIES") for day in days]
    records = [*saving, *food]
    flows = find_cashflow(records, find_contracts(records, ACCOUNTS, TODAY), ACCOUNTS, TODAY)
    following = {flow.item: flow.predictions[-1].amount for flow in flows if flow.predictions}
    assert following["SAVINGS_ACCOUNT"] == Decimal("-250.00")
    assert following["EXPENSES"] == Decimal("-30.00")


def test_sums_by_partner_leave_out_the_same_transfers():
    records = [
        book("out", "-500.00", "OTHER_SPENDING", HOLDER),
        book("food", "-1.00", "LIVING_GROCERIES", partner="REWE"),
    ]
    assert read_sums(records, Options(tagged_by=TaggedBy.BUSINESS_PARTNERS)) == {"REWE": Decimal("-1.00")}
