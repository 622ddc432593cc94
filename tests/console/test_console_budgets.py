"""Budgets in the console: what the API says about them, made, changed and deleted by forms."""

import html
import re
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from banking import new_customer
from console_site import money, read_token
from kontor.console.budgets import find_transactions, list_parts, name_overlaps, propose_budgets
from kontor.console.cashflows import read_flows
from kontor.pages.formatting import BERLIN

PAGE, BUDGETS = "/console/budgets", "/customer/v2/budgets"
FOOD = {"name": "Essen", "category": ["LIVING_GROCERIES"], "amount": "400,50", "begin": "", "carries_over": "yes"}


@pytest.fixture
def customer(console_site):
    return new_customer(console_site.regulated)


@pytest.fixture
def browser(console_site, customer):
    with console_site.visit(customer) as browser:
        yield browser


@pytest.fixture(scope="module")
def spender(console_site):
    """Somebody with three years of bookings, and no budget yet."""
    customer = new_customer(console_site.regulated)
    customer.add_complete("hauskauf+budgets")
    return customer


def find_today():
    return datetime.now(BERLIN).date()


def send(browser, page=f"{PAGE}/new", action="save", **fields):
    token = read_token(browser.get(page).text)
    begin = fields.get("begin") or f"{find_today():%Y-%m}"
    return browser.post(page, data=FOOD | fields | {"action": action, "token": token, "begin": begin})


def text_of(answer):
    return html.unescape(answer.text)


# Values


def flow(name, parent=None, **booked):
    statistics = [{"cashflow": amount, "tagTreeItem": {"systemName": span[1:]}} for span, amount in booked.items()]
    item = {"systemName": name, "displayName": name.title()} | ({"systemNameParent": parent} if parent else {})
    return {"tagTreeItem": item, "details": {"statistics": statistics, "predictions": []}}


def test_proposals_are_averages_of_whole_months_rounded_up_and_leave_out_what_is_fixed():
    flows = read_flows([
        flow("LIVING", _2026_M08=-100, _2026_M09=-110, _2026_M10=-123, _2026_M11=-999),
        flow("HOUSING", _2026_M08=-800, _2026_M09=-800, _2026_M10=-800),
        flow("INCOME", "AGGREGATE", _2026_M09=900, _2026_M10=900),
        flow("TRAVEL", _2026_M10=-900),
    ])  # fmt: skip
    months, [living] = propose_budgets(flows, date(2026, 11, 18), "de")
    assert [month.name for month in months] == ["2026_M08", "2026_M09", "2026_M10"]
    assert (living.category, living.average, living.amount) == ("LIVING", 111, 120)


def test_parts_have_amounts_only_where_they_add_up_to_the_budget():
    flows = read_flows(
        [flow("LIVING_GROCERIES", "LIVING", _2026_M11=-50), flow("LIVING_OTHER", "LIVING", _2026_M11=-7)]
    )
    month = date(2026, 11, 1)
    [living] = list_parts(["LIVING"], Decimal(57), {"LIVING": "Leben"}, flows, month)
    assert (living.name, living.spent) == ("Leben", 57)
    overlapping = list_parts(["LIVING", "LIVING_OTHER"], Decimal(57), {}, flows, month)
    assert [part.spent for part in overlapping] == [None, None]


def test_a_category_leads_to_its_transactions_of_the_month():
    assert find_transactions("LIVING", date(2026, 2, 1)) == (
        "/console/transactions?category=LIVING&from=2026-02-01&to=2026-02-28"
    )


def test_a_main_category_overlaps_with_those_below_it_and_not_with_its_own_budget():
    budgets = [{"id": "a", "name": "Essen", "kategorien": ["LIVING_GROCERIES"]}]
    assert name_overlaps(["LIVING", "HOUSING"], budgets, None) == [("LIVING", "Essen")]
    assert name_overlaps(["LIVING"], budgets, "a") == []


# Pages


def test_a_budget_is_made_changed_and_deleted(browser, customer):
    assert send(browser).headers["location"] == f"{PAGE}?notice=budget_saved"
    [made] = customer.read(BUDGETS)
    assert (made["name"], made["kategorien"], made["betrag"]) == ("Essen", ["LIVING_GROCERIES"], 400.5)
    assert made["uebertrag"] is True
    page = f"{PAGE}/{made['id']}"
    shown = browser.get(page).text
    assert 'value="400,50"' in shown
    assert re.search(r'value="LIVING_GROCERIES" checked', shown)
    both = ["LIVING_GROCERIES", "LIVING_DRUGSTORE"]
    assert send(browser, page, name="Alles zum Essen", category=both, amount="450", carries_over="").status_code == 303
    [changed] = customer.read(BUDGETS)
    assert (changed["id"], changed["name"], changed["betrag"]) == (made["id"], "Alles zum Essen", 450)
    assert changed["kategorien"] == both
    assert changed["uebertrag"] is False
    assert 'id="delete-now"' in browser.get(f"{page}?delete=yes").text
    assert send(browser, page, action="delete").headers["location"] == f"{PAGE}?notice=budget_deleted"
    assert customer.read(BUDGETS) == []


