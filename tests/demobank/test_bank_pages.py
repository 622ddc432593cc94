"""The demo bank's own pages: German or English as the browser asks, and texts of others are only ever text."""

from datetime import date
from uuid import uuid4

import pytest

from kontor.demobank.pages import PACKAGE, draw_gone, draw_login, draw_question, name_problem
from kontor.pages.texts import read_texts

ORDER = ["Erika <b>Muster</b>", "DE89370400440532013000", "12,30 EUR", "Rechnung & Mahnung"]
ENGLISH = "en-GB,en;q=0.9,de;q=0.5"


def test_both_languages_have_the_same_texts():
    texts = read_texts(PACKAGE)
    assert set(texts) == {"de", "en"}
    assert texts["de"].keys() == texts["en"].keys()


@pytest.mark.parametrize(
    ("accepted", "language", "button", "amount"),
    [
        ("", "de", "Freigeben", "12,30 EUR"),
        ("fr", "de", "Freigeben", "12,30 EUR"),
        ("de-DE,de;q=0.9,en;q=0.8", "de", "Freigeben", "12,30 EUR"),
        (ENGLISH, "en", "Authorise", "12.30 EUR"),
    ],
)
def test_an_order_is_shown_in_the_language_of_the_browser(accepted, language, button, amount):
    page = draw_question(accepted, "/demobank/confirm/1", [ORDER]).decode()
    assert f'<html lang="{language}">' in page
    assert f">{button}</button>" in page
    assert f"<dd>{amount}</dd>" in page


def test_names_purposes_and_logins_are_text():
    page = draw_question("", "/x", [ORDER]).decode()
    assert "Erika &lt;b&gt;Muster&lt;/b&gt;" in page
    assert "Rechnung &amp; Mahnung" in page
    assert 'value="&#34;&gt;&lt;script&gt;"' in draw_login("", "/x", '"><script>', kind="access").decode()


def test_a_login_says_until_when_and_what_was_wrong():
    page = draw_login(
        ENGLISH, "/x", "test_products", kind="access_until", until=date(2027, 5, 1), problem="wrong"
    ).decode()
    assert "until 1 May 2027" in page
    assert '<p role="alert">The login details are wrong.</p>' in page
    codes = ("PSU_CREDENTIALS_INVALID", "SERVICE_BLOCKED", "INTERNAL_SERVER_ERROR")
    assert [name_problem(code) for code in codes] == ["wrong", "blocked", "failed"]


def test_a_page_that_is_gone_is_told_in_english_over_http(http):
    answer = http.get(f"/demobank/confirm/{uuid4()}", headers={"Accept-Language": ENGLISH})
    assert (answer.status_code, answer.headers["vary"]) == (410, "Accept-Language")
    assert answer.content == draw_gone(ENGLISH)
    assert "This request is closed" in answer.text
