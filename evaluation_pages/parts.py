"""What the published pages share."""

import textwrap
from collections.abc import Sequence
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = "./dev evaluate"
# Logins of their own: neither tests nor the training of the category model have seen these people.
SUFFIX = "+published"
DAYS = (date(2025, 9, 18), date(2026, 11, 26))


def make_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = ["---", *("---:" for _ in headings[1:])]
    return [f"| {' | '.join(row)} |" for row in (headings, marks, *rows)]


def wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def write_plot(path: Path, picture: str) -> None:
    path.write_text(picture + "\n", encoding="utf-8")


def tell_verdict(value: float, aim: float, is_least: bool) -> str:
    return "yes" if (value >= aim if is_least else value <= aim) else "no"
