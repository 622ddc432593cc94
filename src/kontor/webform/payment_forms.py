"""The details of a payment as a user types them, and what is wrong with them in words that say what is expected."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.domain.order_checks import MAX_AMOUNT, MAX_NAME, MAX_PURPOSE, OrderError, check_iban, transliterate
from kontor.domain.payments import Order
from kontor.pages.formatting import conventions_of, format_amount
from kontor.pages.texts import Texts
from kontor.services.redirects import Details

FIELDS = ("recipient", "iban", "amount", "purpose", "date", "instant")
NO_LIMIT = 100_000
# With and without separators of thousands. What could be read in two ways is not read at all.
_AMOUNTS = {
    "de": (re.compile(r"([0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,([0-9]{1,2}))?"), re.compile(r"([0-9]+)\.([0-9]{1,2})")),
    "en": (re.compile(r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.([0-9]{1,2}))?"), re.compile(r"([0-9]+),([0-9]{1,2})")),
}


class _FieldError(Exception):
    """Carries the text for the user."""


def read_details(
    value: Callable[[str], str], given: Order, texts: Texts
) -> tuple[Details | None, dict[str, str], dict[str, str]]:
    """The details, or what is wrong with which field; and the values as they were typed."""
    typed = {name: value(name).strip() for name in FIELDS}
    errors: dict[str, str] = {}
    values: dict[str, Any] = {}
    readers: dict[str, Callable[[str, Texts], Any]] = {
        "recipient": _read_recipient,
        "iban": _read_iban,
        "amount": read_amount,
        "purpose": _read_purpose,
        "date": _read_date,
    }
    for name, read in readers.items():
        try:
            values[name] = read(typed[name], texts)
        except _FieldError as error:
            errors[name] = str(error)
    if errors:
        return None, errors, typed
    order = replace(
        given,
        recipient=values["recipient"],
        iban=values["iban"],
        amount=values["amount"],
        purpose=values["purpose"],
        # Another account may be at another bank; its BIC follows from the IBAN.
        bic=given.bic if "".join(given.iban.split()).upper() == values["iban"] else None,
    )
    return Details(order, bool(typed["instant"]), values["date"]), {}, typed


def read_amount(text: str, texts: Texts) -> Decimal:
    """As it is written in the language of the page; `12.50` and `12,50` are both clear."""
    if not text:
        raise _FieldError(texts("payment.amount_missing"))
    compact = re.sub(r"[\s\u00a0€]", "", text)
    for pattern in _AMOUNTS["en" if conventions_of(texts.language).decimal == "." else "de"]:
        match = pattern.fullmatch(compact)
        if match is not None:
            whole, cents = re.sub("[.,]", "", match[1]), match[2] or "0"
            amount = Decimal(f"{whole}.{cents}").quantize(Decimal("0.01"))
            break
    else:
        raise _FieldError(texts("payment.amount_malformed"))
    if amount <= 0:
        raise _FieldError(texts("payment.amount_zero"))
    if amount > MAX_AMOUNT:
        raise _FieldError(texts("payment.amount_large", most=format_amount(MAX_AMOUNT, "EUR", texts.language)))
    return amount


def describe_iban_problem(text: str, texts: Texts) -> str | None:
    """None where it is one."""
    if not text.strip():
        return texts("payment.iban_missing")
    try:
        check_iban(text, "iban")
    except OrderError:
        return texts("payment.iban_malformed")
    return None


def _read_iban(text: str, texts: Texts) -> str:
    problem = describe_iban_problem(text, texts)
    if problem is not None:
        raise _FieldError(problem)
    return check_iban(text, "iban")


def _read_recipient(text: str, texts: Texts) -> str:
    if not text:
        raise _FieldError(texts("payment.recipient_missing"))
    return _read_text(text, MAX_NAME, texts)


def _read_purpose(text: str, texts: Texts) -> str:
    return _read_text(" ".join(text.split()), MAX_PURPOSE, texts)


def _read_text(text: str, limit: int, texts: Texts) -> str:
    for character in text:
        if not _is_allowed(character):
            raise _FieldError(texts("payment.text_character", character=character))
    if len(transliterate(text, "text", NO_LIMIT)) > limit:
        raise _FieldError(texts("payment.text_long", limit=limit))
    return text


def _is_allowed(character: str) -> bool:
    try:
        transliterate(character, "text", NO_LIMIT)
    except OrderError:
        return False
    return True


def _read_date(text: str, texts: Texts) -> date | None:
    if not text:
        return None
    german = re.fullmatch(r"([0-9]{1,2})[./]([0-9]{1,2})[./]([0-9]{4})", text)
    try:
        return date(int(german[3]), int(german[2]), int(german[1])) if german else date.fromisoformat(text)
    except ValueError:
        raise _FieldError(texts("payment.date_malformed")) from None
