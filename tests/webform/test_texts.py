"""The languages of the web form: the same keys and the same placeholders in each, and the right one is chosen."""

import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from litestar.testing import RequestFactory

from kontor.domain.products import ProductCategory
from kontor.domain.redirects import Failure, RedirectOutcome
from kontor.domain.sca import MediumClass
from kontor.pages.browser import LANGUAGE_COOKIE
from kontor.pages.formatting import BERLIN, format_amount, format_date, format_time
from kontor.pages.texts import read_texts
from kontor.webform import texts as module
from kontor.webform.payment_forms import read_amount
from kontor.webform.texts import choose_texts, load_texts, override_texts
from language_texts import FORMS, WITH_FEW, is_apart, list_forms, list_placeholders, strip_form

LANGUAGES = load_texts()
OWN = read_texts(module.PACKAGE)
TEMPLATES = Path(module.__file__).parent / "templates"
USED = re.compile(r"""\bt\(\s*["']([a-z_]+\.[A-Za-z_.]+)["']\s*[,)]""")
SUBJECTS = ("create", "change", "delete", "dated", "debit")
PAYING = re.compile(r"(?i)bezahl|zahlung|\bpay(?!ee)")
SHOWN = (
    "legal.title_payment",
    "legal.lead_payment",
    "payment_steps.",
    "credentials.submit_payment",
    "redirect.lead_payment",
    "payment.title",
    "payment.lead",
    "payment.pay",
    "payment.reminder",
    "source.",
    "payees.",
    "working.",
    "unknown.",
    "failed.",
    "payment_end.",
)
# A standing order or a direct debit is never edited here, its account is given, and the payee of a deletion is not
# verified, nor is a debtor.
_GIVEN = frozenset(key for key in LANGUAGES["de"].texts if key.startswith("source.")) | {"payment.lead_editable"}
_UNASKED = frozenset(key for key in LANGUAGES["de"].texts if key.startswith("payees."))
NOT_SHOWN = {
    "create": _GIVEN,
    "change": _GIVEN,
    "delete": _GIVEN | _UNASKED,
    "dated": frozenset(),
    "debit": _GIVEN | _UNASKED,
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_and_placeholders(language):
    german, other = OWN["de"], OWN[language]
    assert {strip_form(key, other) for key in other} == {strip_form(key, german) for key in german}
    for key, text in other.items():
        wanted = list_placeholders(german.get(key, german.get(FORMS.sub("", key), "")))
        assert list_placeholders(text) ^ wanted <= ({"count"} if FORMS.search(key) else set()), key


@pytest.mark.parametrize("language", WITH_FEW)
def test_polish_and_ukrainian_have_three_forms_for_numbers(language):
    own = OWN[language]
    counted = {key for key in list_forms(own) if not is_apart(own[key])} - {"common.step"}  # "step 2 of 4"
    assert len(counted) == 3
    assert {f"{key}_{form}" for key in counted for form in ("one", "few")} <= set(own)


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("pl", ["Pozostała jedna próba.", "Pozostały 2 próby.", "Pozostało 5 prób."]),
        ("uk", ["Залишилася 1 спроба.", "Залишилося 2 спроби.", "Залишилося 5 спроб."]),
        ("de", ["Sie haben noch einen Versuch.", "Sie haben noch 2 Versuche.", "Sie haben noch 5 Versuche."]),
    ],
)
def test_attempts_left_are_counted_as_the_language_does(language, told):
    assert [LANGUAGES[language]("tan.attempts", count=count) for count in (1, 2, 5)] == told


# Words that no other language of ours has.
GERMAN_WORDS = re.compile(r"\b(und|oder|nicht|bitte|Ihre?|wird|wurde|Konten|Zahlung|Zugangsdaten|für|ist)\b")
ENGLISH_WORDS = re.compile(r"\b(the|your|please|was|is|with|account|payment|login)\b", re.IGNORECASE)
CYRILLIC = re.compile(r"[\u0400-\u04ff]")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_in_another_language(language):
    texts = {key: re.sub(r"\{\w+\}", "", text) for key, text in OWN[language].items()}
    if language != "de":
        assert [key for key, text in texts.items() if GERMAN_WORDS.search(text)] == []
    if language != "en":
        assert [key for key, text in texts.items() if ENGLISH_WORDS.search(text)] == []
    names = {"payment.iban", "tan.label"}
    if language == "uk":
        assert {key for key, text in texts.items() if not CYRILLIC.search(text)} == names
    else:
        assert [key for key, text in texts.items() if CYRILLIC.search(text)] == []


