"""Contracts, cashflow and disposable money: the pages tell what the API tells, and nothing that it does not."""

import html
import re
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from banking import href, new_customer
from console_site import text_of
from kontor.console.cashflows import drop_empty_start, list_spans, read_flows
from kontor.console.contracts import read_contract, sum_contracts
from kontor.console.due_dates import find_usual_day, list_due_days, list_dues, make_calendar
from kontor.console.plan_reasons import word_reason
from kontor.console.rendering import load_texts
from kontor.console.views.cashflow import Choice, draw_parts, list_lines
from kontor.console.views.contracts import select_contracts
from kontor.console.waterfalls import Step, draw_waterfall
from kontor.pages.formatting import BERLIN, format_amount

CONTRACTS, CASHFLOW = "/customer/v2/ai/contracts", "/customer/v2/ai/cashflow"
EVIL = "<b>Fitness</b>"


def contract(*, amount="-20.00", first="-20.00", period="MONTH_ONE", next_day="2026-12-01", paid=(), **facts):
    """As the API tells it."""
    item = {"systemName": "X", "displayName": "x"}
    details = {
        "amountFirst": Decimal(first), "amountLatest": Decimal(amount), "amountNext": Decimal(amount),
        "costDevelopmentRegular": {day: Decimal(amount) for day in paid}, "status": "ACTIVE", "dateNext": next_day,
        "confidenceLevel": Decimal("0.97"), "counterpartyName": "Somebody",
    }  # fmt: skip
    return read_contract({
        "id": facts.pop("id", "1"),
        "tagTreeItemCategory": {"systemName": facts.pop("category", "BILLS_MOBILE"), "displayName": "Mobilfunk"},
        "tagTreeItemInsuranceType": {"systemName": "UNRELATED_OTHER", "displayName": "Keine Versicherung"},
        "tagTreeItemBusinessPartner": item | {"systemName": "UNKNOWN"},
        "tagTreeItemPeriod": {"systemName": period, "displayName": period},
        "details": details | facts,
    })  # fmt: skip


@pytest.fixture(scope="module")
def api(console_site):
    """What the same user gets from the API itself."""
    return console_site.rich


@pytest.fixture(scope="module")
def untrusted(console_site):
    """A user whose partner's name is markup: five monthly payments, and no salary."""
    customer = new_customer(console_site.regulated)
    product = customer.products(customer.add_complete("leer"))[0]
    month = find_today().replace(day=1)
    rows = []
    for number in range(5):
        month = (month - timedelta(days=1)).replace(day=1)
        rows.append({
            "identifier": {"batchId": "one", "id": str(number)}, "betrag": -19.99, "buchungsdatum": str(month),
            "gegenkontoInhaber": EVIL, "gegenkontoIban": "DE89370400440532013000",
            "verwendungszweck": "Beitrag <i>monatlich</i>", "gvCode": "105", "buchungstext": "FOLGELASTSCHRIFT",
        })  # fmt: skip
    answer = customer.post(href(product, "get_kontoumsaetze"), rows)
    assert answer.status_code == 201, answer.text
    return customer


@pytest.fixture(scope="module")
def overdrawn(console_site):
    """A user who spent more than the latest salary on the day after it."""
    customer = new_customer(console_site.regulated)
    product = customer.products(customer.add_complete("leer"))[0]
    latest = find_today() - timedelta(days=8)
    payer = {"gegenkontoInhaber": "Beispiel Werke GmbH", "gegenkontoIban": "DE89370400440532013000"}
    rows = [
        payer | {
            "identifier": {"batchId": "one", "id": str(number)}, "betrag": 2000, "gvCode": "153",
            "buchungsdatum": str(latest - timedelta(days=round(number * 30.44))), "buchungstext": "LOHN GEHALT",
            "verwendungszweck": "Lohn/Gehalt",
        }
        for number in range(8)
    ]  # fmt: skip
    rows.append({
        "identifier": {"batchId": "one", "id": "car"}, "betrag": -2600, "buchungsdatum": str(latest + timedelta(1)),
        "gegenkontoInhaber": "Autohaus Beispiel", "verwendungszweck": "Rechnung 4711", "gvCode": "177",
    })  # fmt: skip
    answer = customer.post(href(product, "get_kontoumsaetze"), rows)
    assert answer.status_code == 201, answer.text
    return customer


