"""Texts of alerts, in the languages that users are told in: a file per language in `texts/alerts/`."""

import tomllib
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Literal

from kontor.domain.accesses import NoticeKind
from kontor.domain.alerts import AlertKind, Cause

Language = Literal["de", "en"]
LANGUAGES: dict[str, Language] = {"de": "de", "en": "en"}


@cache
def load_alert_texts(language: Language) -> Mapping[str, Mapping[str, str]]:
    file = files("kontor.wire").joinpath("texts", "alerts", f"{language}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def write_text(cause: Cause, language: Language) -> str:
    facts, known = cause.facts, load_alert_texts(language)
    if cause.kind is AlertKind.BANK_NEEDS_USER:
        return known["needs_user"][NoticeKind(facts.name or NoticeKind.SCA_NEEDED).lower()]
    key = cause.kind.lower()
    if cause.kind is AlertKind.BALANCE_LOW:  # it is below zero, or it will be
        key += "_now" if facts.day is None else "_soon"
    return known["text"][key].format(
        name=facts.name or known["unnamed"].get(cause.kind.lower(), known["unnamed"]["other"]),
        day="" if facts.day is None else _show_day(facts.day, language),
        amount=_show_amount(cause.amount, cause.currency, language),
        before=_show_amount(facts.amount_before, cause.currency, language),
    )


def _show_day(day: date, language: Language) -> str:
    return f"{day:%d.%m.%Y}" if language == "de" else f"{day.day} {day:%B %Y}"


def _show_amount(amount: Decimal | None, currency: str, language: Language) -> str:
    """Without its sign: the text says which way it goes."""
    if amount is None:
        return ""
    text = f"{abs(amount):,.2f}"
    if language == "de":
        return f"{text.translate(str.maketrans(',.', '.,'))} {'€' if currency == 'EUR' else currency}"
    return f"€{text}" if currency == "EUR" else f"{currency} {text}"
