"""No page mixes languages: each page for customers is drawn in each language, and searched for texts of the others."""

import html
import re
from itertools import islice

import pytest

from kontor.console.api_texts import load_api_texts
from kontor.console.rendering import PACKAGE
from kontor.console.views import VIEWS
from kontor.pages.texts import read_texts
from kontor.wire.translations import load_texts as load_english
from language_texts import list_placeholders
from many_examples import few_cases

OWN = read_texts(PACKAGE)
GERMAN_NAMES = load_english("en")
VIEWS_OF_CUSTOMERS = [view for view in VIEWS if view.is_for_customers]
# What a bank has written stands in the language of the bank; so does the sentence of a disclosure.
OF_OTHERS = re.compile(
    r'<(script|style|pre|code|svg|title|optgroup)\b.*?</\1>|<details class="calls".*?(?=</main>)'
    r'|<form[^>]*class="languages".*?</form>'
    r'|<(?!html)(\w+)[^>]* lang="\w+"[^>]*>.*?</\2>',
    re.DOTALL,
)
WRITTEN_BY_BANKS = {"Tagesgeld", "Umbuchung", "Miete", "Lastschrift", "Überweisung", "Gehalt"}
MONTH = re.compile(r"May \d{4}")  # also short for the Turkish name of the month
MIN_LETTERS = 8


def list_words(page):
    """Texts between tags, and labels for those who cannot see the page."""
    page = OF_OTHERS.sub("", page)
    found = [*re.findall(r">([^<>]+)<", page), *re.findall(r'(?:aria-label|placeholder|alt)="([^"]+)"', page)]
    return {" ".join(html.unescape(text).split()) for text in found} - {""}


def list_texts(language):
    """All texts of the console, and of the API in the languages that it speaks."""
    names = {"de": GERMAN_NAMES.keys(), "en": GERMAN_NAMES.values()}.get(language) or load_api_texts(
        language
    ).names.values()
    return {" ".join(text.split()) for text in (*OWN[language].values(), *names)}


def find_foreign(language):
    """Whole texts of other languages that this one does not have, too, and a pattern of those with placeholders."""
    own = list_texts(language)
    foreign = {text for other in ("de", "en") if other != language for text in list_texts(other)} - own
    foreign -= WRITTEN_BY_BANKS
    templates = sorted(text for text in foreign if list_placeholders(text))
    patterns = [
        re.sub(r"\\\{\w+\\\}", ".{1,60}?", re.escape(text))
        for text in templates
        if len(re.findall(r"[^\W\d]", re.sub(r"\{\w+\}", "", text))) >= MIN_LETTERS
    ]
    return foreign.difference(templates), re.compile("|".join(patterns))


@pytest.fixture(scope="module")
def addresses(visitor):
    """Every page for customers; of those about one thing, the first that another page leads to."""
    answers = {view.url: visitor.get(view.url) for view in VIEWS_OF_CUSTOMERS if "{" not in view.url}
    plain = [url for url, answer in answers.items() if answer.status_code == 200]
    links = {link for url in plain for link in re.findall(r'href="(/console/[^"?#]+)', answers[url].text)}
    for view in VIEWS_OF_CUSTOMERS:
        if "{" in view.url:
            wanted = re.compile(re.sub(r"\{[^}]+\}", r"[^/]+", view.url))
            found = (link for link in sorted(links) if wanted.fullmatch(link))
            plain += islice((link for link in found if visitor.get(link).status_code == 200), 1)
    assert len(plain) > 25
    return plain


@pytest.mark.parametrize("language", few_cases(sorted(OWN, key=lambda name: (name not in ("de", "en"), name)), 2))
def test_no_page_for_customers_has_a_text_of_another_language(visitor, addresses, language):
    (foreign, pattern), mixed = find_foreign(language), {}
    for url in addresses:
        answer = visitor.get(url, headers={"Accept-Language": language})
        assert answer.status_code == 200, url
        assert f'<html lang="{language}">' in answer.text
        words = list_words(answer.text)
        assert len(words) > 10, url
        found = words & foreign | {text for text in words if pattern.fullmatch(text)}
        mixed[url] = sorted(text for text in found if not MONTH.fullmatch(text))
    assert {url: texts for url, texts in mixed.items() if texts} == {}
