"""Texts of alerts, in the languages that users are told in."""

from datetime import date
from decimal import Decimal
from typing import Literal

from kontor.domain.accesses import NoticeKind
from kontor.domain.alerts import AlertKind, Cause

Language = Literal["de", "en"]
LANGUAGES: dict[str, Language] = {"de": "de", "en": "en"}

TEXTS: dict[Language, dict[AlertKind, str]] = {
    "de": {
        AlertKind.CONSENT_ENDS: "Ihre Zustimmung zum Abruf dieses Bankzugangs endet am {day}. Bitte erneuern Sie sie.",
        AlertKind.PRICE_RISE: "{name} kostet seit {day} {amount} statt {before}.",
        AlertKind.UNUSUAL_DEBIT: "Ungewöhnliche Abbuchung am {day}: {amount} an {name}.",
        AlertKind.BUDGET_EXCEEDED: "Das Budget {name} ist um {amount} überschritten.",
        AlertKind.BALANCE_MISMATCH: "Auf {name} fehlen Umsätze bis {day}: Der Kontostand weicht um {amount} ab.",
        AlertKind.CONTRACT_NOTICE: "{name} kann nur noch bis {day} gekündigt werden.",
        AlertKind.PARTS_REMOVED: (
            "Die Bank hat den Betrag der Buchung vom {day} auf {amount} geändert. Ihre Aufteilung wurde entfernt."
        ),
    },
    "en": {
        AlertKind.CONSENT_ENDS: "Your consent to read this bank access ends on {day}. Please renew it.",
        AlertKind.PRICE_RISE: "{name} has cost {amount} instead of {before} since {day}.",
        AlertKind.UNUSUAL_DEBIT: "Unusual debit on {day}: {amount} to {name}.",
        AlertKind.BUDGET_EXCEEDED: "The budget {name} is exceeded by {amount}.",
        AlertKind.BALANCE_MISMATCH: "Bookings are missing on {name} up to {day}: the balance differs by {amount}.",
        AlertKind.CONTRACT_NOTICE: "{name} can be cancelled only until {day}.",
        AlertKind.PARTS_REMOVED: (
            "The bank has changed the amount of the booking of {day} to {amount}. Your split was removed."
        ),
    },
}
NEEDS_USER: dict[Language, dict[NoticeKind, str]] = {
    "de": {
        NoticeKind.SCA_NEEDED: "Ihre Bank verlangt eine starke Kundenauthentifizierung.",
        NoticeKind.WRONG_CREDENTIALS: "Ihre Bank lehnt die Zugangsdaten ab. Bitte geben Sie sie neu ein.",
        NoticeKind.INCOMPLETE_CREDENTIALS: "Die Zugangsdaten sind unvollständig. Bitte geben Sie sie neu ein.",
        NoticeKind.LOCKED: "Ihre Bank hat den Zugang gesperrt. Bitte wenden Sie sich an Ihre Bank.",
    },
    "en": {
        NoticeKind.SCA_NEEDED: "Your bank requires strong customer authentication.",
        NoticeKind.WRONG_CREDENTIALS: "Your bank refuses the credentials. Please enter them again.",
        NoticeKind.INCOMPLETE_CREDENTIALS: "The credentials are incomplete. Please enter them again.",
        NoticeKind.LOCKED: "Your bank has locked the access. Please contact your bank.",
    },
}
# The balance itself is below zero, or it will be.
LOW_BALANCE: dict[Language, tuple[str, str]] = {
    "de": (
        "Das Konto {name} ist mit {amount} im Minus.",
        "Das Konto {name} reicht voraussichtlich nicht bis zum nächsten Gehalt am {day}: Es fehlen {amount}.",
    ),
    "en": (
        "The account {name} is overdrawn by {amount}.",
        "The account {name} will probably not last until the next salary on {day}: {amount} are missing.",
    ),
}
UNNAMED: dict[Language, dict[AlertKind, str]] = {
    "de": {
        AlertKind.PRICE_RISE: "Ein Vertrag",
        AlertKind.CONTRACT_NOTICE: "Ein Vertrag",
        AlertKind.BALANCE_LOW: "ohne Namen",
        AlertKind.BALANCE_MISMATCH: "einem Konto",
    },
    "en": {
        AlertKind.PRICE_RISE: "A contract",
        AlertKind.CONTRACT_NOTICE: "A contract",
        AlertKind.BALANCE_LOW: "without a name",
        AlertKind.BALANCE_MISMATCH: "an account",
    },
}
UNKNOWN: dict[Language, str] = {"de": "unbekannt", "en": "somebody unknown"}


def write_text(cause: Cause, language: Language) -> str:
    facts = cause.facts
    if cause.kind is AlertKind.BANK_NEEDS_USER:
        return NEEDS_USER[language][NoticeKind(facts.name or NoticeKind.SCA_NEEDED)]
    if cause.kind is AlertKind.BALANCE_LOW:
        template = LOW_BALANCE[language][facts.day is not None]
    else:
        template = TEXTS[language][cause.kind]
    return template.format(
        name=facts.name or UNNAMED[language].get(cause.kind, UNKNOWN[language]),
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
    text, unit = f"{abs(amount):,.2f}", "€" if currency == "EUR" else currency
    return f"{text.translate(str.maketrans(',.', '.,'))} {unit}" if language == "de" else f"{unit} {text}"
