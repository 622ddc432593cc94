"""The evidence for contracts and disposable money, which the API tells in English, in the words of the page's language.

A sentence that is not known here is shown as it is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.console.rendering import MONTHS
from kontor.pages.formatting import format_amount
from kontor.pages.texts import Texts

_NO_WORD = re.compile(r"\W+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_PAYMENT = re.compile(r"(-?\d+\.\d{2}) on (\d{4}-\d{2}-\d{2})")
_PATTERNS = {
    "regular": re.compile(
        r"(?P<count>\d+) regular payments from (?P<since>\S+) to (?P<until>\S+) are in step with (?P<period>\w+)"
    ),
    "single": re.compile(r"One payment on (?P<day>\S+), whose text tells the period (?P<period>\w+)"),
    "method": re.compile(r"Paid by (?P<method>.+)"),
    "number": re.compile(r"The payments share the number (?P<numbers>.+)"),
    "varies": re.compile(r"The amounts vary, so the mean of the last six is expected next"),
    "due_next": re.compile(r"Due on day (?P<days>.+) of the month, moved to the next banking day"),
    "due_previous": re.compile(r"Due on day (?P<days>.+) of the month, moved to the previous banking day"),
    "extras": re.compile(r"(?P<count>\d+) further bookings belong to it without being regular"),
    "ended": re.compile(r"The payment due on (?P<day>\S+) did not come although newer data of the account is there"),
    "salary": re.compile(r"The latest salary came on (?P<since>\S+), the next is expected on (?P<until>\S+)"),
    "bookings": re.compile(r"(?P<count>\d+) bookings since then, without own transfers"),
    "no_payments": re.compile(r"No payment of a contract is due before the next salary"),
    "payments": re.compile(r"(?P<count>\d+) payments of contracts are due before the next salary: (?P<payments>.+)"),
    "no_cycles": re.compile(r"There is no previous cycle to learn from"),
    "cycles": re.compile(
        r"What else is to be expected is the median of the rest of the previous (?P<count>\d+) cycles"
        r" without contracts, the latest first: (?P<amounts>.+)"
    ),
}


@dataclass(frozen=True, slots=True)
class Reason:
    text: str
    is_translated: bool


def read_reasons(evidence: Iterable[Mapping[str, Any]] | None, texts: Texts) -> list[Reason]:
    return [word_reason(str(one["text"]), texts) for one in evidence or ()]


def word_reason(sentence: str, texts: Texts) -> Reason:
    for key, pattern in _PATTERNS.items():
        found = pattern.fullmatch(sentence)
        if found is not None:
            values = {name: _word(name, value, texts) for name, value in found.groupdict().items()}
            return Reason(texts(f"plan_reasons.{key}", **values), is_translated=True)
    return Reason(sentence, is_translated=False)


def _word(name: str, value: str, texts: Texts) -> str:
    if name in ("period", "method"):
        return texts.texts.get(f"plan_reasons.{name}_{_NO_WORD.sub('_', value.lower())}", value)
    if name == "days":
        return texts("plan_reasons.and").join(_word_day(one, texts) for one in value.split(" and "))
    if name == "amounts":
        return " · ".join(_format_amount(one, texts) for one in value.split(", "))
    if name == "payments":
        return _PAYMENT.sub(lambda one: f"{_format_amount(one[1], texts)} ({_format_day(one[2], texts)})", value)
    return _format_day(value, texts) if _DAY.fullmatch(value) else value


def _word_day(value: str, texts: Texts) -> str:
    """A day of the month; 31 is the last one, whatever the month."""
    return texts("plan_reasons.last_day") if value == "31" else texts("plan_reasons.day", day=value)


def _format_amount(value: str, texts: Texts) -> str:
    return format_amount(Decimal(value), "EUR", texts.language).replace(" ", "\N{NO-BREAK SPACE}")


def _format_day(value: str, texts: Texts) -> str:
    day = date.fromisoformat(value)
    return f"{day:%d.%m.%Y}" if texts.language == "de" else f"{day.day} {MONTHS['en'][day.month - 1]} {day.year}"