def find_today():
    return datetime.now(BERLIN).date()


def euros(value):
    return format_amount(Decimal(str(value)), "EUR", "de")


# Values


def test_costs_of_all_periods_add_up_to_a_month_and_ended_contracts_do_not_count():
    totals = sum_contracts([
        contract(amount="-30"),
        contract(amount="-120", period="YEAR_ONE"),
        contract(amount="-50", category="SAVINGS_ACCOUNT"),
        contract(amount="2000", first="1900", category="INCOME_SALARY"),
        contract(amount="-999", status="INACTIVE"),
    ])  # fmt: skip
    assert (totals.monthly_costs, totals.yearly_costs, totals.monthly_savings) == (90, 1080, 50)
    assert (totals.monthly_income, totals.count, totals.income_count) == (2000, 4, 1)


def test_a_price_that_rises_is_a_rise_for_costs_and_for_income():
    assert contract(amount="-22", first="-20").price_change_share == Decimal("0.1")
    assert contract(amount="2200", first="2000").price_change == 200
    assert contract().price_change == 0


def test_price_changes_are_told_once_each_and_the_latest_first():
    subscription = contract(
        costDevelopmentRegular={"2026-01-01": -9, "2026-02-01": -9, "2026-03-01": -10, "2026-04-01": -12}
    )
    assert [(change.day.month, change.before, change.after) for change in subscription.list_price_changes()] == [
        (4, 10, 12),
        (3, 9, 10),
    ]


def test_due_days_follow_the_usual_day_and_avoid_days_on_which_banks_are_closed():
    paid = ["2026-08-03", "2026-09-01", "2026-10-01", "2026-11-02"]
    days = list_due_days(contract(paid=paid), date(2027, 3, 31))
    assert days == [date(2026, 12, 1), date(2027, 1, 4), date(2027, 2, 1), date(2027, 3, 1)]


def test_a_salary_at_the_end_of_the_month_comes_before_the_weekend():
    paid = ["2026-08-31", "2026-09-30", "2026-10-30"]
    salary = contract(amount="2000", next_day="2026-11-30", paid=paid, category="INCOME_SALARY")
    assert list_due_days(salary, date(2027, 2, 28))[1:] == [date(2026, 12, 31), date(2027, 1, 29), date(2027, 2, 26)]


def test_weeks_quarters_and_unknown_periods():
    until = date(2027, 6, 30)
    assert len(list_due_days(contract(period="WEEK_FOUR"), until)) == 8
    assert [day.month for day in list_due_days(contract(period="MONTH_THREE"), until)] == [12, 3, 6]
    assert list_due_days(contract(period="IRREGULAR_UNKNOWN"), until) == [date(2026, 12, 1)]
    assert list_due_days(contract(next_day="2028-01-01", period="YEAR_ONE"), until) == []


def test_a_loan_is_not_due_after_its_last_instalment():
    loan = {"lastInstallmentEstimate": "2027-02-10", "confidenceLevel": Decimal("0.7")}
    assert [day.month for day in list_due_days(contract(loan=loan), date(2027, 12, 31))] == [12, 1, 2]


def test_closed_banks_do_not_hide_the_usual_day():
    days = [date(2026, 6, 15), date(2026, 7, 15), date(2026, 8, 17), date(2026, 9, 15)]
    assert find_usual_day(days, date(2026, 11, 16)) == 15
    assert find_usual_day([date(2026, 8, 31), date(2026, 9, 30)], date(2026, 11, 30)) == 31
    assert find_usual_day([], date(2026, 11, 7)) == 7


