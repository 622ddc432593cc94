"""Savings goals in the console: what the API says about them, made, changed and deleted by forms."""

import html
import re
from decimal import Decimal

import pytest

from banking import new_customer
from console_site import money, read_token

PAGE, GOALS = "/console/goals", "/customer/v2/sparziele"
BICYCLE = {"name": "Fahrrad", "target": "1.250,00", "target_date": "", "saved": "150,50"}


@pytest.fixture
def customer(console_site):
    return new_customer(console_site.regulated)


@pytest.fixture
def browser(console_site, customer):
    with console_site.visit(customer) as browser:
        yield browser


@pytest.fixture(scope="module")
def saver(console_site):
    """Somebody with a savings account."""
    customer = new_customer(console_site.regulated)
    customer.add_complete("hauskauf+goals")
    return customer


def send(browser, page=f"{PAGE}/new", action="save", **fields):
    token = read_token(browser.get(page).text)
    return browser.post(page, data=BICYCLE | fields | {"action": action, "token": token})


def text_of(answer):
    return html.unescape(answer.text).replace("\N{NO-BREAK SPACE}", " ")


def test_a_goal_with_an_own_figure_is_made_changed_and_deleted(browser, customer):
    assert send(browser).headers["location"] == f"{PAGE}?notice=goal_saved"
    [made] = customer.read(GOALS)
    assert (made["name"], made["zielbetrag"], made["angespart"]) == ("Fahrrad", 1250, 150.5)
    assert "zieldatum" not in made
    page = f"{PAGE}/{made['id']}"
    assert 'value="150,50"' in browser.get(page).text
    assert send(browser, page, name="Rad", target_date="2040-05-01", saved="1250").status_code == 303
    [changed] = customer.read(GOALS)
    assert (changed["id"], changed["name"], changed["zieldatum"]) == (made["id"], "Rad", "2040-05-01")
    assert changed["status"] == "ERREICHT"
    assert 'data-status="ERREICHT"' in browser.get(PAGE).text
    assert 'id="delete-now"' in browser.get(f"{page}?delete=yes").text
    assert send(browser, page, action="delete").headers["location"] == f"{PAGE}?notice=goal_deleted"
    assert customer.read(GOALS) == []


def test_an_own_figure_that_is_left_empty_is_nothing(browser, customer):
    assert send(browser, saved="").status_code == 303
    [made] = customer.read(GOALS)
    assert made["angespart"] == 0
    assert send(browser, f"{PAGE}/{made['id']}", saved="20").status_code == 303
    assert send(browser, f"{PAGE}/{made['id']}", saved="").status_code == 303
    assert customer.read(GOALS)[0]["angespart"] == 0


def test_a_goal_on_accounts_shows_their_balances_the_rate_and_the_date_of_the_api(console_site, saver):
    accesses = saver.read("/customer/v2/bankzugaenge")
    products = [product for access in accesses.values() for product in access["bankprodukte"]]
    chosen = [product for product in products if product["kategorie"] in ("TAGESGELDKONTO", "GIROKONTO")]
    assert len(chosen) > 1
    total = sum(Decimal(str(product["saldo"])) for product in chosen)
    with console_site.visit(saver) as browser:
        ids = [product["id"] for product in chosen]
        fields = {"target": f"{int(total) * 2}", "target_date": "2040-05-01", "product": ids}
        assert send(browser, **fields).status_code == 303
        [goal] = saver.read(GOALS)
        assert sorted(goal["produkte"]) == sorted(ids)
        page = text_of(browser.get(PAGE))
        assert money(total) in page
        assert all(money(product["saldo"]) in page for product in chosen)
        assert money(goal["rateNoetig"]) in page
        assert "01.05.2040" in page
        if "voraussichtlichAm" in goal:
            year, month, day = goal["voraussichtlichAm"].split("-")
            assert f"{day}.{month}.{year}" in page
        checked = re.findall(r'name="product" value="([^"]+)" checked', browser.get(f"{PAGE}/{goal['id']}").text)
        assert sorted(checked) == sorted(ids)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": ""}, "Bitte geben Sie einen Namen"),
        ({"target": "-5"}, "Bitte geben Sie einen Zielbetrag über null ein"),
        ({"target_date": "31.2."}, "Dieses Datum gibt es nicht."),
        ({"saved": "etwas"}, "Bitte geben Sie einen Betrag ein"),
        ({"product": "00000000-0000-0000-0000-000000000000"}, "Dieses Sparziel konnte nicht gespeichert werden."),
    ],
)
def test_what_cannot_be_a_goal_is_said_at_the_form_which_keeps_what_was_entered(browser, customer, fields, sentence):
    answer = send(browser, **({"name": "Fahrrad"} | fields))
    assert answer.status_code == 422
    page = text_of(answer)
    assert sentence in page
    target = page.partition('id="target"')[2].partition(">")[0]
    assert f'value="{fields.get("target", "1.250,00")}"' in target
    assert customer.read(GOALS) == []


def test_the_goal_of_another_user_is_not_found_and_stays(browser, customer, console_site):
    assert send(browser).status_code == 303
    [made] = customer.read(GOALS)
    with console_site.visit(new_customer(console_site.regulated)) as stranger:
        assert stranger.get(f"{PAGE}/{made['id']}").status_code == 404
        token = read_token(stranger.get(f"{PAGE}/new").text)
        assert stranger.post(f"{PAGE}/{made['id']}", data={"action": "delete", "token": token}).status_code == 303
    assert customer.read(GOALS) == [made]


def test_names_stay_texts_and_the_page_is_in_english_for_who_reads_english(browser):
    assert send(browser, name="<b>Rad</b>").status_code == 303
    page = browser.get(PAGE, headers={"Accept-Language": "en"}).text
    assert "<b>Rad" not in page
    assert "&lt;b&gt;Rad" in page
    assert "In progress" in page
    assert "Still to save" in page
