"""Contracts to act on: names, periods of notice, letters, and what is no contract."""

import html
import re
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from banking import href, new_customer
from console_site import read_token, text_of
from kontor.console.contract_settings import list_periods, word_period
from kontor.console.contracts import read_contract
from kontor.console.rendering import load_texts
from kontor.console.typed_days import UnreadableDayError, read_typed_day
from kontor.pages.formatting import BERLIN

CONTRACTS = "/customer/v2/ai/contracts"


def make_contract(prices, *, period="MONTH_ONE", category="BILLS_MOBILE", partner="UNKNOWN", **details):
    """As the API tells it; `prices` are paid month after month."""
    paid = {str(date(2026, month, 1)): Decimal(str(price)) for month, price in enumerate(prices, start=1)}
    known = {
        "amountFirst": Decimal(str(prices[0])), "amountLatest": Decimal(str(prices[-1])), "status": "ACTIVE",
        "costDevelopmentRegular": paid, "confidenceLevel": Decimal(1), "counterpartyName": "",
    }  # fmt: skip
    return read_contract({
        "id": "1",
        "tagTreeItemCategory": {"systemName": category, "displayName": "Mobilfunk"},
        "tagTreeItemInsuranceType": {"systemName": "UNRELATED_OTHER", "displayName": "Keine Versicherung"},
        "tagTreeItemBusinessPartner": {"systemName": partner, "displayName": "Telekom"},
        "tagTreeItemPeriod": {"systemName": period, "displayName": period},
        "details": known | details,
    })  # fmt: skip


@pytest.fixture
def payer(console_site):
    """A user with one contract, for tests that change it."""
    customer = new_customer(console_site.regulated)
    product = customer.products(customer.add_complete("leer"))[0]
    month = datetime.now(BERLIN).date().replace(day=1)
    rows = []
    for number in range(8):
        rows.append({
            "identifier": {"batchId": "one", "id": str(number)}, "betrag": -24.99 if number < 2 else -19.99,
            "buchungsdatum": str(month), "gegenkontoInhaber": "Fitness Beispiel GmbH", "gvCode": "105",
            "gegenkontoIban": "DE89370400440532013000", "verwendungszweck": "Beitrag", "buchungstext": "LASTSCHRIFT",
        })  # fmt: skip
        month = (month - timedelta(days=1)).replace(day=1)
    answer = customer.post(href(product, "get_kontoumsaetze"), rows)
    assert answer.status_code == 201, answer.text
    return customer


def act(visitor, address, action, **fields):
    token = read_token(visitor.get(address).text)
    return visitor.post(address, data=fields | {"action": action, "token": token})


@pytest.mark.parametrize(
    ("prices", "marks"),
    [
        ([-10, -10, -12], [True]),
        ([-10, -11, -12], [False, False]),  # it varies
        ([-10, -10, "-10.20"], [False]),  # less than a euro
        ([-100, -100, -102], [False]),  # less than three percent
        ([-12, -12, -10], [False]),
        ([2000, 2000, 2200], [False]),  # income
    ],
)
def test_a_price_rise_is_one_of_a_steady_price_by_a_euro_and_three_percent(prices, marks):
    contract = make_contract(prices)
    assert [change.is_rise for change in contract.list_price_changes()] == marks


def test_what_is_paid_once_a_year_rises_from_one_time_to_the_next_and_savings_never():
    assert make_contract([-100, -110], period="YEAR_ONE").find_latest_rise() is not None
    assert make_contract([-100, -110]).find_latest_rise() is None
    assert make_contract([-50, -50, -80], category="SAVINGS_ACCOUNT").find_latest_rise() is None


def test_a_contract_is_called_by_its_own_name_its_partner_or_what_it_is_for_and_never_by_a_dash():
    assert make_contract([-1], name="Handy", partner="TELEKOM").title == "Handy"
    assert make_contract([-1], partner="TELEKOM").title == "Telekom"
    assert make_contract([-1], counterpartyName="Somebody").title == "Somebody"
    assert make_contract([-1], counterpartyName="–").title == "Mobilfunk"
    assert make_contract([-1]).title == "Mobilfunk"


def test_periods_of_notice_are_told_in_words_and_other_ones_than_ours_are_kept():
    german, english = load_texts()["de"], load_texts()["en"]
    assert word_period("P1Y6M", german) == "1 Jahr 6 Monate"
    assert word_period("P2W", english) == "2 weeks"
    assert list_periods("P10D")[0] == "P10D"
    assert list_periods("P3M").count("P3M") == 1


def test_a_day_is_read_as_browsers_send_it_and_as_people_type_it():
    assert read_typed_day("2027-12-31") == read_typed_day(" 31.12.2027 ") == date(2027, 12, 31)
    assert read_typed_day("") is None
    with pytest.raises(UnreadableDayError):
        read_typed_day("next year")


