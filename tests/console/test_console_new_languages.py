"""Languages that are translated in part: what they claim is whole, the rest is English, and the page says so."""

import re
import tomllib
from importlib.resources import files
from string import Formatter

import pytest

from kontor.console.rendering import PACKAGE, load_texts
from kontor.console.views import VIEWS
from kontor.domain.languages import REVIEWED_LANGUAGES
from kontor.pages.texts import MANIFEST, read_texts

OWN = read_texts(PACKAGE)
NEW = sorted(set(OWN) - set(REVIEWED_LANGUAGES))
GERMAN_WORDS = re.compile(r"\b(und|oder|nicht|bitte|Ihre?|wird|Konten|Zugangsdaten|für|ist)\b")


CUSTOMER_PAGES = [view.url for view in VIEWS if view.group is not None and not view.is_operator and not view.is_adviser]


def list_pages(language: str) -> list[str]:
    manifest = files(PACKAGE).joinpath("texts", language, MANIFEST)
    return tomllib.loads(manifest.read_text(encoding="utf-8"))["pages"]


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_four_languages_are_offered_beside_german_and_english():
    assert NEW == ["fr", "pl", "tr", "uk"]
    assert list(load_texts())[:2] == ["de", "en"]


@pytest.mark.parametrize("language", NEW)
def test_pages_that_are_claimed_to_be_complete_have_all_texts_with_their_placeholders(language):
    english, own = OWN["en"], OWN[language]
    for page in list_pages(language):
        wanted = {key for key in english if key.startswith(f"{page}.") and not key.startswith("nav.ops")}
        assert {key for key in own if key.startswith(f"{page}.")} == wanted, page
        assert [key for key in wanted if placeholders(own[key]) != placeholders(english[key])] == []


@pytest.mark.parametrize("language", NEW)
def test_no_text_is_surplus_or_german_or_just_the_english_one(language):
    english, own = OWN["en"], OWN[language]
    assert set(own) <= set(english)
    assert [key for key, text in own.items() if GERMAN_WORDS.search(text)] == []
    assert [key for key, text in own.items() if text == english[key] and len(text) > 15] == []


@pytest.mark.parametrize("language", NEW)
def test_what_is_not_translated_is_english(language):
    texts = load_texts()[language].texts
    assert set(texts) == set(OWN["en"])
    assert texts["ops.title"] == OWN["en"]["ops.title"]


@pytest.mark.parametrize("language", NEW)
def test_a_page_is_drawn_in_the_language_and_says_that_it_was_not_reviewed(visitor, language):
    page = visitor.get("/console/connect", headers={"Accept-Language": language}).text
    assert f'<html lang="{language}">' in page
    assert OWN[language]["connect.intro"] in page
    assert 'id="unreviewed"' in page
    other = visitor.get("/console/cashflow", headers={"Accept-Language": language})
    assert other.status_code == 200, "a page without translation is English"
    assert OWN["en"]["cashflow.title"] in other.text


@pytest.mark.parametrize("page", CUSTOMER_PAGES)
def test_every_page_can_be_drawn_in_a_language_that_is_translated_in_part(visitor, page):
    assert visitor.get(page, headers={"Accept-Language": "uk"}).status_code == 200