def test_the_calendar_has_twelve_months_from_this_one_and_their_sums():
    mobile, salary = contract(id="a"), contract(id="b", amount="2000", next_day="2026-12-15")
    ended = contract(id="c", status="INACTIVE")
    calendar = make_calendar([salary, mobile, ended], date(2026, 11, 15))
    assert (calendar.months[0].first, calendar.months[-1].first) == (date(2026, 11, 1), date(2027, 10, 1))
    assert [listed.id for listed, _ in calendar.rows] == ["a", "b"]
    assert (calendar.months[0].costs, calendar.months[1].costs, calendar.months[1].income) == (0, -20, 2000)
    assert all(len(cells) == 12 for _, cells in calendar.rows)


def test_only_what_is_due_after_today_is_still_to_come():
    subscription = contract(next_day="2026-11-20")
    assert [due.day for due in list_dues([subscription], date(2026, 11, 15), date(2026, 11, 29))] == [
        date(2026, 11, 20)
    ]
    assert list_dues([subscription], date(2026, 11, 20), date(2026, 11, 29)) == []


def test_contracts_are_chosen_by_kind_and_ended_ones_only_when_asked_for():
    cost, income = contract(id="a"), contract(id="b", amount="10")
    ended = contract(id="c", status="INACTIVE")
    contracts = [cost, income, ended]
    found = {
        kind: [chosen.id for chosen in select_contracts(contracts, kind)]
        for kind in ("all", "costs", "income", "ended")
    }
    assert found == {"all": ["a", "b"], "costs": ["a"], "income": ["b"], "ended": ["c"]}


def test_spans_are_named_as_the_api_names_them():
    today = date(2026, 2, 3)
    assert [span.name for span in list_spans("month", 3, today, "de")] == ["2025_M12", "2026_M01", "2026_M02"]
    assert [span.name for span in list_spans("quarter", 3, today, "de")] == ["2025_Q3", "2025_Q4", "2026_Q1"]
    assert [(span.name, span.is_current) for span in list_spans("year", 2, today, "en")] == [
        ("2025_Y", False), ("2026_Y", True),
    ]  # fmt: skip


def flow(name, parent=None, **booked):
    statistics = [{"cashflow": amount, "tagTreeItem": {"systemName": span[1:]}} for span, amount in booked.items()]
    item = {"systemName": name, "displayName": name.title()} | ({"systemNameParent": parent} if parent else {})
    return {"tagTreeItem": item, "details": {"statistics": statistics, "predictions": []}}


def test_months_before_the_first_booking_are_left_out():
    spans = list_spans("month", 4, date(2026, 11, 15), "de")
    net = read_flows([flow("NET", "AGGREGATE", _2026_M10=Decimal(5))])[0]
    assert [span.name for span in drop_empty_start(spans, net)] == ["2026_M10", "2026_M11"]


def test_lines_begin_with_income_and_open_into_their_parts():
    spans = list_spans("month", 1, date(2026, 11, 15), "de")
    answer = [
        flow("INCOME", "AGGREGATE", _2026_M11=Decimal(9)), flow("LIVING", _2026_M11=Decimal(-3)),
        flow("HOUSING", _2026_M11=Decimal(-7)), flow("INCOME", _2026_M11=Decimal(9)), flow("TRAVEL", _2025_M01=-1),
    ]  # fmt: skip
    choice = Choice("month", "12", "categories", "with", None)
    lines = list_lines(read_flows(answer), spans, choice, load_texts()["de"])
    assert [line.name for line in lines] == ["INCOME", "HOUSING", "LIVING"]
    assert lines[1].link is not None
    assert lines[1].link["of"] == "HOUSING"
    chart = draw_parts(load_texts()["de"], lines, spans)
    assert chart is not None
    assert [(series.name, list(series.values)) for series in chart.series] == [("Housing", [7]), ("Living", [3])]


