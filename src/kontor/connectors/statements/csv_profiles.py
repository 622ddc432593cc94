"""CSV layouts of banks, as data: `data/csv/*.toml`.

A profile is found by its column names, wherever the header stands. Keys of a file:

    name        what the layout is called
    bank        short name of the bank or group that uses it; with `kind` it names accounts that have no number
    institution the bank's name, where only one bank uses the layout
    kind        "giro" unless said otherwise, "card" for credit cards
    required    columns that must be there, as the bank writes them
    decimal     decimal sign, "," unless said otherwise; a file whose numbers all contradict it is read the other way
    currency    currency where no column names it
    [columns]   our field = the bank's column, or a list of them that are joined
    [signs]     where the sign stands in a column of its own: column, and the word for a debit
    [pending]   column, and words that mark what is not booked yet
    [balances]  words that mark a row as the balance before (opening) or after (closing) the bookings
    [extract]   our field = pattern, searched in the purpose; group 1 is the value. `day` is that of pending rows
    [preamble]  our field = pattern, searched in the lines around the table; group 1 is the value

Fields of `[columns]`: booked, value, amount, debit, credit, currency, purpose, booking_text, counterparty_name,
debtor_name, creditor_name, counterparty_iban, counterparty_bic, ultimate_counterparty, end_to_end, mandate,
creditor_id, account, balance (after the booking), bank_id. `debtor_name` and `creditor_name` are two columns of which
the sign chooses one.
"""

import re
import tomllib
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

_BLANKS = re.compile(r"\s+")
_FOLDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


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
    pending_column: str | None = None
    pending_words: tuple[str, ...] = ()
    balance_words: dict[str, str] = field(default_factory=dict)
    extract: dict[str, re.Pattern[str]] = field(default_factory=dict)
    preamble: dict[str, re.Pattern[str]] = field(default_factory=dict)


def fold_name(text: str) -> str:
    """A column's name without what banks change from one year to the next: case, blanks, umlauts."""
    text = unicodedata.normalize("NFC", text.replace("\ufeff", "")).lower().translate(_FOLDED)
    return _BLANKS.sub(" ", text).strip()


@cache
def load_profiles() -> tuple[Profile, ...]:
    folder = files("kontor.connectors.statements") / "data" / "csv"
    found = [one for one in folder.iterdir() if one.name.endswith(".toml")]
    return tuple(
        _make_profile(one.name.removesuffix(".toml"), tomllib.loads(one.read_text(encoding="utf-8")))
        for one in sorted(found, key=lambda one: one.name)
    )


def _make_profile(key: str, raw: dict[str, Any]) -> Profile:
    columns = {
        name: tuple(fold_name(one) for one in ([value] if isinstance(value, str) else value))
        for name, value in raw["columns"].items()
    }
    signs, pending = raw.get("signs", {}), raw.get("pending", {})
    return Profile(
        key,
        raw["name"],
        tuple(fold_name(one) for one in raw["required"]),
        columns,
        raw["bank"],
        raw.get("kind", "giro"),
        raw.get("institution"),
        raw.get("decimal", ","),
        raw.get("currency", "EUR"),
        fold_name(signs["column"]) if signs else None,
        signs.get("debit"),
        fold_name(pending["column"]) if pending else None,
        tuple(one.lower() for one in pending.get("words", ())),
        raw.get("balances", {}),
        {name: re.compile(pattern) for name, pattern in raw.get("extract", {}).items()},
        {name: re.compile(pattern) for name, pattern in raw.get("preamble", {}).items()},
    )
