"""The outlook of the first page: every balance is the sum of the rows that are shown."""

import html
import re
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from banking import new_customer
from console_site import money
from kontor.console.accesses import read_product
from kontor.console.balance_curves import draw_curve, list_ticks
from kontor.console.cashflows import read_flows
from kontor.console.contracts import read_contract
from kontor.console.outlooks import make_outlook
from kontor.pages.formatting import BERLIN

TODAY = date(2026, 11, 18)
NOT_INSURED = {"systemName": "UNRELATED_OTHER", "displayName": ""}
UNKNOWN = {"systemName": "UNKNOWN", "displayName": ""}


def contract(name, amount, day, category="BILLS_MOBILE"):
    details = {
        "amountFirst": amount, "amountLatest": amount, "amountNext": amount, "costDevelopmentRegular": {},
        "status": "ACTIVE", "dateNext": day, "confidenceLevel": 1, "counterpartyName": name,
    }  # fmt: skip
    return read_contract({
        "id": name, "tagTreeItemCategory": {"systemName": category, "displayName": category},
        "tagTreeItemInsuranceType": NOT_INSURED, "tagTreeItemBusinessPartner": UNKNOWN,
        "tagTreeItemPeriod": {"systemName": "MONTH_ONE", "displayName": ""}, "details": details,
    })  # fmt: skip


def product(balance, kind="GIROKONTO", **facts):
    return read_product("bank", {"id": kind, "kategorie": kind, "saldo": balance} | facts)


def flow(name, booked, expected):
    """An aggregate with what is booked in November, and what is expected of November and December."""
    months = zip(("2026_M11", "2026_M12"), expected, strict=True)
    return {
        "tagTreeItem": {"systemName": name, "displayName": name, "systemNameParent": "AGGREGATE"},
        "details": {
            "statistics": [{"cashflow": booked, "tagTreeItem": {"systemName": "2026_M11"}}],
            "predictions": [
                {"cashflow": amount, "lower": amount, "upper": amount, "tagTreeItem": {"systemName": month}}
                for month, amount in months
            ],
        },
    }


FLOWS = read_flows([flow("NET", 0, (0, 0)), flow("INCOME", 0, (3000, 3000)), flow("EXPENSES", -500, (-980, -930))])
CONTRACTS = [
    contract("employer", 1800, "2026-11-30", "INCOME_SALARY"),
    contract("partner's employer", 1200, "2026-11-30", "INCOME_SALARY"),
    contract("phone", -20, "2026-11-23"),
    contract("savings plan", -100, "2026-12-02", "SAVINGS_ACCOUNT"),
    contract("broker", -50, "2026-12-02", "BANKFINANCE_INVESTMENT"),
]
DISPOSABLE = {
    "dateSalaryNext": "2026-11-30",
    "amountExpectedFixedCashflow": Decimal(-20),
    "amountExpectedFlexCashflow": Decimal("-220.10"),
}
ACCOUNTS = [
    product(1000),
    product(-80, "KREDITKARTE"),
    product(9000, "TAGESGELDKONTO"),
    product(7, waehrung="USD"),
]


def look_ahead(*, disposable=DISPOSABLE, accounts=ACCOUNTS, contracts=CONTRACTS, flows=FLOWS):
    outlook = make_outlook(accounts, contracts, disposable, flows, TODAY)
    assert outlook is not None
    return outlook


# Values


def test_the_outlook_starts_with_everyday_accounts_in_euros():
    outlook = look_ahead()
    assert outlook.start == 920
    assert [account.kind for account in outlook.accounts] == ["GIROKONTO", "KREDITKARTE"]
    assert make_outlook([product(9000, "TAGESGELDKONTO")], CONTRACTS, DISPOSABLE, FLOWS, TODAY) is None


def test_all_incomes_are_listed_and_savings_stand_apart_from_costs():
    after = look_ahead().stretches[1]
    incomes = [row.contract.name for row in after.groups["income"] if row.contract and row.day == date(2026, 11, 30)]
    assert sorted(incomes) == ["employer", "partner's employer"]
    assert [row.contract.name for row in after.groups["savings"] if row.contract] == ["savings plan", "broker"]
    assert not any(row.contract and row.contract.name == "broker" for row in after.groups["costs"])


def test_every_stretch_ends_with_its_start_and_its_rows_and_the_curve_meets_it():
    outlook = look_ahead()
    before = outlook.start
    by_day = {point.day: point.balance for point in outlook.points}
    for stretch in outlook.stretches:
        assert stretch.start == before
        before += sum(row.amount for row in stretch.list_rows())
        assert stretch.end == before == by_day[stretch.last]
    assert [point.day for point in outlook.points] == [TODAY + timedelta(days=at) for at in range(44)]


def test_until_the_salary_the_usual_is_that_of_disposable_money_and_the_lowest_day_is_the_eve():
    outlook = look_ahead()
    first = outlook.stretches[0]
    assert (first.first, first.last) == (date(2026, 11, 19), date(2026, 11, 29))
    assert first.sum_group("usual") == Decimal("-220.10")
    assert (outlook.lowest.day, outlook.lowest.balance) == (date(2026, 11, 29), Decimal("679.90"))