def test_a_waterfall_falls_from_step_to_step():
    bars = draw_waterfall([Step("a", Decimal(200), "start"), Step("b", Decimal(-150)), Step("c", Decimal(50), "end")])
    assert [(bar.x, bar.width, bar.colour) for bar in bars.bars] == [
        (0, 100, "income"), (25, 75, "expense"), (0, 25, "balance"),
    ]  # fmt: skip
    assert bars.zero == 0


def test_a_waterfall_that_ends_below_nothing_shows_where_nothing_is():
    found = draw_waterfall(
        [Step("a", Decimal(100), "start"), Step("b", Decimal(-200)), Step("c", Decimal(-100), "end")]
    )
    assert found.zero == 50
    assert [(bar.x, bar.width) for bar in found.bars] == [(50, 50), (0, 100), (0, 50)]
    assert found.bars[-1].colour == "expense"


def test_a_waterfall_of_nothing_stays_in_the_picture():
    bars = draw_waterfall([Step("a", Decimal(0), "start"), Step("b", Decimal(0), "end")]).bars
    assert all(bar.x >= 0 and bar.x + bar.width <= 100 for bar in bars)


def test_evidence_is_told_in_the_pages_language_and_unknown_evidence_as_it_is():
    german = load_texts()["de"]
    told = word_reason("37 regular payments from 2023-11-01 to 2026-11-02 are in step with MONTH_ONE", german)
    assert told.text == "37 regelmäßige Zahlungen vom 01.11.2023 bis 02.11.2026 folgen einem festen Abstand: monatlich."
    assert word_reason("Due on day 31 of the month, moved to the previous banking day", german).text.startswith(
        "Fällig am Letzten des Monats"
    )
    unknown = word_reason("Something new", german)
    assert (unknown.text, unknown.is_translated) == ("Something new", False)


@pytest.mark.parametrize("language", ["de", "en"])
def test_all_evidence_for_contracts_and_disposable_money_can_be_told(api, language):
    found = [reason for contract in api.read(f"{CONTRACTS}?explain=true") for reason in contract["details"]["evidence"]]
    found += api.read("/customer/v2/ai/disposable-money?explain=true").get("details", {}).get("evidence", [])
    texts = load_texts()[language]
    assert [reason["text"] for reason in found if not word_reason(reason["text"], texts).is_translated] == []


# Pages


def test_every_contract_of_the_api_is_listed_under_running_or_ended(visitor, api):
    ids = {contract["id"] for contract in api.read(CONTRACTS)}
    running = set(
        re.findall(r'<th scope="row"><a href="/console/contracts/([^"]+)">', visitor.get("/console/contracts").text)
    )
    ended = set(re.findall(r'/console/contracts/([0-9a-f-]{36})"', visitor.get("/console/contracts?show=ended").text))
    assert len(ids) > 10
    assert running | ended == ids


def test_the_choice_of_insurances_is_the_apis(visitor, api):
    insurances = {
        contract["id"]
        for contract in api.read(f"{CONTRACTS}?insuranceOnly=true")
        if contract["details"]["status"] != "INACTIVE"
    }
    page = visitor.get("/console/contracts?show=insurance").text
    table = page.partition('<table class="contracts">')[2].partition("</table>")[0]
    assert set(re.findall(r"/console/contracts/([0-9a-f-]{36})", table)) == insurances
    assert "insuranceOnly=true" in page


@pytest.mark.parametrize("sort", ["due", "amount", "name", "change"])
def test_contracts_can_be_sorted(visitor, sort):
    page = visitor.get(f"/console/contracts?sort={sort}")
    assert f'<option value="{sort}" selected>' in page.text


def test_a_contract_tells_its_price_its_numbers_its_bookings_and_why(visitor, api):
    known = [contract for contract in api.read(f"{CONTRACTS}?explain=true") if contract["details"]["counterpartyIban"]]
    found = max(known, key=lambda contract: len(contract["details"]["transactionIds"]))
    details = found["details"]
    page = text_of(visitor.get(f"/console/contracts/{found['id']}"))
    assert euros(details["amountLatest"]) in page
    assert all(number in page for number in details["contractNumbers"] + details["customerNumbers"])
    assert 'id="table-development"' in page
    shown = re.search(r"(\d+) von (\d+) Buchungen", page)
    assert shown is not None
    assert int(shown[2]) == len(details["transactionIds"])
    assert 0 < int(shown[1]) <= int(shown[2])
    assert page.count("<li ") + page.count("<li>") >= len(details["evidence"])


