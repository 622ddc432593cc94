"""What letters have in common: their texts, and how they write days and account numbers."""

import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

from kontor.domain.tags import fold_iban

Language: TypeAlias = Literal["de", "en"]


@cache
def read_texts(language: str) -> Mapping[str, str]:
    return tomllib.loads((files("kontor.wire.letters") / f"{language}.toml").read_text(encoding="utf-8"))


def group_iban(iban: str) -> str:
    compact = fold_iban(iban)
    return " ".join(compact[start : start + 4] for start in range(0, len(compact), 4))


def show_day(day: date, language: Language) -> str:
    if language == "de":
        return f"{day:%d.%m.%Y}"
    return f"{day.day} {_ENGLISH_MONTHS[day.month - 1]} {day.year}"


_ENGLISH_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