def test_payments_that_the_api_expects_beyond_those_listed_are_a_row_of_their_own():
    late = DISPOSABLE | {"amountExpectedFixedCashflow": Decimal(-65)}
    [further] = [row for row in look_ahead(disposable=late).stretches[0].groups["costs"] if row.contract is None]
    assert (further.key, further.amount) == ("further", -45)


def test_without_a_salary_months_are_predicted_less_their_contracts():
    outlook = look_ahead(disposable=None)
    november, december = outlook.stretches
    assert (november.last, december.last) == (date(2026, 11, 30), date(2026, 12, 31))
    assert november.sum_group("usual") == -460  # 980 less 500 that are booked, less 20 for the phone
    assert december.sum_group("usual") == -910
    assert outlook.payday == date(2026, 11, 30)


def test_a_salary_of_tomorrow_leaves_one_stretch():
    tomorrow = [contract("employer", 1800, "2026-11-19", "INCOME_SALARY")]
    soon = DISPOSABLE | {"dateSalaryNext": "2026-11-19", "amountExpectedFixedCashflow": Decimal(0)}
    outlook = look_ahead(disposable=soon, contracts=tomorrow)
    assert [stretch.first for stretch in outlook.stretches] == [date(2026, 11, 19)]
    assert outlook.before_payday[-1].day == TODAY


def test_while_little_is_known_the_outlook_says_so():
    outlook = look_ahead(disposable=None, flows=[])
    assert not outlook.has_usual
    assert all(not stretch.groups["usual"] for stretch in outlook.stretches)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (100, 900, [0, 200, 400, 600, 800, 1000]),
        (-250, 120, [-300, -200, -100, 0, 100, 200]),
        (0, 0, [0, 1]),
        (-7, -3, [-8, -6, -4, -2, 0]),
    ],
)
def test_the_axis_has_round_values_around_all_balances_and_zero(low, high, ticks):
    assert list_ticks(Decimal(low), Decimal(high)) == ticks


def test_the_curve_stays_inside_its_picture():
    curve = draw_curve(look_ahead(), "wide", 860, 300, 7)
    places = [tuple(map(float, place.split(","))) for place in curve.line.split()]
    assert all(0 <= x <= 860 and 0 <= y <= 300 for x, y in places)
    assert len(curve.markers) == len({due.day for due in look_ahead().points if due.rows})


# The page


def read_amounts(text):
    """German amounts, in their order."""
    found = re.findall(r"([−+]?)([\d.]+,\d\d)\s€", text)
    return [Decimal(f"{'-' if sign == '−' else ''}{value.replace('.', '').replace(',', '.')}") for sign, value in found]


def test_the_page_shows_the_curve_without_scripts_and_rows_that_add_up(visitor, console_site):
    page = html.unescape(visitor.get("/console").text)
    assert page.count('<svg class="curve') == 2
    parts = re.findall(r'<section class="card stretch">.*?</section>', page, re.DOTALL)
    assert parts
    for part in parts:
        start, *rest, end = read_amounts(part)
        sums = read_amounts(" ".join(re.findall(r"<summary>.*?</summary>", part, re.DOTALL)))
        rows = read_amounts(" ".join(re.findall(r"<tbody>.*?</tbody>", part, re.DOTALL)))
        assert start + sum(sums) == start + sum(rows) == end
        assert len(rest) == len(sums) + len(rows)


def test_the_page_starts_with_the_balances_of_the_api_and_names_every_income(visitor, console_site):
    page = html.unescape(visitor.get("/console").text)
    accesses = console_site.rich.read("/customer/v2/bankzugaenge")
    products = [each for access in accesses.values() for each in access["bankprodukte"]]
    everyday = sum(
        Decimal(str(each["saldo"])) for each in products if each["kategorie"] in ("GIROKONTO", "KREDITKARTE")
    )
    assert money(everyday) in page.partition('id="outlook"')[2].partition("</dl>")[0]
    contracts = console_site.rich.read("/customer/v2/ai/contracts")
    soon = str(datetime.now(BERLIN).date() + timedelta(days=28))
    incomes = [
        each["id"]
        for each in contracts
        if each["details"].get("amountNext", 0) > 0 and each["details"]["dateNext"] <= soon
    ]
    shown = re.findall(r'href="/console/contracts/([0-9a-f-]{36})"', page)
    assert len(incomes) > 1
    assert set(incomes) <= set(shown)


def test_who_has_no_account_is_asked_to_connect_one(console_site):
    with console_site.visit(new_customer(console_site.regulated)) as newcomer:
        page = newcomer.get("/console").text
    assert "Noch ist keine Bank verbunden." in page
    assert 'id="outlook"' not in page


@pytest.mark.parametrize(
    ("person", "sentence"),
    [("leer+outlook", "noch zu wenig bekannt"), ("rente+outlook", "bis zur nächsten Einnahme am")],
)
def test_who_has_no_salary_sees_an_outlook_as_well(console_site, person, sentence):
    customer = new_customer(console_site.regulated)
    customer.add_complete(person)
    with console_site.visit(customer) as browser:
        page = browser.get("/console")
    assert page.status_code == 200
    assert sentence.casefold() in page.text.casefold()
    assert page.text.count('<svg class="curve') == 2
    assert ("Ihr Geld reicht" in page.text) == person.startswith("rente")