def test_languages_that_no_native_speaker_has_read_say_so():
    assert {name for name, texts in LANGUAGES.items() if texts.is_unreviewed} == {"fr", "pl", "tr", "uk"}


@pytest.mark.parametrize(
    ("language", "amount", "day", "time"),
    [
        ("de", "−1.234,50 €", "3.11.2026", "14:05"),
        ("en", "−\u2060€1,234.50", "3 November 2026", "2:05 PM"),
        ("fr", "−1\u202f234,50\u00a0€", "03/11/2026", "14:05"),
        ("pl", "−1\u00a0234,50\u00a0€", "03.11.2026", "14:05"),
        ("tr", "−\u2060€1.234,50", "03.11.2026", "14:05"),
        ("uk", "−1\u00a0234,50\u00a0€", "03.11.2026", "14:05"),
    ],
)
def test_numbers_and_days_are_written_as_in_the_language(language, amount, day, time):
    assert format_amount(Decimal("-1234.5"), "EUR", language) == amount
    assert format_date(date(2026, 11, 3), language) == day
    assert format_time(datetime(2026, 11, 3, 14, 5, tzinfo=BERLIN), language) == time


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_an_amount_is_read_as_it_is_written(language):
    shown = format_amount(Decimal("1234.50"), "EUR", language)
    assert read_amount(shown, LANGUAGES[language]) == Decimal("1234.50")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty_or_has_markup(language):
    for key, text in LANGUAGES[language].texts.items():
        assert text, key
        assert "<" not in text, key


def test_every_text_that_a_template_asks_for_exists():
    asked = {key for file in TEMPLATES.glob("*.html") for key in USED.findall(file.read_text(encoding="utf-8"))}
    assert len(asked) > 50
    assert asked <= set(LANGUAGES["de"].texts)


def test_every_outcome_failure_category_and_medium_has_its_words():
    known = LANGUAGES["de"].texts
    for outcome in RedirectOutcome:
        assert f"end.{outcome}" in known
        assert f"end.{outcome}_text" in known
    for failure in Failure:
        assert f"failed.{failure.lower()}.title" in known
        assert f"failed.{failure.lower()}.text" in known
    assert {f"category.{category.lower()}" for category in ProductCategory} <= set(known)
    assert {f"medium.class.{medium_class.lower()}" for medium_class in MediumClass} <= set(known)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_nobody_is_asked_to_pay_who_authorises_anything_but_a_payment_now(language, subject):
    """Every text of the pages of a payment, except those of fields that only a draft of a transfer has."""
    words = override_texts(LANGUAGES[language], subject).texts
    shown = {key: text for key, text in words.items() if key.startswith(SHOWN) and key not in NOT_SHOWN[subject]}
    assert len(shown) > 60
    assert {key: text for key, text in shown.items() if PAYING.search(text)} == {}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_texts_of_a_subject_replace_texts_that_exist_with_the_same_placeholders(subject):
    for texts in LANGUAGES.values():
        prefix = f"about.{subject}."
        own = {key: text for key, text in texts.texts.items() if key.startswith(prefix)}
        assert own
        for key, text in own.items():
            assert list_placeholders(text) <= list_placeholders(texts.texts[key.removeprefix(prefix)]) | {"tenant"}, key


@pytest.mark.parametrize(
    ("accepted", "cookie", "expected"),
    [
        ("", None, "de"),
        ("en", None, "en"),
        ("en-GB,en;q=0.9,de;q=0.8", None, "en"),
        ("nl,de;q=0.5,en;q=0.6", None, "en"),
        ("nl,de-AT;q=0.5", None, "de"),
        ("nl", None, "de"),
        ("fr-CH", None, "fr"),
        ("tr-TR,tr;q=0.9,de;q=0.8", None, "tr"),
        ("pl", None, "pl"),
        ("uk-UA,uk;q=0.9,ru;q=0.8", None, "uk"),
        ("de", "uk", "uk"),
        ("en;q=0", None, "de"),
        ("en;q=x", None, "de"),
        ("en", "de", "de"),
        ("en", "xx", "en"),
        ("en", "../de", "en"),
    ],
)
def test_the_language_is_the_users_choice_then_the_browsers(accepted, cookie, expected):
    headers = {"Accept-Language": accepted}
    for prefix in ("", "__Host-"):
        if cookie:
            headers["Cookie"] = f"{prefix}{LANGUAGE_COOKIE}={cookie}"
        assert choose_texts(RequestFactory().get("/", headers=headers)).language == expected
