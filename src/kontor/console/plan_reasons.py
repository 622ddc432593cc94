"""The evidence for contracts and disposable money, which the API tells in English, in the words of the page's language.

A sentence that is not known here is shown as it is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.console.rendering import write_day
from kontor.console.sentences import Sentences
from kontor.pages.formatting import format_amount
from kontor.pages.texts import Texts

_NO_WORD = re.compile(r"\W+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_PAYMENT = re.compile(r"(-?\d+\.\d{2}) on (\d{4}-\d{2}-\d{2})")
_NUMBER, _WORD, _SPACELESS, _REST = r"\d+", r"\w+", r"\S+", ".+"
_KNOWN = Sentences(
    "plan_reasons",
    {
        "regular": "{count} regular payments from {since} to {until} are in step with {period}",
        "single": "One payment on {day}, whose text tells the period {period}",
        "method": "Paid by {method}",
        "number": "The payments share the number {numbers}",
        "varies": "The amounts vary, so the mean of the last six is expected next",
        "due_next": "Due on day {days} of the month, moved to the next banking day",
        "due_previous": "Due on day {days} of the month, moved to the previous banking day",
        "extras": "{count} further bookings belong to it without being regular",
        "ended": "The payment due on {day} did not come although newer data of the account is there",
        "salary": "The latest salary came on {since}, the next is expected on {until}",
        "bookings": "{count} bookings since then, without own transfers",
        "no_payments": "No payment of a contract is due before the next salary",
        "payments": "{count} payments of contracts are due before the next salary: {payments}",
        "no_cycles": "There is no previous cycle to learn from",
        "cycles": "What else is to be expected is the median of the rest of the previous {count} cycles"
        " without contracts, the latest first: {amounts}",
    },
    {
        "count": _NUMBER, "period": _WORD, "since": _SPACELESS, "until": _SPACELESS, "day": _SPACELESS,
        "method": _REST, "numbers": _REST, "days": _REST, "payments": _REST, "amounts": _REST,
    },
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reason:
    text: str
    is_translated: bool


def read_reasons(evidence: Iterable[Mapping[str, Any]] | None, texts: Texts) -> list[Reason]:
    return [word_reason(str(reason["text"]), texts) for reason in evidence or ()]


def word_reason(sentence: str, texts: Texts) -> Reason:
    told = _KNOWN.tell(sentence, texts, lambda name, value: _word(name, value, texts))
    return Reason(sentence if told is None else told, is_translated=told is not None)


def _word(name: str, value: str, texts: Texts) -> str:
    if name in ("period", "method"):
        return texts.texts.get(f"plan_reasons.{name}_{_NO_WORD.sub('_', value.lower())}", value)
    if name == "days":
        return f" {texts('plan_reasons.and')} ".join(_word_day(day, texts) for day in value.split(" and "))
    if name == "amounts":
        return " · ".join(_format_amount(amount, texts) for amount in value.split(", "))
    if name == "payments":
        return _PAYMENT.sub(lambda match: f"{_format_amount(match[1], texts)} ({_format_day(match[2], texts)})", value)
    return _format_day(value, texts) if _DAY.fullmatch(value) else value


def _word_day(value: str, texts: Texts) -> str:
    """A day of the month; 31 is the last one, whatever the month."""
    return texts("plan_reasons.last_day") if value == "31" else texts("plan_reasons.day", day=value)


def _format_amount(value: str, texts: Texts) -> str:
    return format_amount(Decimal(value), "EUR", texts.language).replace(" ", "\N{NO-BREAK SPACE}")


def _format_day(value: str, texts: Texts) -> str:
    return write_day(date.fromisoformat(value), texts.language)
