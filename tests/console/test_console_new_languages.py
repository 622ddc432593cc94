"""The languages beside German and English: whole, with forms for numbers, and marked as not reviewed."""

import re
from datetime import date
from pathlib import Path

import pytest

import kontor.console
from kontor.analysis.trees import TREES, list_items
from kontor.console.api_texts import load_api_texts
from kontor.console.app_files import PUSH_TEXTS
from kontor.console.rendering import PACKAGE, load_texts
from kontor.console.views import VIEWS
from kontor.domain.languages import REVIEWED_LANGUAGES
from kontor.pages.formatting import conventions_of
from kontor.pages.plurals import choose_form
from kontor.pages.texts import Texts, read_texts
from kontor.wire.alert_texts import load_alert_texts
from kontor.wire.translations import load_texts as load_english
from language_texts import FORMS, WITH_FEW, is_apart, list_forms, list_placeholders, strip_form

OWN = read_texts(PACKAGE)
CONSOLE = Path(kontor.console.__file__).parent
NEW = sorted(set(OWN) - set(REVIEWED_LANGUAGES))
# Pages for operators, advisers and developers are in German and English.
ONLY_REVIEWED = re.compile(
    r"ops|operator_sign_in\.|customer|credit_review|quickstart\.|affordability\.|triggers\."
    r"|nav\.(ops|customers|credit_reviews|triggers|affordability)|notices\.(replayed|access_|job_|credit_file_reviewed)"
)
# Shown on customers' pages; those of spans of time are written by the console itself.
TREES_OF_CUSTOMERS = (
    "CATEGORIES",
    "FREELANCER_CATEGORIES",
    "INSURANCE_TYPES",
    "PERIODS",
    "LIFE_EVENTS",
    "LIFE_STAGES",
    "SALES_TRIGGERS",
)
GERMAN_WORDS = re.compile(r"\b(und|oder|nicht|bitte|Ihre?|wird|Konten|Zugangsdaten|für|ist)\b")
ENGLISH_WORDS = re.compile(r"\b(the|your|please|with|this|are|was|from|account|bank's)\b", re.IGNORECASE)
WANTED = {key for key in OWN["de"] if not ONLY_REVIEWED.match(key)}


def test_four_languages_are_offered_beside_german_and_english():
    assert NEW == ["fr", "pl", "tr", "uk"]
    assert list(load_texts())[:2] == ["de", "en"]


def test_german_and_english_have_the_same_texts_with_the_same_placeholders():
    german, english = OWN["de"], OWN["en"]
    assert set(german) == set(english)
    assert [key for key in german if list_placeholders(german[key]) != list_placeholders(english[key])] == []


def test_every_text_is_used():
    """By its key, or by a key that is put together: `t("life.group_" ~ group)`."""
    sources = [*CONSOLE.rglob("*.py"), *CONSOLE.joinpath("templates").glob("*.html")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in sources)
    used = {*re.findall(r"""["']([a-z_]+\.[\w.\-]+)["']""", code), *(f"{view.name}.title" for view in VIEWS)}
    begun = {*re.findall(r"""["']([a-z_]+\.[\w.]*)["'] ~""", code), *re.findall(r"""f["']([a-z_]+\.[\w.]*)\{""", code)}
    begun |= {f"{section}." for section in re.findall(r"""(?:Sentences\(\s*|fill_text\(texts, )["'](\w+)["']""", code)}
    begun.add(PUSH_TEXTS)
    unused = {key for key in OWN["de"] if key not in used and FORMS.sub("", key) not in used}
    assert {key for key in unused if not key.startswith(tuple(begun))} == set()


@pytest.mark.parametrize("language", NEW)
def test_customers_pages_have_every_text_with_the_placeholders_of_the_german_one(language):
    german, own = OWN["de"], OWN[language]
    assert {strip_form(key, german) for key in WANTED} - {strip_form(key, german) for key in own} == set()
    assert {key for key in own if strip_form(FORMS.sub("", key), german) not in german and key not in german} == set()
    for key, text in own.items():
        told = german.get(key, german.get(FORMS.sub("", key), ""))
        extra = list_placeholders(text) ^ list_placeholders(told)
        assert extra <= ({"count"} if FORMS.search(key) else set()), key


@pytest.mark.parametrize("language", WITH_FEW)
def test_polish_and_ukrainian_have_three_forms_for_numbers(language):
    own = OWN[language]
    for key in list_forms(OWN["de"]) & set(own):
        if not is_apart(own[key]):
            assert {f"{key}_one", f"{key}_few"} <= set(own), key


def test_ukrainian_says_the_number_with_the_form_of_one_since_21_has_it_too():
    own = OWN["uk"]
    counted = {f"{key}_one" for key in list_forms(own)} & set(own)
    assert len(counted) > 30
    figure_apart = {"edits.found_one", "rule.found_one"}  # the page writes the figure before them
    assert {key for key in counted if "{count}" not in own[key]} == figure_apart