def test_nobodys_contract_and_another_users_contract_are_not_found(visitor, untrusted):
    others = untrusted.read(CONTRACTS)[0]["id"]
    for number in (others, "00000000-0000-0000-0000-000000000000", "..%2f..", "%3Cb%3E"):
        answer = visitor.get(f"/console/contracts/{number}")
        assert answer.status_code == 404
        assert EVIL not in answer.text


@pytest.mark.parametrize(
    "address",
    ["contracts?show=some", "contracts?sort=x", "cashflow?by=week", "cashflow?span=99", "cashflow?savings=maybe",
     "cashflow?tag=x", "cashflow?of=NOTHING", "cashflow?of=NET", "cashflow?month=2026-13", "cashflow?month=2999-01",
     "cashflow?month=1969-12"],
)  # fmt: skip
def test_a_query_that_no_page_makes_is_refused(visitor, address):
    assert visitor.get(f"/console/{address}").status_code == 400


def test_cashflow_shows_the_apis_sums_and_expectations(visitor, api):
    page = text_of(visitor.get("/console/cashflow"))
    net = next(flow for flow in api.read(f"{CASHFLOW}?catLevel=main") if flow["tagTreeItem"]["systemName"] == "NET")
    assert len(net["details"]["predictions"]) == 2
    for expected in net["details"]["predictions"]:
        for value in ("cashflow", "lower", "upper"):
            assert euros(expected[value]) in page
    recent = {
        statistic["tagTreeItem"]["systemName"]: statistic["cashflow"] for statistic in net["details"]["statistics"]
    }
    last = (find_today().replace(day=1) - timedelta(days=1)).strftime("%Y_M%m")
    assert euros(recent[last]) in page


def test_a_month_of_the_cashflow_shows_its_sums_alone_and_leads_to_the_months_beside_it(visitor, api):
    flows = {flow["tagTreeItem"]["systemName"]: flow["details"]["statistics"]
             for flow in api.read(f"{CASHFLOW}?catLevel=main")}  # fmt: skip
    current = find_today().replace(day=1)
    last = (current - timedelta(days=1)).replace(day=1)
    before = (last - timedelta(days=1)).replace(day=1)
    page = visitor.get(f"/console/cashflow?month={last:%Y-%m}").text
    for name in ("INCOME", "EXPENSES", "NET"):
        [amount] = [
            found["cashflow"] for found in flows[name] if found["tagTreeItem"]["systemName"] == f"{last:%Y_M%m}"
        ]
        assert euros(amount) in html.unescape(page).replace("\N{NO-BREAK SPACE}", " "), name
    assert re.search(f'rel="prev" href="[^"]*month={before:%Y-%m}', page)
    assert re.search(f'rel="next" href="[^"]*month={current:%Y-%m}', page)
    assert 'rel="next"' not in visitor.get(f"/console/cashflow?month={current:%Y-%m}").text
    first = min(
        found["tagTreeItem"]["systemName"] for found in flows["NET"] if "_M" in found["tagTreeItem"]["systemName"]
    )
    assert 'rel="prev"' not in visitor.get(f"/console/cashflow?month={first.replace('_M', '-')}").text
    assert page.count('<th scope="col"') == 2


def test_a_main_category_opens_into_its_subcategories(visitor, api):
    names = [flow["tagTreeItem"]["displayName"] for flow in api.read(CASHFLOW)
             if flow["tagTreeItem"].get("systemNameParent") == "HOUSING"]  # fmt: skip
    matrix = text_of(visitor.get("/console/cashflow?of=HOUSING&by=year")).partition('id="matrix"')[2]
    assert [name for name in names if name not in matrix] == []
    assert "Lebenshaltung" not in matrix


