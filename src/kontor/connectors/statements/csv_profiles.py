"""CSV layouts of banks, as data: `data/csv/*.toml`.

A profile is found by its column names, wherever the header stands. Keys of a file:

    name        what the layout is called
    bank        short name of the bank or group that uses it; with `kind` it names accounts that have no number
    institution the bank's name, where only one bank uses the layout
    kind        "giro" unless said otherwise, "card" for credit cards
    required    columns that must be there, as the bank writes them
    row         instead of `required`, where there is no header: what every line looks like. Columns are numbers then
    delimiter   of lines without a header
    days        how days are written, as "mm/dd/yyyy"; without it, in any way that is clear by itself
    decimal     decimal sign, "," unless said otherwise; a file whose numbers all contradict it is read the other way
    currency    currency where no column names it
    inverted    true where money that was spent has no minus, and money that came in has one
    [columns]   our field = the bank's column, or a list of them that are joined
    [signs]     where the sign stands in a column of its own: column, and the word for a debit
    [pending]   column, or several, and words that mark what is not booked yet
    [skipped]   the same for rows that moved no money: declined, taken back, without effect. "" is an empty cell
    [balances]  words that mark a row as the balance before (opening) or after (closing) the bookings
    [extract]   our field = pattern, searched in the purpose; group 1 is the value. `day` is that of pending rows
    [preamble]  our field = pattern, searched in the lines around the table; group 1 is the value

Fields of `[columns]`: booked, value, amount, debit, credit, currency, purpose, booking_text, gv_code, prima_nota,
counterparty_name, debtor_name, creditor_name, counterparty_iban, counterparty_bic, ultimate_counterparty, end_to_end,
mandate, creditor_id, account, pocket, balance (after the booking), bank_id, added, deducted. `debtor_name` and
`creditor_name` are two columns of which the sign chooses one. `pocket` tells accounts without a number apart, as a
wallet's currencies. Amounts in columns of `added` and `deducted` are part of the booking: fees and taxes that are
listed beside it.

Users describe forms of their own (`domain/import_forms.py`), which become profiles, too.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from kontor.connectors.statements.csv_values import compile_day_format
from kontor.connectors.statements.pdf_profiles import PdfProfile, load_pdf_profiles
from kontor.domain.import_forms import ImportForm

_BLANKS = re.compile(r"\s+")
_FOLDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass(frozen=True, slots=True)
class Marker:
    """Words that mark a row where one of them stands in one of these columns. The empty word marks an empty cell."""

    columns: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    key: str
    name: str
    required: tuple[str, ...]
    columns: dict[str, tuple[str, ...]]
    bank: str
    kind: str = "giro"
    institution: str | None = None
    decimal: str = ","
    currency: str | None = "EUR"
    sign_column: str | None = None
    debit_word: str | None = None
    pending: Marker | None = None
    balance_words: dict[str, str] = field(default_factory=dict)
    extract: dict[str, re.Pattern[str]] = field(default_factory=dict)
    preamble: dict[str, re.Pattern[str]] = field(default_factory=dict)
    is_inverted: bool = False
    skipped: Marker | None = None
    row: re.Pattern[str] | None = None
    delimiter: str = ";"
    days: re.Pattern[str] | None = None


def fold_name(text: str) -> str:
    """A column's name without what banks change from one year to the next: case, blanks, umlauts."""
    text = unicodedata.normalize("NFC", text.replace("\ufeff", "")).lower().translate(_FOLDED)
    return _BLANKS.sub(" ", text).strip()


@cache
def load_profiles() -> tuple[Profile, ...]:
    folder = files("kontor.connectors.statements") / "data" / "csv"
    profile_files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    return tuple(
        _make_profile(file.name.removesuffix(".toml"), tomllib.loads(file.read_text(encoding="utf-8")))
        for file in sorted(profile_files, key=lambda file: file.name)
    )


@dataclass(frozen=True, slots=True)
class BankWithForms:
    """A bank of which files are known. `kinds` of accounts are "giro", "card" and "wallet"."""

    bank: str
    institution: str | None
    kinds: frozenset[str]


@cache
def list_banks_with_forms() -> tuple[BankWithForms, ...]:
    """Of CSV files and of PDF files, by bank."""
    profiles: tuple[Profile | PdfProfile, ...] = (*load_profiles(), *load_pdf_profiles())
    return tuple(
        BankWithForms(
            bank,
            next((profile.institution for profile in profiles if profile.bank == bank and profile.institution), None),
            frozenset(profile.kind for profile in profiles if profile.bank == bank),
        )
        for bank in sorted({profile.bank for profile in profiles})
    )


def make_form_profile(form: ImportForm) -> Profile:
    """A user's own form. A file must have all of its columns: what one of them would say is not left out silently."""
    columns: dict[str, tuple[str, ...]] = {}
    for column in form.columns:
        columns[column.field] = (*columns.get(column.field, ()), fold_name(column.name))
    named = (*form.marks, *(column.name for column in form.columns))
    return Profile(
        form.name,
        form.name,
        tuple(dict.fromkeys(fold_name(name) for name in named)),
        columns,
        f"form {form.name}",
        institution=form.name,
        decimal=form.decimal_sign,
        days=compile_day_format(form.day_format),
    )


def choose_profiles(forms: Sequence[ImportForm], wanted: str | None) -> tuple[Profile, ...]:
    """Ours and the user's, or the one that the user wants; none where there is none of that name."""
    profiles = (*load_profiles(), *(make_form_profile(form) for form in forms))
    if wanted is None:
        return profiles
    return tuple(profile for profile in profiles if profile.key == wanted)[-1:]


def _make_profile(key: str, raw: dict[str, Any]) -> Profile:
    columns = {name: _fold_names(value) for name, value in raw["columns"].items()}
    signs = raw.get("signs", {})
    return Profile(
        key,
        raw["name"],
        tuple(fold_name(column) for column in raw.get("required", ())),
        columns,
        raw["bank"],
        raw.get("kind", "giro"),
        raw.get("institution"),
        raw.get("decimal", ","),
        raw.get("currency", "EUR"),
        fold_name(signs["column"]) if signs else None,
        signs.get("debit"),
        _make_marker(raw.get("pending")),
        raw.get("balances", {}),
        {name: re.compile(pattern) for name, pattern in raw.get("extract", {}).items()},
        {name: re.compile(pattern) for name, pattern in raw.get("preamble", {}).items()},
        raw.get("inverted", False),
        _make_marker(raw.get("skipped")),
        re.compile(raw["row"]) if "row" in raw else None,
        raw.get("delimiter", ";"),
        compile_day_format(raw["days"]) if "days" in raw else None,
    )


def _make_marker(raw: dict[str, Any] | None) -> Marker | None:
    if raw is None:
        return None
    return Marker(_fold_names(raw["column"]), tuple(word.lower() for word in raw["words"]))


def _fold_names(value: str | list[str]) -> tuple[str, ...]:
    return tuple(fold_name(column) for column in ([value] if isinstance(value, str) else value))