def test_a_category_of_another_budget_is_refused_in_a_sentence_and_the_form_keeps_what_was_entered(browser, customer):
    assert send(browser).status_code == 303
    answer = send(browser, name="Leben", category=["LIVING"], amount="700")
    assert answer.status_code == 422
    page = text_of(answer)
    assert "„Lebenshaltung“ ist schon im Budget „Essen“. Eine Kategorie kann nur in einem Budget sein." in page
    assert 'value="Leben"' in page
    assert 'value="700"' in page
    assert len(customer.read(BUDGETS)) == 1


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": " "}, "Bitte geben Sie einen Namen"),
        ({"category": []}, "Bitte wählen Sie mindestens eine Kategorie."),
        ({"amount": "viel"}, "Bitte geben Sie einen Betrag über null ein"),
        ({"amount": "0"}, "Bitte geben Sie einen Betrag über null ein"),
        ({"category": ["NOTHING"]}, "Dieses Budget konnte nicht gespeichert werden."),
    ],
)
def test_what_cannot_be_a_budget_is_said_at_the_form(browser, customer, fields, sentence):
    answer = send(browser, **fields)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert customer.read(BUDGETS) == []


def test_own_categories_can_be_chosen_by_their_names(browser, customer):
    answer = customer.post("/customer/v2/ai/categories", {"displayName": "<Garten>", "basis": "HOUSING"})
    assert answer.status_code == 201, answer.text
    [own] = customer.read("/customer/v2/ai/categories")
    assert "&lt;Garten&gt;" in browser.get(f"{PAGE}/new").text
    assert send(browser, category=[own["systemName"]]).status_code == 303
    assert "<Garten>" not in browser.get(PAGE).text
    assert "&lt;Garten&gt;" in browser.get(PAGE).text


def test_the_budget_of_another_user_is_not_found_and_stays(browser, customer, console_site):
    assert send(browser).status_code == 303
    [made] = customer.read(BUDGETS)
    with console_site.visit(new_customer(console_site.regulated)) as stranger:
        assert stranger.get(f"{PAGE}/{made['id']}").status_code == 404
        token = read_token(stranger.get(f"{PAGE}/new").text)
        answer = stranger.post(f"{PAGE}/{made['id']}", data={"action": "delete", "token": token})
        assert answer.status_code == 303
    assert customer.read(BUDGETS) == [made]


def test_one_press_makes_the_proposed_budgets_and_the_page_shows_the_apis_figures(console_site, spender):
    with console_site.visit(spender) as browser:
        proposed = re.findall(r'name="category" value="([A-Z]+)" checked', browser.get(PAGE).text)
        assert "LIVING" in proposed
        token = read_token(browser.get(PAGE).text)
        for _ in range(2):  # pressed twice
            browser.post(PAGE, data={"action": "accept", "token": token, "category": proposed})
        budgets = spender.read(BUDGETS)
        assert sorted(budget["kategorien"][0] for budget in budgets) == sorted(proposed)
        last = find_today().replace(day=1) - timedelta(days=1)
        for query, monat in (("", f"{find_today():%Y-%m}"), (f"?month={last:%Y-%m}", f"{last:%Y-%m}")):
            page = text_of(browser.get(PAGE + query)).replace("\N{NO-BREAK SPACE}", " ")
            listed = spender.read(f"{BUDGETS}?monat={monat}")
            for budget in listed:
                card = page.partition(f'id="budget-{budget["id"]}"')[2].partition("</section>")[0]
                assert card.count(money(budget["ausgegeben"])) >= 2  # as the sum, and as its category
                assert money(abs(budget["verbleibend"])) in card
                assert f'data-status="{budget["status"]}"' in card
                assert f"category={budget['kategorien'][0]}&from={monat}-01" in card
            spent = sum(Decimal(str(budget["ausgegeben"])) for budget in listed)
            assert money(spent) in page.partition('<dl class="tiles">')[2].partition("</dl>")[0]


@pytest.mark.parametrize("month", ["2026-13", "x", "1999-01", "2999-01", "2026-1"])
def test_a_month_that_the_api_does_not_know_is_refused(browser, month):
    assert browser.get(f"{PAGE}?month={month}").status_code == 400


def test_the_page_is_in_english_for_who_reads_english(browser):
    assert send(browser).status_code == 303
    page = browser.get(PAGE, headers={"Accept-Language": "en"})
    assert "On track" in page.text
    assert "Groceries" in browser.get(f"{PAGE}/new", headers={"Accept-Language": "en"}).text
