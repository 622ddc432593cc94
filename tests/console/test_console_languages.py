"""Pages in English: what the API names is named in English too."""

import html
import re

import pytest

from kontor.wire.translations import load_texts

ENGLISH = {"Accept-Language": "en"}
GERMAN = {german for german, english in load_texts("en").items() if german != english}


@pytest.mark.parametrize("page", ["cashflow", "contracts", "insurances", "life", "transactions"])
def test_an_english_page_has_no_german_name_of_a_tag(visitor, page):
    german = visitor.get(f"/console/{page}", headers={"Accept-Language": "de"})
    english = visitor.get(f"/console/{page}", headers=ENGLISH)
    assert (german.status_code, english.status_code) == (200, 200)
    shown, translated = (list_words(answer.text) for answer in (german, english))
    assert shown & GERMAN
    assert translated & GERMAN <= {"Umbuchung"}  # as the demo bank writes into bookings


@pytest.mark.parametrize("language", ["de", "en", "fr"])
def test_days_are_written_as_the_language_does_on_the_page_of_a_contract(visitor, console_site, language):
    contracts = console_site.rich.read("/customer/v2/ai/contracts")
    longest = max(contracts, key=lambda contract: len(contract["details"]["transactionIds"]))
    page = visitor.get(f"/console/contracts/{longest['id']}", headers={"Accept-Language": language}).text
    shown = page.partition("<main")[2].partition('<details class="calls"')[0]
    assert 'id="chart-development"' in shown
    assert re.findall(r">[^<]*\b\d{4}-\d{2}-\d{2}\b", shown) == []


def list_words(page):
    """Texts between tags, without the calls that the page shows at its end."""
    page = re.sub(r"<(script|style|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    return {html.unescape(text).strip() for text in re.findall(r">([^<>]+)<", page)}


def test_a_call_is_shown_with_the_language_it_was_made_in(visitor):
    assert "Accept-Language: en" in html.unescape(visitor.get("/console/contracts", headers=ENGLISH).text)
    german = visitor.get("/console/contracts", headers={"Accept-Language": "de"})
    assert "Accept-Language" not in german.text