def test_cashflow_by_partner_and_without_savings_asks_the_api_so(visitor):
    page = text_of(visitor.get("/console/cashflow?tag=partners&savings=without&by=quarter&span=24"))
    assert f"GET</span> <code>{CASHFLOW}?tag=BUSINESS_PARTNERS&excludeSavings=true" in page
    assert f"{CASHFLOW}?catLevel=main&excludeSavings=true" in page
    assert "weitere" in page.partition('id="matrix"')[2]


def test_disposable_money_says_in_one_sentence_what_is_left(visitor, api):
    details = api.read("/customer/v2/ai/disposable-money").get("details")
    page = text_of(visitor.get("/console/disposable")).replace("\N{NO-BREAK SPACE}", " ")
    if details is None:  # on some days no salary is expected
        assert "Noch kein regelmäßiges Gehalt" in page
        return
    sentence = page.partition('id="sentence">')[2].partition("</p>")[0]
    assert euros(abs(details["amountExpectedLeft"])) in sentence
    assert date.fromisoformat(details["dateSalaryNext"]).strftime("%d.%m.%Y") in sentence
    table = page.partition('id="table-waterfall"')[2].partition("</table>")[0]
    steps = ("amountSalaryLatest", "amountCashflow", "amountCurrentlyLeft", "amountExpectedFixedCashflow",
             "amountExpectedFlexCashflow", "amountExpectedLeft")  # fmt: skip
    assert re.findall(r'class="amount"[^>]*>([^<]+)</td>', table) == [euros(details[step]) for step in steps]


def test_who_spent_more_than_came_in_sees_where_nothing_is_left(console_site, overdrawn):
    assert overdrawn.read("/customer/v2/ai/disposable-money")["details"]["amountCurrentlyLeft"] == -600
    with console_site.visit(overdrawn) as visitor:
        page = text_of(visitor.get("/console/disposable"))
    assert page.count('class="fall-zero"') == 6
    assert euros(-600) in page


def test_a_new_user_is_told_kindly_that_there_is_nothing_yet(console_site):
    with console_site.visit(new_customer(console_site.regulated)) as visitor:
        assert "Noch wurden keine Verträge erkannt" in visitor.get("/console/contracts").text
        assert "Es gibt noch keine Umsätze" in visitor.get("/console/cashflow").text
        page = visitor.get("/console/disposable").text
        assert "Noch kein regelmäßiges Gehalt" in page
        assert "Verbinden Sie das Konto" in page


def test_texts_of_banks_stay_texts_and_who_has_no_salary_is_sent_to_the_contracts(console_site, untrusted):
    number = untrusted.read(CONTRACTS)[0]["id"]
    with console_site.visit(untrusted) as visitor:
        for address in ("contracts", f"contracts/{number}", "cashflow", "cashflow?tag=partners", "disposable"):
            page = visitor.get(f"/console/{address}")
            assert page.status_code == 200, page.text
            assert EVIL not in page.text
            assert "<i>monatlich" not in page.text
        assert html.escape(EVIL) in visitor.get("/console/contracts").text
        assert "finden Sie unter „Verträge“" in visitor.get("/console/disposable").text


def test_the_pages_are_in_english_for_who_reads_english(visitor):
    for address, title in (
        ("contracts", "Contracts"),
        ("cashflow", "Income and spending"),
        ("disposable", "Disposable money"),
    ):
        page = visitor.get(f"/console/{address}", headers={"Accept-Language": "en"})
        assert f"<h1>{title}</h1>" in page.text


def test_a_single_payment_is_told_in_the_singular():
    sentence = "1 payments of contracts are due before the next salary: -28.99 on 2026-11-23"
    texts = load_texts()
    assert word_reason(sentence, texts["de"]).text.startswith("1 Zahlung aus einem Vertrag ist")
    assert word_reason(sentence, texts["en"]).text.startswith("1 payment of a contract is")
