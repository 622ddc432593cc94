"""The words of the pages: established terms, one for one thing, and no word that was replaced comes back."""

import re

import pytest

from kontor.pages.texts import read_texts

PACKAGES = ("kontor.console", "kontor.webform", "kontor.demobank")
TEXTS = {
    language: {f"{package} {key}": text for package in PACKAGES for key, text in read_texts(package)[language].items()}
    for language in ("de", "en")
}
REPLACED = {
    "de": (
        r"^Bauen$", "Was es bedeutet", r"\bLage\b", "Worüber sich mit", "vermissen könnte", "Nicht zu sehen",
        "Mitnehmen",
        "Jede Tat", r"\bgetan\b", "Nächstes Mal", r"\bGegenüber\b", "stammt von keiner Seite", "Rückweg", "im Schnitt",
        "freiwillig", "von selbst", "Benutzerin", r"\bNutzer\b", "war nicht richtig", r"^Betrieb\b",
    ),
    "en": (
        "State of things", "Take along", "Household account", r"\bOccasions\b", "News in life", "For what",
        "What there is",
        "Everything may be tried", "asked for news", "Nothing to be seen", "was not right", "authorisation is there",
        "out of turn", "Used of it", "anew", r"^Begin$", "Prompts for a conversation",
        r"\brecipient's bank\b", "by itself",
    ),
}  # fmt: skip
# Whoever is asked to do something is addressed: "Bitte prüfen Sie", never "Bitte prüfen".
UNADDRESSED = re.compile(r"\bBitte (?!\w*,)(?:[\w, ]+ )?(?:\w+en|\w+eln|\w+ern)(?:\.|!| und [\w ]+en\.)")


@pytest.mark.parametrize("language", TEXTS)
def test_no_word_that_was_replaced_comes_back(language):
    old = re.compile("|".join(REPLACED[language]))
    assert {key: text for key, text in TEXTS[language].items() if old.search(text)} == {}


def test_people_are_addressed_formally():
    """Also without "du", and never by an infinitive alone."""
    familiar = re.compile(r"(?i)\b(du|dein\w*|dich|dir|euch|euer)\b")
    assert {key: text for key, text in TEXTS["de"].items() if familiar.search(text)} == {}
    found = {key: text for key, text in TEXTS["de"].items() if UNADDRESSED.search(text) and " Sie" not in text}
    assert found == {}


def test_receivers_and_senders_are_one_term_in_labels():
    labels = {key: text for key, text in TEXTS["de"].items() if text == "Empfänger oder Auftraggeber"}
    assert labels == {}
