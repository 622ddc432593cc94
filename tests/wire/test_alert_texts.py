"""Alerts in the languages that users are told in: every kind has its words, with the same placeholders."""

from string import Formatter

from kontor.domain.alerts import AlertKind
from kontor.services.alerts.causes import NEEDS_USER
from kontor.wire.alert_texts import load_alert_texts

NOT_TEXTS = {AlertKind.BANK_NEEDS_USER, AlertKind.BALANCE_LOW}


def list_placeholders(texts):
    return {
        (section, key): {name for _, name, _, _ in Formatter().parse(text) if name}
        for section, listed in texts.items()
        for key, text in listed.items()
    }


def test_both_languages_have_the_same_texts_with_the_same_placeholders():
    assert list_placeholders(load_alert_texts("de")) == list_placeholders(load_alert_texts("en"))


def test_every_alert_and_every_need_of_a_bank_has_its_words():
    known = load_alert_texts("de")
    kinds = {kind.lower() for kind in AlertKind if kind not in NOT_TEXTS}
    assert set(known["text"]) == kinds | {"balance_low_now", "balance_low_soon"}
    assert {kind.lower() for kind in NEEDS_USER} <= set(known["needs_user"])