def test_a_customer_names_a_contract_and_learns_its_last_day_of_notice(console_site, payer):
    contract = payer.read(CONTRACTS)[0]["id"]
    address = f"/console/contracts/{contract}"
    with console_site.visit(payer) as visitor:
        fields = {"name": "Studio <b>", "notice_period": "P3M", "minimum_term_end": "2031-12-31"}
        answer = act(visitor, address, "save", **fields)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{address}?notice=contract_saved")
        page = text_of(visitor.get(answer.headers["location"]))
        assert "Gespeichert." in page
        assert re.search(r"<dt>Kündigen bis</dt><dd>30\.09\.2031", page)
        assert "&lt;b&gt;" in visitor.get(address).text
        assert "kündigen bis 30.09.2031" in text_of(visitor.get("/console/contracts"))
        details = payer.read(CONTRACTS)[0]["details"]
        assert (details["name"], details["noticeDate"]) == ("Studio <b>", "2031-09-30")
        assert act(visitor, address, "save").status_code == 303  # nothing typed: as it was before
    details = payer.read(CONTRACTS)[0]["details"]
    assert not {"name", "noticePeriod", "noticeDate", "minimumTermEnd"} & set(details)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"minimum_term_end": "soon"}, "als Datum an"),
        ({"notice_period": "3 months"}, "nicht möglich"),
        ({"name": "x" * 101}, "nicht möglich"),
    ],
)
def test_wrong_fields_of_a_contract_are_told_and_what_was_typed_stays(console_site, payer, fields, words):
    contract = payer.read(CONTRACTS)[0]["id"]
    with console_site.visit(payer) as visitor:
        answer = act(visitor, f"/console/contracts/{contract}", "save", **({"name": "Mine"} | fields))
    assert answer.status_code == 422
    assert words in answer.text
    assert f'value="{fields.get("name", "Mine")}"' in answer.text
    assert "name" not in payer.read(CONTRACTS)[0]["details"]


def test_what_is_no_contract_is_hidden_and_can_be_brought_back(console_site, payer):
    contract = payer.read(CONTRACTS)[0]["id"]
    address = f"/console/contracts/{contract}"
    with console_site.visit(payer) as visitor:
        assert "show=hidden" not in visitor.get("/console/contracts").text
        answer = act(visitor, address, "hide")
        assert answer.headers["location"] == "/console/contracts?show=hidden&notice=contract_hidden"
        page = text_of(visitor.get(answer.headers["location"]))
        assert "Hier holen Sie ihn zurück" in page
        assert address in page.partition('id="hidden"')[2]
        assert payer.read(CONTRACTS) == []
        assert "Sie haben diesen Vertrag ausgeblendet" in text_of(visitor.get(address))
        answer = act(visitor, "/console/contracts?show=hidden", "restore", contract=contract)
        assert answer.headers["location"] == "/console/contracts?notice=contract_restored"
        assert [found["id"] for found in payer.read(CONTRACTS)] == [contract]
        assert act(visitor, "/console/contracts", "restore", contract="..%2f").status_code == 404


def test_a_price_rise_is_marked_with_its_day_and_difference(console_site, payer):
    contract = payer.read(CONTRACTS)[0]["id"]
    with console_site.visit(payer) as visitor:
        page = text_of(visitor.get(f"/console/contracts/{contract}"))
        changes = page.partition('id="changes"')[2].partition("</table>")[0]
        assert changes.count("Preiserhöhung") == 1
        assert "+5,00 €" in changes
        assert "teurer seit" in text_of(visitor.get("/console/contracts"))


def test_debits_of_a_contract_are_shown_with_letters_that_return_them(console_site, visitor):
    customer = console_site.rich
    debits = customer.read("/customer/v2/lastschriften")
    debit = next(debit for debit in debits if "vertragId" in debit and len(debit["rueckgabe"]) == 2)
    page = visitor.get(f"/console/contracts/{debit['vertragId']}").text
    shown = page.partition('id="debits"')[2].partition("</ul>")[0]
    assert shown.count("<li>") == min(3, sum(1 for other in debits if other.get("vertragId") == debit["vertragId"]))
    for right, words in zip(debit["rueckgabe"], ("ohne Grund bis", "nicht autorisiert, bis"), strict=True):
        day = datetime.fromisoformat(right["bis"]).strftime("%d.%m.%Y")
        assert f"{words} {day} (PDF)" in shown
    letters = [html.unescape(address) for address in re.findall(r'href="(/console/debits/[^"]+)"', shown)]
    answer = visitor.get(letters[0])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    assert answer.content.startswith(b"%PDF-")
    with console_site.visit(new_customer(console_site.regulated)) as stranger:
        assert stranger.get(letters[0]).status_code == 404


def test_the_letter_of_cancellation_is_the_apis_and_nobody_elses(console_site, payer, visitor):
    contract = payer.read(CONTRACTS)[0]["id"]
    address = f"/console/contracts/{contract}/cancellation"
    with console_site.visit(payer) as owner:
        answer = owner.get(address, params={"date": "", "language": "en"})
        assert answer.status_code == 200
        assert answer.content.startswith(b"%PDF")
        assert answer.headers["content-type"] == "application/pdf"
        assert answer.headers["content-disposition"] == 'attachment; filename="cancellation.pdf"'
        assert owner.get(address, params={"date": "1999-01-01"}).status_code == 400
    assert visitor.get(address).status_code == 404


@pytest.mark.parametrize(("confidence", "is_unsure"), [("0.74", True), ("0.75", False), ("1", False)])
def test_the_confidence_of_a_contract_is_shown_where_it_is_low(confidence, is_unsure):
    assert make_contract([20, 20], confidenceLevel=Decimal(confidence)).is_unsure is is_unsure
