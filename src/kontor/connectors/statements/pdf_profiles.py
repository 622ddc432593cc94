"""Layouts of PDF statements, as data: `data/pdf/*.toml`.

A layout is found by texts that all its statements have. Keys of a file:

    name        what the layout is called
    bank        short name of the bank; it names accounts that have no number
    institution the bank's name
    kind        "giro" unless said otherwise, "card" for credit cards
    marks       patterns, each of which some line has; the first is the bank, and found on the first two pages
    [account]   iban, number, opening, closing, opening_day, closing_day, sequence: patterns, searched in all lines;
                group 1 is the value. `debit` is the word behind a balance that is negative (group 2)
    [table]     header      pattern of the line above the bookings; it is on every page that has bookings
                end         patterns of lines below them
                skipped     patterns of lines between them that are part of no booking
                first       pattern of the first line of a booking, with groups that are named after fields
                further     patterns of its other lines: the first that fits is taken, once; what none fits is purpose
                amounts_above  true where amounts stand a little higher than the rest of their line
                debit       words of the header above the amounts that go out, where amounts have no sign

    [columns]   instead of `first` and `further`, where the cells of a row are centred and its last line is not its
                lowest: the headings above day, booking text and purpose. `amounts` is the pattern of an amount and
                the balance after it; the sign follows from the balances
    [extract]   our field = pattern, searched in the purpose; group 1 is the value

Fields: booked, value, amount, booking_text, counterparty_name, counterparty_iban, purpose, end_to_end, mandate,
creditor_id. In patterns DAY stands for a day, SHORT for a day whose year has two digits, AMOUNT for a German
amount.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

AMOUNT = r"[+-]?[0-9]{1,3}(?:\.?[0-9]{3})*,[0-9]{2}"
_SHORTHANDS = {"DAY": r"[0-9]{2}\.[0-9]{2}\.[0-9]{4}", "SHORT": r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}", "AMOUNT": AMOUNT}


@dataclass(frozen=True, slots=True)
class Columns:
    """Headings of the columns of a table whose cells are centred."""

    day: str
    booking_text: str
    purpose: str
    amounts: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Table:
    header: re.Pattern[str]
    ends: tuple[re.Pattern[str], ...]
    skipped: tuple[re.Pattern[str], ...] = ()
    first: re.Pattern[str] | None = None
    further: tuple[re.Pattern[str], ...] = ()
    debit: str | None = None
    has_amounts_above: bool = False


@dataclass(frozen=True, slots=True)
class PdfProfile:
    key: str
    name: str
    bank: str
    institution: str
    kind: str
    marks: tuple[re.Pattern[str], ...]
    account: dict[str, re.Pattern[str]]
    debit_word: str | None
    table: Table
    columns: Columns | None
    extract: dict[str, re.Pattern[str]]


@cache
def load_pdf_profiles() -> tuple[PdfProfile, ...]:
    folder = files("kontor.connectors.statements") / "data" / "pdf"
    profile_files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    return tuple(
        _make_profile(file.name.removesuffix(".toml"), tomllib.loads(file.read_text(encoding="utf-8")))
        for file in sorted(profile_files, key=lambda file: file.name)
    )


def _make_profile(key: str, raw: dict[str, Any]) -> PdfProfile:
    account = dict(raw["account"])
    debit_word = account.pop("debit", None)
    table, columns = raw["table"], raw.get("columns")
    return PdfProfile(
        key,
        raw["name"],
        raw["bank"],
        raw["institution"],
        raw.get("kind", "giro"),
        _compile_all(raw["marks"]),
        {name: _compile(pattern) for name, pattern in account.items()},
        debit_word,
        Table(
            _compile(table["header"]),
            _compile_all(table["end"]),
            _compile_all(table.get("skipped", ())),
            _compile(table["first"]) if "first" in table else None,
            _compile_all(table.get("further", ())),
            table.get("debit"),
            table.get("amounts_above", False),
        ),
        None
        if columns is None
        else Columns(columns["day"], columns["booking_text"], columns["purpose"], _compile(columns["amounts"])),
        {name: _compile(pattern) for name, pattern in raw.get("extract", {}).items()},
    )


def _compile_all(patterns: list[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(_compile(pattern) for pattern in patterns)


def _compile(pattern: str) -> re.Pattern[str]:
    for name, meaning in _SHORTHANDS.items():
        pattern = pattern.replace(name, meaning)
    return re.compile(pattern)
