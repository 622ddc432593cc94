"""What customers say about a contract: its name, and when it can be cancelled."""

import re
from typing import Any

from kontor.console.typed_days import read_typed_day
from kontor.console.visits import Form, field_of
from kontor.pages.texts import Texts

NOTICE_PERIODS = ("P2W", "P1M", "P6W", "P3M", "P6M", "P1Y")
MAX_NAME_LENGTH = 100
_PART = re.compile(r"([0-9]+)([YMWD])")


def word_period(period: str, texts: Texts) -> str:
    """`P1Y6M` as `1 Jahr 6 Monate`."""
    parts = _PART.findall(period)
    words = [texts(f"contract.period_{unit.lower()}", count=int(number)) for number, unit in parts]
    return " ".join(words) if words else period


def list_periods(chosen: str | None) -> list[str]:
    """The usual ones; another one that was set elsewhere stays as it is."""
    return list(NOTICE_PERIODS) if chosen in (None, *NOTICE_PERIODS) else [str(chosen), *NOTICE_PERIODS]


def read_settings(form: Form) -> dict[str, Any]:
    """The body of the call; an empty field resets what was set."""
    day = read_typed_day(field_of(form, "minimum_term_end"))
    return {
        "name": field_of(form, "name").strip() or None,
        "noticePeriod": field_of(form, "notice_period") or None,
        "minimumTermEnd": None if day is None else day.isoformat(),
    }