# CLDR 46, plural rules: samples of `one`, `few`, and of the rest.
@pytest.mark.parametrize(
    ("language", "one", "few", "other"),
    [
        ("de", [1], [], [0, 2, 21, 100]),
        ("en", [1], [], [0, 2, 21, 100]),
        ("fr", [0, 1], [], [2, 17, 21, 100]),
        ("tr", [1], [], [0, 2, 21]),
        ("pl", [1], [2, 3, 4, 22, 24, 32, 102, 1002], [0, 5, 11, 12, 14, 19, 21, 25, 100, 112, 1000]),
        ("uk", [1, 21, 31, 101, 1001], [2, 3, 4, 22, 24, 102, 1002], [0, 5, 11, 12, 14, 19, 25, 100, 111, 112, 1000]),
    ],
)
def test_the_form_of_a_number_follows_the_rules_of_unicode(language, one, few, other):
    assert [choose_form(count, language) for count in (*one, *few, *other)] == (
        ["one"] * len(one) + ["few"] * len(few) + ["other"] * len(other)
    )


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("de", ["1 Buchung seit x", "3 Buchungen seit x", "1.200 Buchungen seit x"]),
        ("en", ["1 transaction since x", "3 transactions since x", "1,200 transactions since x"]),
        ("pl", ["1 transakcja od x", "3 transakcje od x", "1\u00a0200 transakcji od x"]),
        ("uk", ["1 операція від x", "3 операції від x", "1\u00a0200 операцій від x"]),
    ],
)
def test_a_page_takes_the_form_and_writes_the_number_as_the_language_does(language, told):
    texts = load_texts()[language]
    assert [texts("contract.total_hint", count=count, since="x") for count in (1, 3, 1200)] == told


def test_a_language_without_a_form_for_one_never_takes_the_english_one():
    assert load_texts()["tr"]("accounts.total_hint", count=1) == "1 hesapta"
    assert Texts("tr", {"a": "{count} x"})("a", count=1) == "1 x"


@pytest.mark.parametrize("language", NEW)
def test_no_text_is_german_or_english(language):
    own = {key: re.sub(r"\{\w+\}", "", text) for key, text in OWN[language].items()}
    assert [key for key, text in own.items() if GERMAN_WORDS.search(text)] == []
    assert [key for key, text in own.items() if ENGLISH_WORDS.search(text)] == []
    assert [
        key for key, text in own.items() if text == OWN["en"].get(key) and len(re.findall(r"[^\W\d]", text)) > 14
    ] == []


@pytest.mark.parametrize("language", NEW)
def test_every_name_message_and_alert_of_the_api_is_told(language):
    texts, english = load_api_texts(language), load_english("en")
    for tree in TREES_OF_CUSTOMERS:
        names = {english[item.name] for item in list_items(TREES[tree]) if item.partner is None}
        assert names - set(texts.names) == set(), tree
    messages = {text for text in english.values() if re.search(r"[a-z]\.$", text)}
    assert len(messages) > 80
    assert {text for text in messages if texts.tell(text) == text} == set()
    alerts = {text for section in load_alert_texts("en").values() for text in section.values()}
    values = {"name": "Rent", "day": "3 November 2026", "amount": "€1,234.50", "before": "USD 9.00"}
    for text in alerts:
        told = texts.tell(text.format(**{name: values[name] for name in list_placeholders(text)}))
        assert told != text
        assert not ENGLISH_WORDS.search(told)
        assert "1,234" not in told
        assert "November" not in told


def test_values_in_a_sentence_of_the_api_are_written_as_the_language_does():
    told = load_api_texts("pl").tell("Vodafone has cost €1,234.50 instead of €9.00 since 3 November 2026.")
    assert told == "Vodafone kosztuje od 03.11.2026 1\u00a0234,50\u00a0€ zamiast 9,00\u00a0€."


def test_names_that_users_have_given_stay_as_they_are():
    answer = [{"displayName": "Rent", "systemName": "X_ABC", "rows": [{"displayName": "Rent", "systemName": "RENT"}]}]
    told = load_api_texts("fr").translate(answer)
    assert (told[0]["displayName"], told[0]["rows"][0]["displayName"]) == ("Rent", "Loyer")


def test_days_without_their_year_are_written_as_the_language_does():
    written = {language: date(2026, 11, 3).strftime(conventions_of(language).yearless_day) for language in OWN}
    assert written == {"de": "03.11.", "en": "3 Nov", "fr": "03/11", "pl": "03.11", "tr": "03.11", "uk": "03.11"}


@pytest.mark.parametrize("language", NEW)
@pytest.mark.parametrize("view", [view for view in VIEWS if view.name in ("quickstart", "affordability")])
def test_a_page_that_is_not_for_customers_is_english_and_says_so_in_the_users_language(visitor, language, view):
    page = visitor.get(view.url, headers={"Accept-Language": language}).text
    assert '<html lang="en">' in page
    assert OWN[language]["common.only_reviewed"] in page
    assert OWN["en"][f"{view.name}.title"] in page
    assert 'id="unreviewed"' not in page
